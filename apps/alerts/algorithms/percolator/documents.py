"""A posting for the percolator: its words, analysed once, and the terms by which searches are found."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import pairwise

from apps.postings.algorithms.words import language_of, sequence
from apps.search.algorithms.language.matching import name_words

MAX_BEGINNING_LENGTH = 20  # characters; verification distinguishes longer words
TITLE, SOURCE, NUMBER, CATEGORY, AUTHOR, LANGUAGE = "title:", "source:", "source:#", "category:", "author:", "lang:"

_REMEMBERED = 50_000  # names; sources and authors recur
_PART = "\n"  # between items, none of which has one


@dataclass(frozen=True, slots=True)
class Reading:
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
