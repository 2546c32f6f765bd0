"""Whatever a page is made of, its extraction ends in time with an article or a plain sentence, and is bounded."""

from collections.abc import Callable
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.postings.algorithms.extraction import blocks as cutting
from apps.postings.algorithms.extraction.articles import MAX_HTML, MAX_TEXT_LENGTH, Article, extract_article
from apps.postings.algorithms.extraction.documents import MAX_PAGE_BYTES, read_page
from apps.postings.algorithms.extraction.literal import UNIVERSAL
from apps.postings.algorithms.extraction.metadata import MAX_AUTHORS, MAX_TITLE_LENGTH
from apps.sources.formats.text import without_controls
from tests.algorithms import extraction_prose
from tests.trials import quick_every

LIMIT = 5.0  # seconds of processor time; none takes two of them on a slow core
MAX_DEPTH = 256
PROSE = "".join(f"<p>{each}</p>" for each in extraction_prose.BRIDGE).encode()
NUMBERED = b" ".join(b"word%d" % number for number in range(100_000))
STORY = extraction_prose.BRIDGE[0]
JSON = b'<script type="application/ld+json">'


LARGE: dict[str, Callable[[], bytes]] = {
    "ten megabytes": lambda: PROSE + NUMBERED * 13,
    "ten megabytes of paragraphs": lambda: PROSE * 8_000,
    "a hundred thousand elements inside each other": lambda: PROSE + b"<div>" * 100_000 + PROSE,
    "a hundred thousand links inside each other": lambda: PROSE + b"<a href=/x>x" * 100_000,
    "sixty thousand links": lambda: PROSE + b"<a href='/never'>A link to somewhere that is not there</a>" * 60_000,
    "sixty thousand listed links": lambda: PROSE + b"<ul>" + b"<li><a href=/n>Somewhere that is not there</a>" * 60_000,
    "a class attribute of three megabytes": lambda: b"<div class='" + b"article-body " * 230_000 + b"'>" + PROSE,
    "an attribute that is never closed": lambda: PROSE + b"<div class='" + b"article-body " * 230_000,
    "a style of three megabytes": lambda: b"<div style='" + b"display : " * 290_000 + b"'>" + PROSE,
    "a hundred thousand attributes": lambda: PROSE + b"<p " + NUMBERED.replace(b" ", b"=1 ") + b">x",
    "a megabyte of less-than signs": lambda: PROSE + b"<" * 2**20,
    "half a megabyte of <a": lambda: PROSE + b"<a" * 2**19,
    "half a megabyte of </": lambda: PROSE + b"</" * 2**19,
    "a comment that is never closed": lambda: PROSE + b"<!--" + b"-" * 2 * 2**20,
    "many comments that are never closed": lambda: PROSE + b"<!-- a " * 300_000,
    "a declaration that is never closed": lambda: PROSE + b"<!doctype " * 200_000,
    "a script that is never closed": lambda: PROSE + b"<script>" * 250_000,
    "json of three megabytes": lambda: JSON + b"[" + b'{"@type":"x"},' * 214_000 + b"1]</script>" + PROSE,
    "two megabytes of json": lambda: JSON + b"," * 1_900_000 + b"</script>" + PROSE,
    "json of a hundred thousand levels": lambda: JSON + b'[{"a":' * 100_000 + b"</script>" + PROSE,
    "many pieces of json": lambda: (JSON + b'{"@type":"Article"}</script>') * 40_000 + PROSE,
    "bodies inside each other": lambda: b"<div itemprop=articleBody>" * 240 + PROSE + b"<aside>" * 10_000 + PROSE * 500,
    "three thousand bodies in json": lambda: (JSON + b'{"articleBody":"%b"}</script>' % (b"a b " * 70)) * 3_000 + PROSE,
    "a script of quotation marks": lambda: b"<p>%b<script>" % STORY.encode() + b'"' + b'\\"' * 700_000 + b"</script>",
    "four thousand headlines": lambda: PROSE + b"<h1>One of many headlines of the first order</h1><p>x" * 4_000,
    "unclosed bold paragraphs": lambda: PROSE + b"<b><p>x" * 20_000,
    "unclosed markup of all kinds": lambda: PROSE + b"<b><i><u><font color=red><p>x" * 5_000,
    "five thousand tables inside each other": lambda: PROSE + b"<table><tr><td>x" * 5_000,
    "a table of a hundred thousand cells": lambda: PROSE + b"<table>" + b"<tr><td>1<td>2<td>3" * 33_000,
    "a megabyte of entities": lambda: PROSE + b"<p>" + b"&amp;&#x41;&notanentity;" * 45_000,
    "a megabyte of breaks": lambda: PROSE + b"x<br>" * 200_000,
    "a hundred thousand pictures": lambda: PROSE + b"<img src=/a.jpg><p>x" * 50_000 + PROSE,
    "a long title": lambda: b"<title>" + b"x - " * 500_000 + b"</title><h1>" + b"y " * 9**5 + b"</h1>" + PROSE,
    "a hundred thousand meta elements": lambda: b"<meta name=author content='Ann Lee'>" * 80_000 + PROSE,
    "a megabyte of one letter": lambda: PROSE + b"x" * 2**20,
    "a megabyte of quotation marks": lambda: PROSE + b"<p title=" + b"\"'" * 2**19,
}  # fmt: skip


