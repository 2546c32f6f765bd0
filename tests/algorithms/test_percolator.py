"""Where queries are anchored, and what holds for a posting that was read once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.alerts.algorithms.percolator.documents import DocumentView, is_personal
from apps.alerts.algorithms.percolator.documents import matches as holds
from apps.alerts.algorithms.percolator.index_terms import NoIndexTerm, Plan, Rarity
from apps.alerts.algorithms.percolator.languages import group_of
from apps.postings.algorithms.words import analyse
from apps.postings.algorithms.words.languages import read_alike
from apps.search.algorithms.language import parse
from lab.benchmarks.alerts.matching import matches
from tests.percolation import NOW, POSTINGS, QUERIES, a_reading, has_required_words, values_of

DOCUMENTS = Rarity({"elect": 900, "pari": 300, "berlin": 200, "oslo": 10, "climat": 500, "category:world": 400})


def anchors(query):
    return Plan(parse(query)).index_terms(DOCUMENTS.documents)


def in_english(query):
    bit = 1 << group_of("en")
    return sorted((row.term, row.beside, row.exact) for row in anchors(query) if row.languages & bit)


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("elections", [("elect", (), True)]),
        ("elections paris", [("pari", ("elect",), True)]),
        ("the elections", [("elect", (), True)]),
        ("elections -paris", [("elect", (), False)]),
        ("elections after:7d", [("elect", (), False)]),
        ("oslo OR paris", [("oslo", (), True), ("pari", (), True)]),
        ("oslo (paris OR berlin)", [("oslo", ("berlin",), True), ("oslo", ("pari",), True)]),
        ('"climate election"', [("climat elect", (), True)]),
        ('"oslo climate election"', [("oslo climat", ("climat elect",), False)]),
        ("北京 oslo", [("北 京", ("oslo",), True)]),
        ("e-mail", [("e mail", (), True)]),
        ("intitle:election", [("title:elect", (), True)]),
        ("oslo category:world", [("oslo", ("category:world",), False)]),
        ("category:world", [("category:world", (), False)]),
        ("source:12", [("source:#12", (), True)]),
        ("source:012 oslo", [("oslo", ("source:#12",), True)]),
        ('author:"Ada Lov"', [("author:ada", ("author:lov",), False)]),
        ("author:" + 30 * "x", [("author:" + 20 * "x", (), False)]),
        ("lang:en", [("lang:en", (), True)]),
        ("lang:en,de elections", [("elect", ("lang:en",), True)]),
        ("oslo paris berlin elections climate 1 2 3 4", [("1", ("2", "3", "4", "oslo", "berlin", "pari"), False)]),
    ],
)
def test_a_query_is_anchored_at_its_rarest_part(query, rows):
    assert in_english(query) == sorted(rows)


def test_languages_that_read_a_word_alike_share_a_row():
    rows = anchors("elections")
    assert len(rows) < 12
    languages = [row.languages for row in rows]
    assert sum(languages) == (1 << len(read_alike())) - 1  # each is in one row
    [german] = [row for row in rows if row.languages & 1 << group_of("de")]
    assert german.term == "election"


def test_stop_word_of_one_language_is_required_in_others():
    german = 1 << group_of("de")
    rows = anchors("war crimes")
    assert {row.beside for row in rows if row.languages & german} == {()}
    assert {row.beside for row in rows if row.languages & 1 << group_of("en")} == {("war",)}
    assert not any(row.languages & german for row in anchors("war"))


def test_many_alternatives_beside_each_other_are_not_multiplied_out():
    some = " OR ".join(f"a{number}" for number in range(10))
    others = " OR ".join(f"b{number}" for number in range(10))
    assert len(in_english(f"({some}) ({others})")) == 10
    assert in_english(f"oslo ({some})") == [("oslo", (), False)]
    assert len(in_english(f"lang:en ({some})")) == 10


@pytest.mark.parametrize(
    "query", ["", "-paris", "after:today", "is:unread", "the", "the of", "paris OR -london", "paris OR is:starred", "…"]
)
def test_queries_without_any_term_are_refused(query):
    with pytest.raises(NoIndexTerm, match="too broad to watch"):
        Plan(parse(query))


def test_a_name_without_letters_is_refused():
    with pytest.raises(NoIndexTerm, match="no letters or digits"):
        Plan(parse("source:…"))


def test_phrase_of_stop_words_is_required():
    assert in_english('"the who"') == [("_the _who", (), True)]


@given(
    QUERIES,
    POSTINGS,
    st.builds(
        DocumentView,
        st.sampled_from(["", "my paper"]),
        st.booleans(),
        st.booleans(),
        st.booleans(),
        st.sampled_from([(), ((12, "News"),), ((12, "News"), (13, "Fun and news"))]),
    ),
)
def test_a_condition_matches_exactly_where_it_holds(query, posting, view):
    tree, reading = parse(query), a_reading(posting)
    expected = matches(
        tree, values_of(posting, view), analyse=lambda text: analyse(text, posting.language).sequence, now=NOW
    )
    assert holds(tree, reading, view, now=NOW) == expected
    if not is_personal(tree):
        assert holds(tree, reading, DocumentView(), now=NOW) == expected


@given(QUERIES, POSTINGS)
def test_a_posting_that_answers_meets_an_anchor_and_an_exact_one_is_an_answer(query, posting):
    tree, reading = parse(query), a_reading(posting)
    try:
        rows = Plan(tree).index_terms(DOCUMENTS.documents)
    except NoIndexTerm:
        return
    met = [
        row
        for row in rows
        if row.languages & 1 << group_of(reading.language) and reading.terms.issuperset({row.term, *row.beside})
    ]
    answers = holds(tree, reading, DocumentView(), now=NOW) and has_required_words(tree, reading.language)
    assert bool(met) >= answers
    assert answers or not any(row.exact for row in met)
