"""A query for ranking: weighted terms, and pairs of neighbours."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from apps.postings.algorithms.words import Words


@dataclass(frozen=True)
class Query:
    """Terms with their counts in the query, and words that are neighbours except for stop words."""

    terms: Mapping[str, float]
    pairs: Mapping[tuple[str, str], float]

    @classmethod
    def of(cls, words: Words) -> "Query":
        """The query of an analysed text.

        >>> from apps.postings.algorithms.words import analyse
        >>> Query.of(analyse("state of the union", "en"))
        Query(terms={'state': 1, 'union': 1}, pairs={('state', 'union'): 1})
        """
        return cls(dict(Counter(words.terms)), dict(Counter(pairwise(words.content))))

    def __bool__(self) -> bool:
        return bool(self.terms)
