"""Index terms of a query: rows by which new postings find it."""

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

_CACHED_WORDS = 50_000  # of queries, in all groups of languages, 40 MB


class IndexTerm(NamedTuple):
    """A posting in one of the languages (a bit for each of GROUPS) with all these terms is a candidate.

    If it is exact, the posting matches.
    """

    term: str
    beside: tuple[str, ...]
    languages: int
    exact: bool


class NoIndexTerm(ValueError):
    """A query that cannot be percolated; the message is for its author."""


class Plan:
    """The disjuncts of a query in each language; raises `NoIndexTerm` if it matches too much or nothing.

    The words of a query are analysed by the language of the posting. Languages that agree on all of its words share
    their rows. Where only stop words are left of a query in a language other than English, it has no row for it:
    postings of that language are no candidates.

    >>> from apps.search.algorithms.language import parse
    >>> found = Plan(parse("paris elections -hilton lang:en")).index_terms(len)
    >>> [(row.term, row.beside, row.exact) for row in found]
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
        """The terms whose frequencies `index_terms` needs."""
        return {term for way in self._languages for term in way.terms if len(way.terms) > 1}

    def index_terms(self, frequency: Callable[[str], float]) -> list[IndexTerm]:
        """One row per disjunct, under its rarest term; `frequency` returns the document frequency of a term."""
        found = []
        for way, languages in self._languages.items():
            term, *others = sorted(way.terms, key=lambda term: (frequency(term), term))
            found.append(
                IndexTerm(term, tuple(others[:MAX_BESIDE]), languages, way.exact and len(others) <= MAX_BESIDE)
            )
        return found


def _readings(tree: Tree) -> list[tuple[int, list[Disjunct] | None]]:
    """The disjuncts of the query, with a bit mask of the languages that share them."""
    named = list(dict.fromkeys(texts(tree)))
    variants = list(zip(*map(_variants, named), strict=True)) or [()] * len(GROUPS)
    own = range(len(GROUPS)) if _has_language_filter(tree) else [0] * len(GROUPS)  # not to be shared
    alike: dict[tuple[int, tuple[tuple[str, ...], ...]], list[int]] = {}
    for number, key in enumerate(zip(own, variants, strict=True)):
        alike.setdefault(key, []).append(number)
    found = []
    for (_, items), numbers in alike.items():
        read = dict(zip(named, items, strict=True)).__getitem__
        found.append((sum(1 << number for number in numbers), disjuncts(tree, read=read, languages=GROUPS[numbers[0]])))
    return found


@lru_cache(_CACHED_WORDS)
def _variants(text: str) -> tuple[tuple[str, ...], ...]:
    """The items of a text in each group of languages, equal tuples shared."""
    kept: dict[tuple[str, ...], tuple[str, ...]] = {}
    found = (tuple(sequence(text, group[0])) for group in GROUPS)
    return tuple(kept.setdefault(items, items) for items in found)


def _has_language_filter(tree: Tree) -> bool:
    return any(isinstance(leaf, Filter) and leaf.field == "lang" for leaf in leaves(tree))
