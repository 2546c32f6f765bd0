"""Factors of scores that documents have by their attributes, whatever the query."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.search.algorithms.index.inversion import Attributes
from apps.search.algorithms.models.factors import Authority, Freshness

DAY = 86_400_000_000  # microseconds


class Worth(NamedTuple):
    """Freshness of postings and authority of sources."""

    now: int  # microseconds since 1970
    followers: Mapping[int, int]  # of sources; 0 for others
    freshness: Freshness = Freshness()
    authority: Authority = Authority()

    def factors(self, known: Attributes) -> NDArray[np.float32]:
        """One factor per document, within (0, 1]."""
        most = max(self.followers.values(), default=0)
        distinct, places = np.unique(known.source_ids, return_inverse=True)
        counts = [self.followers.get(source, 0) for source in distinct.tolist()]
        by_source = self.authority.factors(counts, most)[places]
        return np.asarray(self.freshness.factors((self.now - known.published) / DAY) * by_source, np.float32)

    def largest(self, latest: int) -> float:
        """An upper bound of the factors of documents published at `latest` or earlier."""
        # Rounded up: factors have 32 bits, and a document equal to the best must not be skipped.
        return float(self.freshness.factors((self.now - latest) / DAY)) * (1 + 2**-22)
