"""Sources read by paths: values found, messages where nothing is found, and limits of hostile documents."""

import json
import pickle
import re
import time
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.sources import kinds
from apps.sources.formats.feed import NotAFeed, Page
from apps.sources.formats.recipes import Recipe
from apps.sources.formats.trees import read_page_tree
from apps.sources.kinds import kind_of

URL = "https://example.org/news/"
PAGE = b"""<!doctype html><html lang="de-AT"><head><meta charset="utf-8"><title>Das Blatt</title>
<meta name="description" content="Nachrichten"></head><body><nav><a href="/">Home</a></nav>
<div id="list"><img class="logo" src="/logo.png">
<article class="card wide"><h2><a href="/a/1">Br&uuml;cke <b>bleibt</b></a></h2><p>Der <a href="x">Rat</a> hat
entschieden.</p><time datetime="2026-03-01T10:00:00+01:00">heute</time><img src="data:," data-src="/1.jpg">
<span class="by">Ada</span><span class="by">Grace</span></article>
<article class="card"><h2><a href="/a/2">Zweite</a></h2><p class="lead">Mehr.</p><time>2. March 2026</time></article>
<article class="card ad"><p>Anzeige</p></article></div></body></html>"""
CARDS = Recipe(
    channel="//div[@id='list']",
    item=".//article[contains(concat(' ', normalize-space(@class), ' '), ' card ')]",
    title=".//h2",
    description=".//p",
    link=".//h2/a",
    date=".//time",
    image=".//img",
    author=".//span[@class='by']",
)


def read(content: bytes, kind: str, recipe: Recipe, content_type: str = "", url: str = URL):
    return kinds.read(kind, [Page(content, content_type, url)], recipe)


# --- web pages by XPath -----------------------------------------------------------------------------------------------
def test_a_web_page_is_read_by_its_paths():
    feed = read(PAGE, "xpath", CARDS)
    assert (feed.title, feed.description, feed.language, feed.link) == ("Das Blatt", "Nachrichten", "de-AT", URL)
    first, second = feed.entries
    assert (first.title, first.link) == ("Brücke bleibt", "https://example.org/a/1")
    assert first.image_url == "https://example.org/1.jpg"
    assert first.authors == ("Ada", "Grace")
    assert first.published == datetime(2026, 3, 1, 9, tzinfo=UTC)
    assert first.published.utcoffset().total_seconds() == 3600
    assert "Rat</a> hat" in first.summary
    assert 'href="https://example.org/news/x"' in first.summary  # relative to the list, not to the item's own page
    assert second.published == datetime(2026, 3, 2, tzinfo=UTC)
    assert feed.problems == ("1 item: the link path “.//h2/a” found no web address.",)  # of the advertisement


def test_the_first_content_language_of_a_page_is_its_language():
    metas = '<meta name="content-language" content="fr">' + "".join(
        f'<meta http-equiv="Content-Language" content="{code}">' for code in ("de", "en")
    )
    page = f"<html><head>{metas}</head><body><p>Wort</p></body></html>".encode()
    assert read_page_tree(page, content_type="text/html", url=URL).language == "de"


def test_a_recipe_survives_json_and_forgets_what_it_does_not_know():
    assert Recipe.from_json(json.loads(json.dumps(CARDS.to_json()))) == CARDS
    assert Recipe.from_json({"item": "//li", "colour": "red", "title": 7}) == Recipe(item="//li")
    assert Recipe.from_json(None) == Recipe.from_json([1]) == Recipe()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"channel": "//main"}, "The channel path “//main” found nothing in the document."),
        ({"item": "//tr"}, "The item path “//tr” found nothing in the document."),
        ({"title": ".//h9", "description": ""}, "the title path “.//h9” found nothing in any of them."),
        ({"link": ".//h2/@nothing"}, "the link path “.//h2/@nothing” found no web address in any of them."),
        ({"item": "//x:li"}, "The item path “//x:li” cannot be evaluated: Undefined namespace prefix."),
    ],
)
def test_a_path_that_finds_nothing_is_named(change, message):
    with pytest.raises(NotAFeed) as raised:
        read(PAGE, "xpath", Recipe.from_json(CARDS.to_json() | change))
    assert message in str(raised.value)


def test_unreadable_date_is_reported_and_the_item_kept():
    feed = read(
        b"<ul><li><a href=1>A</a><i>gestern</i></ul>", "xpath", Recipe(item="//li", title="a", link="a", date="i")
    )
    assert feed.entries[0].published is None
    assert feed.problems == ("1 item: “gestern” is not a readable date.",)


