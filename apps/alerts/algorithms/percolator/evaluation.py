"""A query tried on one posting that was read once: the answers of `search.algorithms.language.matches`, in no time."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from apps.alerts.algorithms.percolator.documents import TITLE, Reading, joined
from apps.postings.algorithms.words import STOP_MARK, sequence
from apps.postings.algorithms.words.languages import base_code
from apps.search.algorithms.language import And, Filter, Not, Or, Phrase, Tree, Word, leaves, moment, names_match

_REMEMBERED = 100_000  # words of queries in one language; pairs of a query's name and a posting's


@dataclass(frozen=True, slots=True)
class DocumentView:
    """What a posting is to one person."""

    own_title: str = ""  # of its source
    unread: bool = False
    starred: bool = False
    followed: bool = False


def matches(tree: Tree, posting: Reading, eyes: DocumentView, *, now: datetime) -> bool:
    """Whether all that the query asks holds for the posting, as `matches` has it.

    Parameters
    ----------
    now : datetime
        Aware; its time zone is the reader's.

    Examples
    --------
    >>> from datetime import UTC
    >>> from apps.alerts.algorithms.percolator.documents import read
    >>> from apps.search.algorithms.language import parse
    >>> noon = datetime(2026, 11, 21, 12, tzinfo=UTC)
    >>> posting = read("Paris", "It rains.", declared_language="en", source_id=7, source_names=[], published_at=noon)
    >>> matches(parse("rain paris -snow"), posting, DocumentView(), now=noon)
    True
    """
    return _holds(tree, posting, eyes, now) is not False


def _holds(tree: Tree, posting: Reading, eyes: DocumentView, now: datetime) -> bool | None:
    """Yes, no, or None where nothing is asked."""
    match tree:
        case Word(text):
            items = _items(text, posting.language)
            only_stops = all(item.startswith(STOP_MARK) for item in items)
            return None if only_stops else _stands(items, posting)
        case Phrase(text):
            items = _items(text, posting.language)
            return _stands(items, posting) if items else None
        case Filter():
            return _any(_filtered(tree, value, posting, eyes, now) for value in tree.values)
        case Not(part):
            answer = _holds(part, posting, eyes, now)
            return None if answer is None else not answer
        case And(parts):
            answers = [answer for part in parts if (answer := _holds(part, posting, eyes, now)) is not None]
            return all(answers) if answers else None
        case Or(parts):
            return _any(_holds(part, posting, eyes, now) for part in parts)


def _any(answers: Iterable[bool | None]) -> bool | None:
    asked = [answer for answer in answers if answer is not None]
    return any(asked) if asked else None


@lru_cache(_REMEMBERED)
def _items(text: str, language: str) -> tuple[str, ...]:
    return tuple(sequence(text, language))


def _stands(items: tuple[str, ...], posting: Reading) -> bool:
    if items[0] not in posting.terms:
        return False
    return len(items) == 1 or joined(items) in posting.words


def _stands_in_title(items: tuple[str, ...], posting: Reading) -> bool:
    return TITLE + items[0] in posting.terms and joined(items) in posting.title


def _filtered(asked: Filter, value: str, posting: Reading, eyes: DocumentView, now: datetime) -> bool | None:
    match asked.field:
        case "source" if value.isascii() and value.isdecimal():
            return int(value) == posting.source_id
        case "source":
            return any(_named(value, name) for name in (*posting.source_names, eyes.own_title))
        case "category":
            return any(_named(value, name) for name in posting.categories)
        case "author":
            return _named(value, posting.author)
        case "lang":
            return value == base_code(posting.language)
        case "intitle":
            items = _items(value, posting.language)
            return _stands_in_title(items, posting) if items else None
        case "before":
            return posting.published_at < moment(value, now)
        case "after":
            return posting.published_at >= moment(value, now)
        case "is":
            return {"unread": eyes.unread, "starred": eyes.starred, "followed": eyes.followed}[value]


_named = lru_cache(_REMEMBERED)(names_match)


def is_personal(tree: Tree) -> bool:
    """Whether the answer depends on whose query it is: on marks, follows, or their own titles of sources.

    >>> is_personal(Not(Filter("is", ("starred",)))), is_personal(Word("paris"))
    (True, False)
    """
    return any(isinstance(leaf, Filter) and leaf.field in {"is", "source"} for leaf in leaves(tree))