def check_bounds(article: Article) -> None:
    assert len(article.text) <= MAX_TEXT_LENGTH
    assert len(article.html) <= MAX_HTML
    assert len(article.title) <= MAX_TITLE_LENGTH
    assert len(article.authors) <= MAX_AUTHORS
    assert 0 <= article.confidence <= 1
    for text in (article.text, article.html, article.title, article.description, article.image_url, *article.authors):
        assert without_controls(text) == text  # or it could not be stored


@pytest.mark.parametrize("name", quick_every(3, LARGE))
def test_a_page_that_is_too_much_of_something_ends_in_time_and_its_story_is_found(name):
    body = LARGE[name]()
    began = process_time()
    article = extract_article(body, content_type="text/html", url="https://example.org/1")
    assert process_time() - began < LIMIT
    check_bounds(article)
    assert STORY in article.text


# Algorithm II is slowest where a regular expression might backtrack.
@pytest.mark.parametrize(
    "name",
    quick_every(3, [
        "a hundred thousand elements inside each other", "an attribute that is never closed", "half a megabyte of </",
        "a megabyte of less-than signs", "half a megabyte of <a", "many comments that are never closed",
        "a declaration that is never closed", "a script that is never closed", "a megabyte of entities",
        "a megabyte of quotation marks", "a megabyte of one letter",
    ]),
)  # fmt: skip
def test_algorithm_ii_ends_in_time_as_well(name):
    body = LARGE[name]()
    began = process_time()
    check_bounds(extract_article(body, content_type="", url="https://example.org/1", site_tags=UNIVERSAL))
    assert process_time() - began < LIMIT


@pytest.mark.parametrize("site_tags", [None, UNIVERSAL])
@pytest.mark.parametrize("body", [b"\0" * 2**20, b" \n\t" * 2**20, b"", b"\xff\xfe", b"<"])
def test_empty_page_has_no_text(body, site_tags):
    article = extract_article(body, content_type="", url="https://example.org/1", site_tags=site_tags)
    check_bounds(article)
    assert article.text in ("", "<")


