"""Algorithm II of the thesis by hand: parts between non-keen tags, the longest wins, evaluate() = fin * tin."""

from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.postings.algorithms.extraction import literal
from apps.postings.algorithms.extraction.articles import extract_article
from apps.postings.algorithms.extraction.literal import UNIVERSAL, Tag, Winner, evaluate, keen_tags, tokens
from apps.postings.algorithms.extraction.site_tags import SITE_GAIN, KnownPage, learn_site_tags
from tests.algorithms import extraction_pages, extraction_prose

BREAKING = {"p", "br", "div", "center"}
NOT_UNIVERSAL = ("td", "table", "form", "h1", "li", "ul", "hr", "section", "article", "blockquote", "news:body", "x-y")

# A page of its time. Its parts, as its non-keen tags cut it: "Valley News" (11 characters), "Home Sport" (10), the
# story (86 = 11 + 1 + 44 + 1 + 29), "One", "Two" and "Three" on a line each (13, two line breaks among them), and
# "Valley News 2007" (16).
PAGE_OF_2007 = """<html><head><title>Valley News</title></head>
<body><table><tr><td><a href=/>Home</a> <a href=/s>Sport</a>
<td><font size=5>Ferry freed</font><p>Nobody was <b>hurt</b> when it
   ran onto a <i>sandbank</i>.<br>The tide &amp; two tugs freed it.
<td><a href=/1>One</a><br><a href=/2>Two</a><br><a href=/3>Three</a>
</table>Valley News 2007</body></html>"""
STORY_OF_2007 = "Ferry freed\nNobody was hurt when it ran onto a sandbank.\nThe tide & two tugs freed it."


def test_longest_part_wins():
    assert keen_tags(PAGE_OF_2007) == Winner(STORY_OF_2007, 86, 0, is_news=False)
    assert keen_tags(PAGE_OF_2007, min_score=85) == Winner(STORY_OF_2007, 86, 0, is_news=True)


def test_without_the_story_the_longest_of_the_other_parts_wins():
    first, rest = PAGE_OF_2007.split("<td><font size=5>")
    links = rest.partition("<td>")[2]
    assert keen_tags(f"{first}<td>{links}") == Winner("Valley News 2007", 16, 0, is_news=False)
    assert keen_tags(f"{first}<td>{links.partition('</table>')[0]}") == Winner("One\nTwo\nThree", 13, 3, is_news=False)
    assert keen_tags(first) == Winner("Valley News", 11, 0, is_news=False)
    assert keen_tags(first.partition("<body>")[2]) == Winner("Home Sport", 10, 2, is_news=False)


def test_the_figure_of_the_thesis_has_three_parts():
    # tag1-tag1-tag3-tag3-tag3-tag1  tag2  tag3-tag3-tag1  tag2  tag3-tag1
    first, second, third = "<p><b>one</b> two<i> three</i></p>", "four<b> five</b>", "six</p>"
    assert keen_tags(f"{first}<form>{second}<form>{third}") == Winner("one two three", 13, 0, is_news=False)
    assert keen_tags(f"{first[:12]}<form>{second}<form>{third}").text == "four five"
    assert keen_tags(f"{first[:12]}<form>{second[:4]}<form>{third}six").text == "six\nsix"


@pytest.mark.parametrize("name", sorted(UNIVERSAL))
@pytest.mark.parametrize("form", ["<{}>", "</{}>", "<{} class='a b'>", "<{}/>", "</{} >", "<{}\n id=x>"])
def test_a_universal_keen_tag_does_not_split(name, form):
    for written in (name, name.upper()):
        line = "\n" if name in BREAKING else ""
        assert keen_tags(f"one{form.format(written)}two").text == f"one{line}two"


@pytest.mark.parametrize("name", NOT_UNIVERSAL)
@pytest.mark.parametrize("form", ["<{}>", "</{}>", "<{} class='a b'>", "<{}/>"])
def test_any_other_tag_splits_unless_it_is_a_keen_tag_of_the_site(name, form):
    source = f"one{form.format(name)}three{form.format(name.upper())}two"
    assert keen_tags(source).text == "three"
    assert keen_tags(source, keen=UNIVERSAL | {name}).text == "onethreetwo"


@pytest.mark.parametrize("token", ["<!-- x -->", "<!-- > -->", "<!doctype html>", "<?php x ?>",
    "<script>var x = '<p>a long string';</script>", "<style>p { color: red }</style >",
    "<noscript><p>Please enable it</noscript>"])  # fmt: skip
