"""Random queries of the whole grammar and random postings that they may find, for searches that stand."""

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from hypothesis import strategies as st

from apps.alerts.algorithms.percolator.documents import DocumentView, Reading, read
from apps.postings.algorithms.words import analyse, language_of
from apps.search.algorithms.language import (
    And,
    BadQuery,
    Filter,
    Not,
    Or,
    Phrase,
    Tree,
    Word,
    parse,
    to_text,
)  # fmt: skip
from lab.benchmarks.alerts.matching import PostingValues

NOW = datetime(2024, 5, 1, 12, tzinfo=UTC)
SOURCES = [("Le Monde", "https://www.lemonde.example/rss", "World"), ("The Wire", "https://wire.example/feed", "")]
LANGUAGES = ("en", "de", "fr", "zh", "ru", "tr", "sk", "")
WORDS = (
    "the", "who", "war", "die", "paris", "Paris", "elections", "election", "élections", "e-mail", "l'élection",
    "中国", "国", "中", "北京", "выборы", "выбор", "İstanbul", "Wahl", "Wahlen", "to", "be", "2024", "o'clock", "…",
)  # fmt: skip
_NAMES = ("le", "Le Monde", "wire", "wir", "world", "wor", "ada", "Ada Lovelace", "lov", "my pap", "…", "music")

_words = st.sampled_from(WORDS)
_texts = st.lists(_words, min_size=1, max_size=3).map(" ".join)
_names = st.lists(st.sampled_from(_NAMES), min_size=1, max_size=2, unique=True).map(tuple)
_codes = st.lists(st.sampled_from(["en", "de", "zh", "ru"]), min_size=1, max_size=2, unique=True).map(tuple)
_titles = st.lists(_texts, min_size=1, max_size=2, unique=True).map(tuple)
_leaves = st.one_of(
    _words.map(Word),
    _words.map(Word),
    _texts.map(Phrase),
    st.builds(Filter, st.sampled_from(["source", "category", "author"]), _names),
    st.builds(Filter, st.just("intitle"), _titles),
    st.builds(Filter, st.just("lang"), _codes),
    st.builds(Filter, st.just("folder"), st.sampled_from([("12",), ("13",), ("news",), ("12", "fun")])),
    st.builds(Filter, st.just("is"), st.sampled_from([("unread",), ("starred",), ("followed",)])),
    st.builds(Filter, st.sampled_from(["before", "after"]), st.sampled_from([("today",), ("2d",), ("12h",)])),
)
_trees = st.recursive(
    _leaves,
    lambda parts: st.one_of(
        parts.map(Not),
        st.lists(parts, min_size=2, max_size=4).map(lambda found: And(tuple(found))),
        st.lists(parts, min_size=2, max_size=3).map(lambda found: Or(tuple(found))),
    ),
    max_leaves=6,
)


def _is_readable(query: str) -> bool:
    try:
        parse(query)
    except BadQuery:
        return False
    return True


QUERIES = _trees.map(to_text).filter(_is_readable)


class Drawn(NamedTuple):
    """A posting before it is stored."""

    title: str
    text: str
    declared: str
    source: int  # of SOURCES
    author: str
    categories: tuple[str, ...]
    age: timedelta

    @property
    def language(self) -> str:
        return language_of(f"{self.title}\n{self.text}", self.declared)


POSTINGS = st.builds(
    Drawn,
    st.lists(_words, max_size=4).map(" ".join),
    st.lists(_words, max_size=8).map(" ".join),
    st.sampled_from(LANGUAGES),
    st.integers(0, len(SOURCES) - 1),
    st.sampled_from(["", "Ada Lovelace"]),
    st.sampled_from([(), ("Music",), ("World news", "Music")]),
    st.sampled_from([timedelta(hours=1), timedelta(days=1), timedelta(days=3)]),
)


def names_of(posting: Drawn) -> tuple[str, ...]:
    title, url, _ = SOURCES[posting.source]
    return title, url.split("/")[2]


def a_reading(posting: Drawn) -> Reading:
    return read(
        posting.title,
        posting.text,
        declared_language=posting.declared,
        source_id=posting.source,
        source_names=names_of(posting),
        own_names=["my paper"],
        folder_ids=[12, 13],
        categories=[SOURCES[posting.source][2], *posting.categories],
        author=posting.author,
        published_at=NOW - posting.age,
    )


def values_of(posting: Drawn, view: DocumentView, source_id: int | None = None) -> PostingValues:
    """The posting for the query language, as one user has it."""
    return PostingValues(
        posting.title,
        posting.text,
        posting.source if source_id is None else source_id,
        (*names_of(posting), view.own_title),
        (SOURCES[posting.source][2], *posting.categories),
        posting.language,
        posting.author,
        NOW - posting.age,
        view.unread,
        view.starred,
        view.followed,
        view.folders,
    )


def has_required_words(tree: Tree, language: str) -> bool:
    """Whether the query requires a word in this language, beyond stop words."""
    return _found_in_nothing(tree, language) is False


def _found_in_nothing(tree: Tree, language: str) -> bool | None:
    """Whether a posting without words and names may match: True, False, or None where the query sets no condition."""
    match tree:
        case Word(text):
            items = analyse(text, language).sequence
            return None if all(item.startswith("_") for item in items) else False
        case Phrase(text):
            return False if analyse(text, language).sequence else None
        case Filter(field="intitle", values=values):
            known = [value for value in values if analyse(value, language).sequence]
            return False if known else None
        case Filter(field="folder", values=values):
            return not all(value.isdecimal() for value in values)
        case Filter(field=field):
            return field in ("before", "after", "is")
        case Not(part):
            return None if _found_in_nothing(part, language) is None else True
        case And(parts):
            answers = [answer for part in parts if (answer := _found_in_nothing(part, language)) is not None]
            return all(answers) if answers else None
        case Or(parts):
            answers = [answer for part in parts if (answer := _found_in_nothing(part, language)) is not None]
            return any(answers) if answers else None