def test_no_more_of_a_page_is_read_than_promised():
    page = b"<p>" + b"a " * (MAX_PAGE_BYTES // 2 - 2) + b"<p>beyond the end"
    assert "beyond" not in extract_article(page, content_type="", url="https://example.org/1").text
    assert len(cutting.cut(read_page(b"<p>x" * 20_000).root)) == cutting.MAX_BLOCKS
    deep = read_page(b"<div>" * 5_000 + b"x").root
    assert max(sum(1 for _ in element.iterancestors()) for element in deep.iter()) <= MAX_DEPTH


GREETING = "Größe, 北京 and Привет: the council voted to keep the old bridge open to walkers until spring. " * 4


@pytest.mark.parametrize(
    ("body", "content_type", "charset"),
    [
        # a header that lies, a <meta> that lies, and both
        (GREETING.encode(), "text/html; charset=iso-8859-1", "utf-8"),
        (b"<meta charset=shift_jis>" + GREETING.encode(), "", "utf-8"),
        (b"<meta charset=big5>" + GREETING.encode(), "text/html; charset=windows-1251", "utf-8"),
        (GREETING.encode(), "text/html; charset=klingon", "utf-8"),
        (GREETING.encode("utf-8-sig"), "text/html; charset=utf-16", "utf-8"),
        (GREETING.encode("utf-16"), "text/html; charset=utf-8", "utf-16le"),
        ("\ufeff".encode("utf-16-be") + GREETING.encode("utf-16-be"), "", "utf-16be"),
        (GREETING.encode("utf-16-le"), "text/html; charset=utf-16", "utf-16le"),
        (GREETING.encode("utf-16-be"), "text/html; charset=utf-16be", "utf-16be"),
    ],
)
def test_a_charset_that_lies_is_found_out(body, content_type, charset):
    page = read_page(body, content_type=content_type)
    assert page.charset == charset
    assert " ".join("".join(page.root.itertext()).split()).startswith("Größe, 北京")


BROKEN = {
    "UTF-16 without a mark": GREETING.encode("utf-16-le"),
    "UTF-16 cut inside a character": GREETING.encode("utf-16")[:-1],
    "half a surrogate pair": b"\xff\xfe" + b"\x3d\xd8" * 500 + "x".encode("utf-16-le"),
    "surrogates in UTF-8": PROSE + b"\xed\xa0\xbd\xed\xb0\x80" * 500,
    "surrogates as entities": PROSE + b"&#xd83d;&#xdc00;&#55357;" * 500,
    "NULs between all letters": b"\0".join(PROSE[place : place + 1] for place in range(len(PROSE))),
    "control characters": bytes(range(32)) * 100 + PROSE,
    "control characters as entities": b"&#0;&#1;&#8;&#xb;&#xfffe;&#xffff;&#x110000;&#99999999999;" * 50 + PROSE,
    "every byte": bytes(range(256)) * 200,
    "every byte, said to be UTF-8": b"<meta charset=utf-8>" + bytes(range(256)) * 200,
    "escapes of ISO 2022": b"<meta charset=iso-2022-jp>" + b"\x1b$B\x1b(B\x1b$B$" * 2_000,
    "overlong UTF-8": b"\xc0\xbcscript\xc0\xbe" * 2_000 + PROSE,
    "UTF-7": b"<meta charset=utf-7>+ADw-script+AD4-" * 100 + PROSE,
}


@pytest.mark.parametrize("site_tags", [None, UNIVERSAL])
@pytest.mark.parametrize("body", BROKEN.values(), ids=BROKEN)
def test_broken_characters_can_be_stored(body, site_tags):
    for content_type in ("", "text/html; charset=utf-8", "text/html; charset=utf-16", "charset=\0\xff"):
        check_bounds(extract_article(body, content_type=content_type, url="https://example.org/1", site_tags=site_tags))


RUBBLE = [
    b"<p>", b"<a href=//[>", b"</", b"<!--", b"-->", b"<base href='http://['>", b"<h1>", b"<svg>", b"<table>",
    b"<title>", b"<script type=application/ld+json>{", b"</script>", b"<br><br>",
    b"<figure><img src='http://['>", b"<plaintext>", b"<meta property=og:image content=http://[>",
    b"<link rel=canonical href=http://[>", b"&#xd800;", b"<frameset>", b"<html><body>", STORY.encode(),
]  # fmt: skip


@given(st.lists(st.binary(max_size=8) | st.sampled_from(RUBBLE), max_size=30))
def test_rubble_stays_within_bounds(pieces):
    body = b"".join(pieces)
    for site_tags in (None, UNIVERSAL):
        check_bounds(extract_article(body, content_type="text/html", url="https://example.org/1", site_tags=site_tags))


@pytest.mark.parametrize("body", [b"", b"<html><body><script>x()</script></body></html>"])
def test_page_without_text_is_an_empty_article(body):
    assert extract_article(body, content_type="", url="https://example.org/1").text == ""