def test_comments_and_code_split_as_printed_or_are_left_out(token):
    assert keen_tags(f"one{token}three").text == "three"
    assert keen_tags(f"one{token}three", comments_split=False).text == "onethree"


@pytest.mark.parametrize("start", ["<!-- ", "<script>", "<style type=x>", "<p title='"])
def test_unclosed_element_swallows_the_rest(start):
    assert keen_tags(f"one{start}and so on to the end of the page").text == "one"


@pytest.mark.parametrize("source", ["5 < 6 and 7 > 6", "a <- b", "x <3 y", "1<2"])
def test_a_sign_that_begins_no_tag_is_text(source):
    assert keen_tags(source).text == source


def test_of_equal_parts_the_first_wins():
    assert keen_tags("abc<hr>xyz<hr>klm").text == "abc"


def test_strings_are_measured_decoded_and_collapsed():
    assert keen_tags("  fish\n\n &amp;\t &#99;hips  <hr>fish and chip").score == len("fish and chip")
    assert keen_tags("<p> \n <br>&nbsp;<p>") == Winner("", 0, 0, is_news=False)


@pytest.mark.parametrize(("characters", "is_news"), [(99, False), (100, False), (101, True)])
def test_n_is_the_longest_text_that_is_no_news(characters, is_news):
    assert keen_tags("x" * characters).is_news is is_news
    assert keen_tags("x" * characters, min_score=characters - 1).is_news
    assert not keen_tags("x" * characters, min_score=characters).is_news


@pytest.mark.parametrize(("links", "is_news"), [(0, True), (4, True), (5, False), (6, False)])
def test_t_is_the_fewest_links_that_no_news_has(links, is_news):
    source = "x" * 200 + "<a href=/>y</a>" * links
    assert keen_tags(source) == Winner("x" * 200 + "y" * links, 200 + links, links, is_news)
    assert keen_tags(source, max_links=links + 1).is_news
    assert not keen_tags(source, max_links=links).is_news


@pytest.mark.parametrize(
    ("tag", "hrefs"),
    [
        ("<a href=/x>", 1), ("<A\nHREF = '/x'>", 1), ("<a class=b href>", 0), ("<a name=x>", 0), ("</a href=/x>", 0),
        ("<a data-href=/x>", 0), ("<a title=x href=''>", 1), ("<area href=/x>", 0), ("<b href=/x>", 0),
    ],
)  # fmt: skip
def test_only_links_with_an_address_count(tag, hrefs):
    assert keen_tags(f"one{tag}two", keen=UNIVERSAL | {"area"}).hrefs == hrefs


def test_links_outside_of_the_winner_do_not_count():
    menu = "<a href=/>x</a>" * 30
    assert keen_tags(f"{menu}<hr>{'y' * 101}<a href=/>z</a><hr>{menu}").hrefs == 1


@given(score=st.integers(0, 300), hrefs=st.integers(0, 12), least=st.integers(0, 300), most=st.integers(0, 12))
def test_evaluate_is_the_product_of_both(score, hrefs, least, most):
    assert (evaluate(score, hrefs, min_score=least, max_links=most) == 1) == (score > least and hrefs < most)


def test_no_more_of_the_source_is_read_than_promised(monkeypatch):
    monkeypatch.setattr(literal, "MAX_SOURCE_LENGTH", 10)
    assert keen_tags("0123456789abc").text == "0123456789"
    monkeypatch.setattr(literal, "MAX_TOKENS", 3)
    assert keen_tags("a<b>c<b>d").text == "ac"


TEXTS = st.text(st.sampled_from("ab é北<>\n"), min_size=1, max_size=12)
NAMES = st.sampled_from(["p", "br", "b", "a", "div", "td", "hr", "form", "script2"])
TAGS = st.builds(
    lambda name, link, end: (name, link and name == "a" and not end, end), NAMES, st.booleans(), st.booleans()
)
SILENT = st.sampled_from(["<!-- <p> -->", "<script>if (a<b) c()</script>", "<!doctype html>"])
KEEN = st.frozensets(st.sampled_from(["p", "br", "b", "a", "div", "td", "hr"]))