def test_a_link_may_be_an_attribute_a_text_or_within_what_the_path_finds():
    page = b"<ul><li><h2>T<a href='/1'>x</a></h2><i>https://example.org/2</i></ul>"
    for path, link in ((".//a/@href", "/1"), ("h2", "/1"), ("i", "/2"), ("string(i)", "/2"), (".", "/1")):
        feed = read(page, "xpath", Recipe(item="//li", title="h2", link=path))
        assert feed.entries[0].link == f"https://example.org{link}"


def test_the_base_of_a_page_counts():
    page = b"<base href='https://cdn.example/x/'><p><a href='1'>A</a>"
    assert read(page, "xpath", Recipe(item="//p", title="a", link="a")).entries[0].link == "https://cdn.example/x/1"


def test_a_picture_of_the_channel_is_that_of_all_items():
    recipe = Recipe.from_json(CARDS.to_json() | {"image": "^.//img[@class='logo']"})
    assert {entry.image_url for entry in read(PAGE, "xpath", recipe).entries} == {"https://example.org/logo.png"}


def test_items_with_one_address_are_identified_by_their_words():
    page = b"<ul><li><b>A</b>one<li><b>A</b>two<li><b>C</b></ul>"
    recipe = Recipe(item="//li", title="b", description="text()", link="https://status.example/")
    entries = read(page, "xpath", recipe).entries
    assert len({entry.guid for entry in entries}) == len({entry.link for entry in entries}) == 3
    assert all(entry.link == f"https://status.example/#{entry.guid}" for entry in entries)
    assert read(page, "xpath", recipe).entries == entries  # the same words are the same item


def test_xml_of_any_kind_is_read_with_the_prefixes_it_declares():
    row = b"<row><m:name>A &amp; B</m:name><url>/1</url></row>"
    document = b"<?xml version='1.0'?><list xmlns='urn:x' xmlns:m='urn:m'>%b</list>" % row
    feed = read(document, "xpath", Recipe(item="//row", title="m:name", link="url"), content_type="text/xml")
    assert [(entry.title, entry.link) for entry in feed.entries] == [("A & B", "https://example.org/1")]


def test_a_charset_is_found_in_the_page():
    page = '<meta charset="koi8-r"><p><a href=1>Мост</a>'.encode("koi8-r")
    assert read(page, "xpath", Recipe(item="//p", title="a", link="a")).entries[0].title == "Мост"


def test_items_beyond_500_are_skipped_and_reported():
    page = b"<ul>" + b"".join(b"<li><a href=%d>Item %d</a>" % (number, number) for number in range(600))
    feed = read(page, "xpath", Recipe(item="//li", title="a", link="a"))
    assert len(feed.entries) == 500
    assert feed.problems == ("600 items: the first 500 were read.",)


def test_readings_travel_between_processes():
    feed = read(PAGE, "xpath", CARDS)
    assert pickle.loads(pickle.dumps(feed)) == feed


# --- texts by regular expressions -------------------------------------------------------------------------------------
TEXT = b"""head <a href="/x">not this</a>
== BEGIN
* 2026-03-01 [Tea](/1) green
  and black
* 2026-03-02 [Cake](/2) none
== END * [later](/3)"""
LINES = Recipe(
    channel="== BEGIN(.*)== END",
    item="\n\\* ",
    title=r"\[(.*?)\]",
    link=r"\]\((.*?)\)",
    description=r"\) (.*)",
    date=r"\d{4}-\d\d-\d\d",
)


def test_a_text_is_read_by_regular_expressions():
    first, second = read(TEXT, "regex", LINES).entries
    assert (first.title, first.link, first.published) == (
        "Tea",
        "https://example.org/1",
        datetime(2026, 3, 1, tzinfo=UTC),
    )
    assert first.summary == "<p>green<br>  and black</p>"  # a dot stands for line breaks too
    assert second.title == "Cake"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"channel": "NEVER(.*)"}, "The channel expression “NEVER(.*)” found nothing"),
        ({"item": "@@"}, "The item separator “@@” found nothing"),
        ({"item": "x*"}, "The item separator “x*” found nothing"),
        ({"title": "@(@)", "link": "@"}, "The title expression “@(@)” found nothing"),
    ],
)
def test_an_expression_that_finds_nothing_is_named(change, message):
    with pytest.raises(NotAFeed, match=re.escape(message)):
        read(TEXT, "regex", Recipe.from_json(LINES.to_json() | change))


