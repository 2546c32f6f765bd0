"""A posting for the percolator: its words, analysed once, and the terms by which searches are found."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from apps.postings.algorithms.words import STOP_MARK, language_of, sequence
from apps.postings.algorithms.words.languages import base_code
from apps.search.algorithms.language import And, Filter, Not, Or, Phrase, Tree, Word, leaves, moment, names_match
from apps.search.algorithms.language.matching import name_words

MAX_BEGINNING_LENGTH = 20  # characters; verification distinguishes longer words
TITLE, SOURCE, NUMBER, CATEGORY, AUTHOR, LANGUAGE = "title:", "source:", "source:#", "category:", "author:", "lang:"
FOLDER = "folder:#"

_REMEMBERED = 50_000  # names; sources and authors recur
_PART = "\n"  # between items, none of which has one


class Reading(NamedTuple):
    """A posting, independent of users. Items are those of the analyser."""

    language: str
    words: str  # its items in their order, each between line ends
    title: str  # of its title alone
    terms: frozenset[str]  # of candidate searches
    source_id: int
    source_names: tuple[str, ...]  # public ones
    categories: tuple[str, ...]  # its source's and its own
    author: str
    published_at: datetime


def read(
    title: str,
    text: str,
    *,
    declared_language: str,
    source_id: int,
    source_names: Sequence[str],
    own_names: Iterable[str] = (),
    folder_ids: Iterable[int] = (),
    categories: Sequence[str] = (),
    author: str = "",
    published_at: datetime,
) -> Reading:
    """Analyse a posting once for all searches.

    Parameters
    ----------
    declared_language : str
        Of its feed or source; "" if unknown.
    own_names : iterable of str
        Titles that users have given its source: any of them makes it a candidate of theirs.
    folder_ids : iterable of int
        Those of users' folders with its source that index terms name.

    Examples
    --------
    >>> from datetime import UTC
    >>> noon = datetime(2026, 11, 21, 12, tzinfo=UTC)
    >>> names = ["Le M"]
    >>> found = read("Paris", "It rains.", declared_language="en", source_id=7, source_names=names, published_at=noon)
    >>> sorted(found.terms)
    ['_it', '_it rain', 'lang:en', 'pari', 'pari _it', 'rain', 'source:#7', 'source:l', 'source:le', 'source:m',
     'title:pari']
    """
    whole = f"{title}\n{text}"
    language = language_of(whole, declared_language)
    words, heading = sequence(whole, language), sequence(title, language)
    terms = {*words, *_pairs(words), f"{NUMBER}{source_id}", LANGUAGE + language}
    terms.update(TITLE + item for item in (*heading, *_pairs(heading)))
    terms.update(f"{FOLDER}{folder_id}" for folder_id in folder_ids)
    for mark, names in ((SOURCE, (*source_names, *own_names)), (CATEGORY, categories), (AUTHOR, (author,))):
        for name in names:
            terms.update(mark + beginning for beginning in _beginnings(name))
    return Reading(
        language,
        joined(words),
        joined(heading),
        frozenset(terms),
        source_id,
        tuple(source_names),
        tuple(categories),
        author,
        published_at,
    )


def joined(items: Sequence[str]) -> str:
    """Items as one text, in which those of a phrase are a part if and only if they follow each other.

    >>> joined(["new", "york"]) in joined(["in", "new", "york"]), joined(["new"]) in joined(["renew"])
    (True, False)
    """
    return _PART + _PART.join(items) + _PART


def pairs_of(items: Sequence[str]) -> list[str]:
    """Terms of items that follow each other: of each two neighbours, or of the one that there is.

    >>> pairs_of(["new", "york", "citi"]), pairs_of(["pari"])
    (['new york', 'york citi'], ['pari'])
    """
    return list(_pairs(items)) if len(items) > 1 else list(items)


def _pairs(items: Sequence[str]) -> Iterator[str]:
    return (f"{first} {second}" for first, second in pairwise(items))


@lru_cache(_REMEMBERED)
def _beginnings(name: str) -> frozenset[str]:
    """All beginnings of the words of a name, any of which a query may use."""
    return frozenset(
        word[:length] for word in name_words(name) for length in range(1, min(len(word), MAX_BEGINNING_LENGTH) + 1)
    )


# --- evaluation -------------------------------------------------------------------------------------------------------
_CACHED = 100_000  # words of queries in one language; pairs of a query's name and a posting's


class DocumentView(NamedTuple):
    """A posting as one user has it."""

    own_title: str = ""  # of its source
    unread: bool = False
    starred: bool = False
    followed: bool = False
    folders: tuple[tuple[int, str], ...] = ()  # that its source is in, also those around them


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


def _filtered(condition: Filter, value: str, posting: Reading, view: DocumentView, now: datetime) -> bool | None:
    match condition.field:
        case "source" if value.isascii() and value.isdecimal():
            return int(value) == posting.source_id
        case "source":
            return any(_named(value, name) for name in (*posting.source_names, view.own_title))
        case "folder" if value.isascii() and value.isdecimal():
            return any(int(value) == folder_id for folder_id, _ in view.folders)
        case "folder":
            return any(_named(value, name) for _, name in view.folders)
        case "category":
            return any(_named(value, name) for name in posting.categories)
        case "author":
            return _named(value, posting.author)
        case "lang":
            return value == base_code(posting.language)
        case "intitle":
            items = _items(value, posting.language)
            return TITLE + items[0] in posting.terms and joined(items) in posting.title if items else None
        case "before":
            return posting.published_at < moment(value, now)
        case "after":
            return posting.published_at >= moment(value, now)
        case "is":
            return {"unread": view.unread, "starred": view.starred, "followed": view.followed}[value]


_named = lru_cache(_CACHED)(names_match)


def is_personal(tree: Tree) -> bool:
    """Whether the result depends on the user: on marks, follows, folders, or own titles of sources.

    >>> is_personal(Not(Filter("is", ("starred",)))), is_personal(Word("paris"))
    (True, False)
    """
    return any(isinstance(leaf, Filter) and leaf.field in {"is", "source", "folder"} for leaf in leaves(tree))
