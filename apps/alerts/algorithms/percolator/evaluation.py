"""Evaluate a query on one analysed posting."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from apps.alerts.algorithms.percolator.documents import TITLE, Reading, joined
from apps.postings.algorithms.words import STOP_MARK, sequence
from apps.postings.algorithms.words.languages import base_code
from apps.search.algorithms.language import And, Filter, Not, Or, Phrase, Tree, Word, leaves, moment, names_match

_CACHED = 100_000  # words of queries in one language; pairs of a query's name and a posting's


@dataclass(frozen=True, slots=True)
class DocumentView:
    """A posting as one user has it."""

    own_title: str = ""  # of its source
    unread: bool = False
    starred: bool = False
    followed: bool = False


def matches(tree: Tree, posting: Reading, view: DocumentView, *, now: datetime) -> bool:
    """Whether the posting matches the query; `now` is in the reader's time zone.

    >>> from datetime import UTC
    >>> from apps.alerts.algorithms.percolator.documents import read
    >>> from apps.search.algorithms.language import parse
    >>> noon = datetime(2026, 11, 21, 12, tzinfo=UTC)
    >>> posting = read("Paris", "It rains.", declared_language="en", source_id=7, source_names=[], published_at=noon)
    >>> matches(parse("rain paris -snow"), posting, DocumentView(), now=noon)
    True
    """
    return _holds(tree, posting, view, now) is not False


def _holds(tree: Tree, posting: Reading, view: DocumentView, now: datetime) -> bool | None:
    """True, False, or None where the query sets no condition."""
    match tree:
        case Word(text):
            items = _items(text, posting.language)
            only_stops = all(item.startswith(STOP_MARK) for item in items)
            return None if only_stops else _occurs(items, posting)
        case Phrase(text):
            items = _items(text, posting.language)
            return _occurs(items, posting) if items else None
        case Filter():
            return _any(_filtered(tree, value, posting, view, now) for value in tree.values)
        case Not(part):
            result = _holds(part, posting, view, now)
            return None if result is None else not result
        case And(parts):
            results = [result for part in parts if (result := _holds(part, posting, view, now)) is not None]
            return all(results) if results else None
        case Or(parts):
            return _any(_holds(part, posting, view, now) for part in parts)


def _any(results: Iterable[bool | None]) -> bool | None:
    known = [result for result in results if result is not None]
    return any(known) if known else None


@lru_cache(_CACHED)
def _items(text: str, language: str) -> tuple[str, ...]:
    return tuple(sequence(text, language))


def _occurs(items: tuple[str, ...], posting: Reading) -> bool:
    if items[0] not in posting.terms:
        return False
    return len(items) == 1 or joined(items) in posting.words


def _occurs_in_title(items: tuple[str, ...], posting: Reading) -> bool:
    return TITLE + items[0] in posting.terms and joined(items) in posting.title


def _filtered(condition: Filter, value: str, posting: Reading, view: DocumentView, now: datetime) -> bool | None:
    match condition.field:
        case "source" if value.isascii() and value.isdecimal():
            return int(value) == posting.source_id
        case "source":
            return any(_named(value, name) for name in (*posting.source_names, view.own_title))
        case "category":
            return any(_named(value, name) for name in posting.categories)
        case "author":
            return _named(value, posting.author)
        case "lang":
            return value == base_code(posting.language)
        case "intitle":
            items = _items(value, posting.language)
            return _occurs_in_title(items, posting) if items else None
        case "before":
            return posting.published_at < moment(value, now)
        case "after":
            return posting.published_at >= moment(value, now)
        case "is":
            return {"unread": view.unread, "starred": view.starred, "followed": view.followed}[value]


_named = lru_cache(_CACHED)(names_match)


def is_personal(tree: Tree) -> bool:
    """Whether the result depends on the user: on marks, follows, or own titles of sources.

    >>> is_personal(Not(Filter("is", ("starred",)))), is_personal(Word("paris"))
    (True, False)
    """
    return any(isinstance(leaf, Filter) and leaf.field in {"is", "source"} for leaf in leaves(tree))
