"""The query language: parsing, and errors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.search.algorithms.language import (
    FIELDS,
    And,
    BadQuery,
    Filter,
    Not,
    Or,
    Phrase,
    Word,
    conditions,
    narrowed,
    parse,
    to_text,
    wanted,
    without,
)

A, B, C = Word("paris"), Word("london"), Word("rome")


@pytest.mark.parametrize(
    ("query", "tree"),
    [
        ("", And(())),
        (" \n\t　", And(())),
        ("paris", A),
        ("paris london", And((A, B))),
        ("paris AND london", And((A, B))),
        ("paris or london", And((A, Word("or"), B))),
        ("paris OR london", Or((A, B))),
        ("paris|london", Or((A, B))),
        ("paris london OR rome", And((A, Or((B, C))))),
        ("(paris london) OR rome", Or((And((A, B)), C))),
        ("(paris OR london) AND rome", And((Or((A, B)), C))),
        ("((paris) ((london)))", And((A, B))),
        ("paris OR (london OR rome)", Or((A, B, C))),
        ("（paris｜london）", Word("paris｜london")),
        ("-paris", Not(A)),
        ("NOT paris", Not(A)),
        ("--paris", A),
        ("-(-(paris OR london)) OR rome", Or((A, B, C))),
        ("-(paris london)", Not(And((A, B)))),
        ("e-mail 5-3", And((Word("e-mail"), Word("5-3")))),
        ("paris - london", And((A, Word("-"), B))),
        ('"new  york"', Phrase("new york")),
        ("„new york“ «los angeles»", And((Phrase("new york"), Phrase("los angeles")))),
        ('"OR"', Phrase("OR")),
        ('-"new york"', Not(Phrase("new york"))),
        ('paris"new york"', And((A, Phrase("new york")))),
        ("source:guardian", Filter("source", ("guardian",))),
        ('Source:"Le Monde",bbc,bbc', Filter("source", ("Le Monde", "bbc"))),
        ("-lang:EN-us,de", Not(Filter("lang", ("en", "de")))),
        ("is:Unread", Filter("is", ("unread",))),
        ("before:2026-11 after:7D", And((Filter("before", ("2026-11",)), Filter("after", ("7d",))))),
        ("12:30 re:publica", And((Word("12:30"), Word("re:publica")))),
        ("https://wire.example/a?b=c,d", Word("https://wire.example/a?b=c,d")),
        ("Title: paris", And((Word("Title:"), A))),
        ("\ufeffis:starred\u200f \x00paris\ud800", And((Filter("is", ("starred",)), A))),
        ("北京 香港", And((Word("北京"), Word("香港")))),
    ],
)
def test_a_query_is_read(query, tree):
    assert parse(query) == tree
    assert parse(to_text(tree)) == tree


@pytest.mark.parametrize(
    ("query", "piece", "at", "message"),
    [
        ('say "hello', '"', 4, "The quotation mark at character 5 is not closed"),
        ('27" screen', '"', 2, "quotation mark at character 3"),
        ('a "" b', '""', 2, "There is nothing between the quotation marks at character 3"),
        ("a (b", "(", 2, "The parenthesis at character 3 is not closed"),
        ("a (", "(", 2, "The parenthesis at character 3 is not closed"),
        ("a) b", ")", 1, "The parenthesis at character 2 has no opening one"),
        (")", ")", 0, "has no opening one"),
        ("a ( ) b", "(", 2, "There is nothing between the parentheses at character 3"),
        ("paris OR", "OR", 6, "OR at character 7 needs a search term after it"),
        ("OR paris", "OR", 0, "OR at character 1 needs a search term before it"),
        ("a OR OR b", "OR", 2, "after it"),
        ("a || b", "|", 2, "| at character 3 needs a search term after it"),
        ("a (NOT) b", "NOT", 3, "NOT at character 4 needs a search term after it"),
        ("a AND b OR c", "AND", 2, "is ambiguous"),
        ("before:soon", "soon", 7, "“before:” needs a date like 2026-11-21"),
        ("after:2026-02-30", "2026-02-30", 6, "“2026-02-30” at character 7 is not one"),
        ("before:1000000", "1000000", 7, "needs a date"),
        ("before:2026,2027", "before:2026,2027", 0, "takes one date, not 2"),
        ("is:red", "red", 3, "one of unread, starred and followed; “red” at character 4 is not one"),
        ("lang:english", "english", 5, "needs a language code"),
        ("author: Ada", "author:", 0, "“author:” at character 1 needs a value right after it"),
        ("source:bbc, wire", "source:bbc,", 0, "right after its comma"),
        ('source:"bbc', '"', 7, "quotation mark at character 8 is not closed"),
        ("x sorce:bbc", "sorce:bbc", 2, "write “source:”"),
        ("title:paris", "title:paris", 0, "write “intitle:”"),
    ],
)
def test_invalid_query_is_reported_with_its_place(query, piece, at, message):
    with pytest.raises(BadQuery) as raised:
        parse(query)
    assert message in str(raised.value)
    assert (raised.value.piece, raised.value.at) == (piece, at)


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("x" * 1_000, "x" * 1_001),
        ("x " * 100, "x " * 101),
        (
            "author:" + ",".join("abc"[: 1 + number % 3] + str(number) for number in range(100)),
            "x " * 90 + "lang:de,en " * 6,
        ),
        ("(" * 20 + "x" + ")" * 20, "(" * 21 + "x" + ")" * 21),
        ("-" * 999 + "x", "(" * 999),
    ],
)
def test_a_query_has_limits(good, bad):
    parse(good)
    with pytest.raises(BadQuery):
        parse(bad)


# --- properties -------------------------------------------------------------------------------------------------------
words = st.sampled_from(["paris", "é", "北京", "the", "-", "e-mail", "12:30", "a,b", "Or", "..", "🙂"]).map(Word)
phrases = st.sampled_from(["new york", "OR", "-x", "source:a", "(a) | b", "…"]).map(Phrase)
names = st.sampled_from(["bbc", "Le Monde", "12", "-", "a,b", "(x", "OR", "is:"])
filters = st.one_of(
    st.builds(
        lambda field, values: Filter(field, tuple(values)),
        st.sampled_from(["source", "category", "author", "intitle"]),
        st.lists(names, min_size=1, max_size=3, unique=True),
    ),
    st.sampled_from(["2026-11-21", "2026-11", "2026", "today", "yesterday", "7d"]).map(
        lambda day: Filter("before", (day,))
    ),
    st.sampled_from([Filter("lang", ("en", "zh")), Filter("is", ("unread",)), Filter("is", ("starred", "followed"))]),
)


def joined(kind):
    """Two parts or more, none of them of the same kind: theirs are taken in their place."""

    def join(parts):
        flat = [inner for part in parts for inner in (part.parts if isinstance(part, kind) else (part,))]
        return kind(tuple(flat))

    return join


def deeper(trees):
    several = st.lists(trees, min_size=2, max_size=4)
    negated = trees.map(lambda tree: tree.part if isinstance(tree, Not) else Not(tree))
    return st.one_of(several.map(joined(And)), several.map(joined(Or)), negated)


trees = st.recursive(words | phrases | filters, deeper, max_leaves=12) | st.just(And(()))
pieces = st.sampled_from(
    [
        "(",
        ")",
        "|",
        "-",
        '"',
        "“",
        ",",
        ":",
        " ",
        "OR",
        "AND",
        "NOT",
        "a",
        "北",
        "\x00",
        "\ud800",
        "2026",
        "7d",
        "en",
        "unread",
    ]
    + [f"{field}:" for field in FIELDS]
    + ["sort:", "--", "-the", "e\u0301", "\u202e", "'", "\\", "%", "<b>", "x" * 400]
)
anything = (
    st.lists(pieces, max_size=30).map("".join) | st.lists(pieces, max_size=20).map(" ".join) | st.text(max_size=80)
)


@given(trees)
def test_a_query_written_back_is_read_as_the_same(tree):
    assert parse(to_text(tree)) == tree


@given(anything)
def test_any_text_is_parsed_or_reported_with_its_place(text):
    match read(text):
        case BadQuery() as complaint:
            assert text[complaint.at :].startswith(complaint.piece)
            assert len(str(complaint)) < 300
        case tree:
            for part in (tree, conditions(tree), *wanted(tree)):
                assert parse(to_text(part)) == part


def read(text):
    try:
        return parse(text)
    except BadQuery as complaint:
        return complaint


@given(trees.filter(lambda tree: tree != And(())), names)
def test_a_filter_that_was_added_can_be_taken_away(tree, name):
    added = Filter("author", (name,))
    assert without(narrowed(without(tree, added), "author", name), added) == without(tree, added)


# --- parts of a query -------------------------------------------------------------------------------------------------
def test_only_words_that_stand_by_themselves_may_be_missing():
    tree = parse('paris -rome (talks OR summit) "climate deal" intitle:cop lang:en')
    assert to_text(conditions(tree)) == '-rome (talks OR summit) "climate deal" intitle:cop lang:en'
    assert [part.text for part in wanted(tree)] == ["paris", "talks", "summit", "climate deal", "cop"]


def test_a_value_that_holds_nothing_narrows_nothing():
    assert narrowed(A, "author", " “” ") == A


def test_places_are_kept_for_each_part():
    parts = parse('a -"b" OR lang:en').parts
    assert [part.at for part in parts] == [0, 2]
    assert [part.at for part in parts[1].parts] == [2, 10]