def written(piece):
    """A piece of a page as its source: a text is escaped, a tag is a tuple, anything else is written as it is."""
    if isinstance(piece, tuple):
        name, is_link, is_end = piece
        return f"<{'/' * is_end}{name}{' href=/' * is_link}>"
    return escape(piece) if not piece.startswith("<!") and not piece.startswith("<script>") else piece


def slow(pieces, keen, comments_split):
    """The winner by the book: all parts are written down, then compared."""
    parts = [("", 0)]
    for piece in pieces:
        text, hrefs = parts[-1]
        if isinstance(piece, tuple):
            name, is_link, _ = piece
            if name not in keen:
                parts.append(("", 0))
            else:
                parts[-1] = (text + ("\n" if name in BREAKING else ""), hrefs + is_link)
        elif piece.startswith(("<!", "<script>")):
            if comments_split:
                parts.append(("", 0))
        else:
            parts[-1] = (text + piece.replace("\n", " "), hrefs)
    measured = [
        ("\n".join(" ".join(line.split()) for line in text.split("\n") if line.strip()), hrefs) for text, hrefs in parts
    ]
    text, hrefs = max(measured, key=lambda part: len(part[0]))
    return (text, hrefs) if text else ("", 0)


@given(pieces=st.lists(TEXTS | TAGS | SILENT, max_size=25), keen=KEEN, comments_split=st.booleans())
def test_the_winner_is_that_of_the_book(pieces, keen, comments_split):
    found = keen_tags("".join(map(written, pieces)), keen=keen, comments_split=comments_split)
    assert (found.text, found.hrefs) == slow(pieces, keen, comments_split)
    assert found.score == len(found.text)


@given(pieces=st.lists(TEXTS | TAGS, max_size=25), keen=KEEN, more=KEEN)
def test_more_keen_tags_never_make_the_winner_shorter(pieces, keen, more):
    source = "".join(map(written, pieces))
    assert keen_tags(source, keen=keen | more).score >= keen_tags(source, keen=keen).score


@given(st.text(st.sampled_from("<>/!-?abp sript&;#x='\"\n\0\ud800"), max_size=60))
def test_any_source_is_tokenized_completely(source):
    found = keen_tags(source)
    assert found.is_news == (found.score > 100 and found.hrefs < 5)
    assert found.score == len(found.text) <= len(source)
    strings = [token for token in tokens(source) if isinstance(token, str)]
    assert sum(map(len, strings)) <= len(source)
    assert all(token.name == token.name.lower() for token in tokens(source) if isinstance(token, Tag))


def test_an_article_can_be_taken_with_the_keen_tags_of_its_site():
    rows = "".join(f"<tr><td>{each}" for each in extraction_prose.MUSEUM)
    source = f"<title>Maps</title><table>{rows}</table><form>Search</form>".encode()
    alone = extract_article(source, content_type="", url="https://example.org/1", site_tags=UNIVERSAL)
    known = extract_article(source, content_type="", url="https://example.org/1", site_tags=UNIVERSAL | {"tr", "td"})
    assert alone.text == max(extraction_prose.MUSEUM, key=len)
    assert known.text == "".join(extraction_prose.MUSEUM)
    assert (known.extractor, known.confidence, known.title) == ("keen_tags", 1.0, "Maps")


def test_the_keen_tags_of_a_site_are_learned_from_its_pages():
    stories = (extraction_prose.BRIDGE, extraction_prose.FERRY, extraction_prose.CHOIR)
    pages = [
        KnownPage(
            f"<table>{extraction_pages.MENU}</table><dl>{''.join(f'<dt>{each}' for each in story)}", " ".join(story)
        )
        for story in stories
    ]
    learned = learn_site_tags(pages, start=UNIVERSAL)
    assert learned == UNIVERSAL | {"dt"}
    assert learn_site_tags([], start=UNIVERSAL) == UNIVERSAL
    assert SITE_GAIN > 0


def test_a_tag_that_joins_the_article_with_its_surroundings_is_unlearned():
    stories = (extraction_prose.BRIDGE, extraction_prose.FERRY, extraction_prose.CHOIR)
    menu = " ".join(extraction_pages.LINES)
    pages = [
        KnownPage(f"{menu}<td>{''.join(f'<p>{each}' for each in story)}<td>{menu}", " ".join(story))
        for story in stories
    ]
    assert learn_site_tags(pages, start=UNIVERSAL | {"td"}) == UNIVERSAL
