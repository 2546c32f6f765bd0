"""Highlighted passages: found again after edits, and marked without any other change of the article."""

import re
from html import unescape

from hypothesis import given
from hypothesis import strategies as st
from lxml import html as lxml_html

from apps.following.algorithms.passages import CONTEXT, Passage, Text
from apps.postings.algorithms.markup import clean

_MARK = re.compile(r'<mark class="highlight" data-highlight="[\d ]+">(.*?)</mark>', re.DOTALL)
WORDS = ["fish", "red fish", "a &amp; b", "x &lt; y", "日本", "e&#769;", "…", " ", "\n"]
texts = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
blocks = st.recursive(
    texts,
    lambda inner: st.builds(
        lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag}>",
        st.sampled_from(["p", "b", "em", "li", "blockquote", "a href='https://a.example/?a=1&amp;b=2'", "h2"]),
        st.lists(inner, max_size=3),
    ).map(lambda html: re.sub(r"</a .*?>", "</a>", html)),
    max_leaves=8,
)
ARTICLES = (
    st.lists(blocks, min_size=1, max_size=5)
    .map("".join)
    .map(lambda html: clean(html, base_url="https://a.example/").html)
)


def text_of(html: str) -> str:
    return "".join(unescape(re.sub(r"<[^<>]*>", "", html)).split())


@st.composite
def articles_with_passages(draw):
    """A sanitized article and some places of its text."""
    html = draw(ARTICLES)
    text = Text(html)
    length = len(text.squeezed)
    starts = draw(st.lists(st.integers(0, max(length - 1, 0)), max_size=3 if length else 0))
    places = [(start, draw(st.integers(start + 1, min(length, start + 30)))) for start in starts]
    return text, places


@given(ARTICLES)
def test_the_text_is_what_is_left_without_tags_and_white_space(html):
    assert Text(html).squeezed == text_of(html)


@given(articles_with_passages())
def test_a_passage_is_found_where_it_was_selected(drawn):
    text, places = drawn
    for start, end in places:
        passage = text.passage((start, end))
        found = text.find(passage)
        assert found is not None
        # Elsewhere only if as much around it agrees.
        assert text.squeezed[slice(*found)] == text.squeezed[start:end] == "".join(passage.quote.split())
        around = [text.squeezed[max(0, at - CONTEXT) : at] for at in (found[0], start)]
        assert around[0] == around[1] or found == (start, end)


@given(articles_with_passages())
def test_marks_change_nothing_but_marks_and_elements_nest_as_before(drawn):
    text, places = drawn
    passages = {number: text.passage(place) for number, place in enumerate(places)}
    marked, found = text.marked(passages)
    assert found == set(passages)
    assert _MARK.sub(r"\1", marked) == text.html
    assert all("<" not in inner for inner in _MARK.findall(marked))
    covered = "".join("".join(unescape(inner).split()) for inner in _MARK.findall(marked))
    union = sorted({at for number in passages for at in range(*text.find(passages[number]))})
    # An entity of several characters is marked as a whole.
    assert len(covered) >= len(union)
    if text.html.strip():
        tree = lxml_html.fragment_fromstring(f"<div>{marked}</div>")
        assert "".join(tree.text_content().split()) == text.squeezed


@given(articles_with_passages(), texts, texts)
def test_a_passage_survives_edits_around_it(drawn, before, behind):
    text, places = drawn
    for place in places:
        passage = text.passage(place)
        edited = Text(f"<p>{before}</p>{text.html}<p>{behind}</p>")
        found = edited.find(passage)
        assert found is not None
        assert edited.squeezed[slice(*found)] == "".join(passage.quote.split())


def test_of_equal_passages_the_one_with_the_same_surroundings_is_found_after_an_edit():
    text = Text("<p>We saw one fish in May.</p><p>We ate one fish in June.</p>")
    passage = text.passage(text.find(Passage("one fish", "We ate", "")))
    edited = Text("<p>New: one fish.</p><p>We saw one fish in May.</p><p>Later we ate one fish in June.</p>")
    start, end = edited.find(passage)
    assert edited.squeezed[start - 3 : end] == "ateonefish"


def test_a_passage_that_was_changed_is_gone_and_the_others_are_marked():
    text = Text("<p>Two fish.</p>")
    assert text.find(Passage("One fish")) is None
    assert text.find(Passage(" \n")) is None
    assert text.marked({1: Passage("One fish"), 2: Passage("fish")})[1] == {2}


def test_overlapping_passages_share_marks_that_name_both():
    marked, _ = Text("<p>one two three</p>").marked({1: Passage("one two"), 2: Passage("two three")}, mark="<mark {}>")
    assert marked == "<p><mark 1>one</mark> <mark 1 2>two</mark> <mark 2>three</mark></p>"


def test_no_mark_is_put_into_a_formula_or_between_blocks():
    html = "<ul> <li>one</li> <li>two</li> </ul><p>x <math><mi>two</mi></math></p>"
    marked, _ = Text(html).marked({1: Passage("one two")}, mark="<mark {}>")
    assert marked == html.replace("one", "<mark 1>one</mark>").replace("two", "<mark 1>two</mark>", 1)