def test_expressions_take_time_in_line_with_the_text():
    recipe = Recipe(item="\n", title="(a+)+$", link="https://example.org/")
    began = time.perf_counter()
    with pytest.raises(NotAFeed):
        read(b"\n" + b"a" * 100_000 + b"b", "regex", recipe)
    assert time.perf_counter() - began < 1.0


# --- what people write wrongly ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("kind", "recipe", "field", "message"),
    [
        ("xpath", {"item": "//li[", "title": ".", "link": "."}, "item", "at character 5, after “//li[”"),
        ("xpath", {"item": "//li", "title": "first()", "link": "."}, "title", "function that XPath 1.0 does not have"),
        ("xpath", {"item": "//li", "title": ".", "link": "http://["}, "link", "not a web address"),
        ("xpath", {"item": "//li", "title": "."}, "link", "required"),
        ("xpath", {"item": "x" * 2_001, "title": ".", "link": "."}, "item", "2,001 characters"),
        ("xpath", {"item": "//ü[", "title": ".", "link": "."}, "item", "at character 4, after “//ü[”"),
        ("xpath", {"item": "//li", "title": ".", "link": ".", "image": "^//["}, "image", "not an XPath"),
        ("json", {"item": "a[", "title": ".", "link": "."}, "item", "“[” at character 2 is not understood"),
        ("json", {"item": "a..", "title": ".", "link": "."}, "item", "not understood"),
        ("json", {"item": "//a[", "title": ".", "link": "."}, "item", "not an XPath"),
        ("regex", {"item": "a**", "title": ".", "link": "."}, "item", "bad repetition operator: ** (at character 2)"),
        ("regex", {"item": "(?=a)", "title": ".", "link": "."}, "item", "invalid perl operator: (?= (at character 1)"),
        ("regex", {"item": "(a{1000}){1000}", "title": ".", "link": "."}, "item", "repetition size"),
        ("scrape", {"more": "//audio\n(?=x"}, "more", "Line 2"),
        ("scrape", {"more": "//a\n" * 7}, "more", "7 lines"),
    ],
)
def test_a_field_that_cannot_be_used_is_named_with_the_place(kind, recipe, field, message):
    problems = kind_of(kind).problems(Recipe.from_json(recipe))
    assert message in problems[field]
    assert len(problems) == 1


def test_a_recipe_that_cannot_be_used_is_no_feed():
    with pytest.raises(NotAFeed, match=r"The recipe of the source cannot be used\. Item: It is not an XPath"):
        read(PAGE, "xpath", Recipe(item="//[", title=".", link="."))


@given(st.sampled_from(["xpath", "json", "regex", "scrape", "feed", "podcast"]), st.text(max_size=30))
def test_any_path_is_accepted_or_reported(kind, text):
    recipe = Recipe(**dict.fromkeys(kind_of(kind).fields, text))
    problems = kind_of(kind).problems(recipe)
    assert all(message.endswith(".") for message in problems.values())
    with suppress(NotAFeed) if not problems else pytest.raises(NotAFeed):
        read(PAGE, kind, recipe)


@given(st.sampled_from(["xpath", "json", "regex", "scrape", "feed"]), st.binary(max_size=200))
def test_any_document_is_read_or_reported(kind, content):
    recipe = (
        CARDS if kind == "xpath" else LINES if kind == "regex" else Recipe(item="a", title="b", link="c", more="//a")
    )
    with suppress(NotAFeed):
        assert read(content, kind, recipe).entries is not None


HOSTILE = [
    b"<div>" * 100_000,
    b"<a " + b"x=1 " * 20_000 + b">",
    b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "cccccccccc"><!ENTITY d "&b;&b;&b;&b;">]><a>&d;</a>',
    b"<?xml version='1.0'?>" + b"<a>" * 10_000,
    b"\xff\xfe<\x00a\x00",
    b"",
]


@pytest.mark.parametrize("content", HOSTILE, ids=lambda content: content[:12])
def test_hostile_documents_end_soon(content):
    began = time.perf_counter()
    with pytest.raises(NotAFeed):
        read(content, "xpath", CARDS)
    assert time.perf_counter() - began < 5.0


def test_documents_above_10_mb_are_refused():
    with pytest.raises(NotAFeed, match="larger than 10 MB"):
        read(b" " * (10 * 2**20 + 1), "regex", LINES)


def test_xpath_knows_no_extensions():
    for expression in ("re:test(., 'a')", "document('file:///etc/passwd')", "str:tokenize('a')"):
        with pytest.raises(NotAFeed):
            read(PAGE, "xpath", Recipe(item=f"//h2[{expression}]", title=".", link=".//a"))
