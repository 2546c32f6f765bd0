"""Evaluate a query on one posting: slow and simple, the reference for all faster ways."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from apps.postings.algorithms.words import STOP_MARK
from apps.postings.algorithms.words.languages import base_code
from apps.search.algorithms.language import And, Filter, Not, Or, Phrase, Tree, Word, moment, names_match

Analyse = Callable[[str], Sequence[str]]  # a text to its sequence of words, as `words.analyse` gives it


@dataclass(frozen=True, slots=True)
class PostingValues:
    """A posting as one user has it."""

    title: str
    text: str  # without markup
    source_id: int
    source_names: tuple[str, ...]  # its title, the person's own name for it, the host of its address
    categories: tuple[str, ...]  # its source's and its own
    language: str
    author: str
    published_at: datetime
    unread: bool = False
    starred: bool = False
    followed: bool = False  # its source
    folders: tuple[tuple[int, str], ...] = ()  # numbers and names of the user's folders around its source


def matches(tree: Tree, posting: PostingValues, *, analyse: Analyse, now: datetime) -> bool:
    """Whether the posting matches the query.

    A word matches if its items are adjacent in the words of title and text. A word of stop words or signs alone sets no
    condition, anywhere in the tree, as an index has no rows for it; in quotes it does.

    Parameters
    ----------
    tree : Tree
    posting : PostingValues
    analyse : callable
        A text to its sequence of words, in the posting's language, stop words with their mark; also for the query.
    now : datetime
        Aware; its time zone is the reader's.

    Examples
    --------
    >>> from datetime import UTC
    >>> from apps.search.algorithms.language.parsing import parse
    >>> from apps.postings.algorithms.words import analyse
    >>> def in_english(text):
    ...     return analyse(text, "en").sequence
    >>> noon = datetime(2026, 11, 21, 12, tzinfo=UTC)
    >>> posting = PostingValues("Talks in Paris", "The summit ended.", 7, ("The Wire",), ("World",), "en", "", noon)
    >>> [matches(parse(query), posting, analyse=in_english, now=noon)
    ...  for query in ("talk paris", '"paris talks"', "source:wire -lang:de", "rome OR after:yesterday")]
    [True, False, True, True]
    """
    return _holds(tree, _Tried(posting, analyse, now)) is not False


@dataclass(frozen=True, slots=True)
class _Tried:
    posting: PostingValues
    analyse: Analyse
    now: datetime


def _holds(tree: Tree, tried: _Tried) -> bool | None:
    """True, False, or None where the query sets no condition."""
    match tree:
        case Word(text):
            items = tried.analyse(text)
            only_stops = all(item.startswith(STOP_MARK) for item in items)
            return None if only_stops else _occurs_in(items, _words_of(tried))
        case Phrase(text):
            items = tried.analyse(text)
            return _occurs_in(items, _words_of(tried)) if items else None
        case Filter():
            return _any(_filtered(tree, value, tried) for value in tree.values)
        case Not(part):
            result = _holds(part, tried)
            return None if result is None else not result
        case And(parts):
            results = [result for part in parts if (result := _holds(part, tried)) is not None]
            return all(results) if results else None
        case Or(parts):
            return _any(_holds(part, tried) for part in parts)


def _any(results: Iterable[bool | None]) -> bool | None:
    known = [result for result in results if result is not None]
    return any(known) if known else None


def _words_of(tried: _Tried) -> Sequence[str]:
    return tried.analyse(f"{tried.posting.title}\n{tried.posting.text}")


def _occurs_in(items: Sequence[str], words: Sequence[str]) -> bool:
    length = len(items)
    return any(list(words[start : start + length]) == list(items) for start in range(len(words) - length + 1))


def _filtered(condition: Filter, value: str, tried: _Tried) -> bool | None:
    posting = tried.posting
    match condition.field:
        case "source":
            if value.isascii() and value.isdecimal():
                return int(value) == posting.source_id
            return any(names_match(value, name) for name in posting.source_names)
        case "folder":
            if value.isascii() and value.isdecimal():
                return int(value) in {number for number, _ in posting.folders}
            return any(names_match(value, name) for _, name in posting.folders)
        case "category":
            return any(names_match(value, name) for name in posting.categories)
        case "author":
            return names_match(value, posting.author)
        case "lang":
            return value == base_code(posting.language)
        case "intitle":
            items = tried.analyse(value)
            return _occurs_in(items, tried.analyse(posting.title)) if items else None
        case "before":
            return posting.published_at < moment(value, tried.now)
        case "after":
            return posting.published_at >= moment(value, tried.now)
        case "is":
            return {"unread": posting.unread, "starred": posting.starred, "followed": posting.followed}[value]
