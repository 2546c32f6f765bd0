"""Where a query is anchored: rows by which new postings find it, instead of it finding them."""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from apps.alerts.algorithms.percolator.disjuncts import Disjunct, disjuncts, is_open
from apps.alerts.algorithms.percolator.languages import ENGLISH, EVERY, GROUPS
from apps.postings.algorithms.words import sequence
from apps.search.algorithms.language import Filter, Tree, leaves, texts
from apps.search.algorithms.language.errors import gettext_noop

MAX_BESIDE = 6  # terms beside the rarest one
NOTHING_TO_WAIT_FOR = gettext_noop(
    "This search is too broad to watch for new articles: each side of an OR needs a word, a "
    "phrase, a feed or the like; dates, exclusions and very common words such as “the” are not "
    "enough."
)
NEVER = gettext_noop("No article can ever match this search: one of its names has no letters or digits.")

_REMEMBERED = 50_000  # words of queries, in all groups of languages, 40 MB


class IndexTerm(NamedTuple):
    """A posting in one of the languages (a bit for each of GROUPS) with all these terms is a candidate.

    If it is exact, the posting answers the query.
    """

    term: str
    beside: tuple[str, ...]
    languages: int
    exact: bool


class NoIndexTerm(ValueError):
    """A query to which no posting can be led; the message is for whoever wrote it."""


class Plan:
    """In which ways a query is answered in each language.

    The words of a query have the stems and stop words of the language that the posting is in, whichever that is.
    Languages that agree on all of its words share their rows. Where only stop words are left of a query in a language
    other than English, it has no row: postings of that language are not led to it.

    Raises
    ------
    NoAnchor
        If postings would have to be tried on it one by one, or none can ever answer.

    Examples
    --------
    >>> from apps.search.algorithms.language import parse
    >>> found = Plan(parse("paris elections -hilton lang:en")).index_terms(len)
    >>> [(anchor.term, anchor.beside, anchor.exact) for anchor in found]
    [('pari', ('elect', 'lang:en'), False)]
    """

    def __init__(self, tree: Tree) -> None:
        found = _readings(tree)
        open_in = sum(mask for mask, each in found if is_open(each))
        if open_in & 1 << ENGLISH or open_in == EVERY:
            raise NoIndexTerm(NOTHING_TO_WAIT_FOR)
        self._languages: dict[Disjunct, int] = {}
        for mask, each in found:
            for way in each if each and not mask & open_in else ():
                self._languages[way] = self._languages.get(way, 0) | mask
        if not self._languages:
            raise NoIndexTerm(NEVER)

    def terms(self) -> set[str]:
        """Those of which the frequencies matter to `index_terms`."""
        return {term for way in self._languages for term in way.terms if len(way.terms) > 1}

    def index_terms(self, frequency: Callable[[str], float]) -> list[IndexTerm]:
        """A posting that answers the query meets one of them at least.

        Parameters
        ----------
        frequency : callable
            How many documents hold a term.
        """
        found = []
        for way, languages in self._languages.items():
            term, *others = sorted(way.terms, key=lambda term: (frequency(term), term))
            found.append(
                IndexTerm(term, tuple(others[:MAX_BESIDE]), languages, way.exact and len(others) <= MAX_BESIDE)
            )
        return found


def _readings(tree: Tree) -> list[tuple[int, list[Disjunct] | None]]:
    """The ways to answer the query, and in which languages they are those."""
    named = list(dict.fromkeys(texts(tree)))
    variants = list(zip(*map(_variants, named), strict=True)) or [()] * len(GROUPS)
    own = range(len(GROUPS)) if _asks_language(tree) else [0] * len(GROUPS)  # not to be shared
    alike: dict[tuple[int, tuple[tuple[str, ...], ...]], list[int]] = {}
    for number, key in enumerate(zip(own, variants, strict=True)):
        alike.setdefault(key, []).append(number)
    found = []
    for (_, items), numbers in alike.items():
        read = _reader(dict(zip(named, items, strict=True)))
        found.append((sum(1 << number for number in numbers), disjuncts(tree, read=read, languages=GROUPS[numbers[0]])))
    return found


def _reader(items: dict[str, tuple[str, ...]]) -> Callable[[str], tuple[str, ...]]:
    return items.__getitem__


@lru_cache(_REMEMBERED)
def _variants(text: str) -> tuple[tuple[str, ...], ...]:
    """The items of words in each group of languages, equal ones kept once."""
    kept: dict[tuple[str, ...], tuple[str, ...]] = {}
    found = (tuple(sequence(text, group[0])) for group in GROUPS)
    return tuple(kept.setdefault(items, items) for items in found)


def _asks_language(tree: Tree) -> bool:
    return any(isinstance(leaf, Filter) and leaf.field == "lang" for leaf in leaves(tree))
