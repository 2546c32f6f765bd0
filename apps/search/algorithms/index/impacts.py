"""Factors of the scores of a block's documents."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.search.algorithms.index.conditions import Attributes
from apps.search.algorithms.models.factors import Authority, Freshness

DAY = 86_400_000_000  # microseconds


@dataclass(frozen=True)
class Worth:
    """Freshness of postings and authority of sources; either may be left out."""

    now: int  # microseconds since 1970
    freshness: Freshness | None = None
    authority: Authority | None = None
    followers: Mapping[int, int] | None = None  # of sources; 0 for others

    def factors(self, known: Attributes) -> NDArray[np.float32]:
        """One factor per document, within (0, 1]."""
        values = np.ones(known.published.size, np.float32)
        if self.freshness:
            values *= self.freshness.factors((self.now - known.published) / DAY)
        if self.authority and self.followers:
            most = max(self.followers.values())
            distinct, places = np.unique(known.source_ids, return_inverse=True)
            counts = [self.followers.get(source, 0) for source in distinct.tolist()]
            values *= self.authority.factors(counts, most)[places]
        return values

    def largest(self, latest: int) -> float:
        """An upper bound of the factors of documents published at `latest` or earlier."""
        if not self.freshness:
            return 1.0
        # Rounded up: factors have 32 bits, and a document equal to the best must not be skipped.
        return float(self.freshness.factors((self.now - latest) / DAY)) * (1 + 2**-22)
