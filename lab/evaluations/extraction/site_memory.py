"""What the pages of one site have in common: the thesis's training phase without manual work."""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from apps.postings.algorithms.extraction.blocks import Block

MIN_PAGES = 3  # other than the one in question
MIN_TEXT_LENGTH = 12  # characters
MAX_VOTE_LENGTH = 400  # characters
MIN_LENGTH = 200  # characters' weight, before a signature's mean counts
SHARE = 0.4  # of the signature's mean in the probability

_SQUASHED = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class SiteMemory:
    """Learned from pages of a site other than the one in question; see `remember`."""

    boilerplate: frozenset[int]  # keys of texts that stand on two or more of these pages
    means: dict[int, float] = field(default_factory=dict)  # of signatures' keys: mean probability of their blocks

    def adjusted(self, blocks: Sequence[Block], likely: NDArray[np.float64]) -> NDArray[np.float64]:
        """The probabilities of a page's blocks in the light of the other pages."""
        result = likely.copy()
        for place, block in enumerate(blocks):
            if block.size >= MIN_TEXT_LENGTH and text_key(block.text) in self.boilerplate:
                result[place] = 0.0
            elif (mean := self.means.get(_key(block.signature))) is not None:
                result[place] = (1 - SHARE) * result[place] + SHARE * mean
        return result


def remember(pages: Iterable[tuple[Sequence[Block], NDArray[np.float64]]]) -> SiteMemory | None:
    """Learn from the blocks of a site's pages and their probabilities; None from too few pages.

    A text counts as the site's own when it stands on two of them: with the page in question these are three, as
    two could be the same story, stored twice.
    """
    seen: Counter[int] = Counter()
    sums: defaultdict[int, list[float]] = defaultdict(lambda: [0.0, 0.0])
    number = 0
    for blocks, likely in pages:
        number += 1
        seen.update({text_key(block.text) for block in blocks if block.size >= MIN_TEXT_LENGTH})
        for block, probability in zip(blocks, likely.tolist(), strict=True):
            weight = min(block.size, MAX_VOTE_LENGTH)
            total = sums[_key(block.signature)]
            total[0] += weight * probability
            total[1] += weight
    if number < MIN_PAGES:
        return None
    means = {signature: total / weight for signature, (total, weight) in sums.items() if weight > MIN_LENGTH}
    return SiteMemory(frozenset(key for key, times in seen.items() if times >= 2), means)


def text_key(text: str) -> int:
    """Equal for texts that differ in case, white space and punctuation alone."""
    return _key(_SQUASHED.sub("", text).lower())


def _key(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=7).digest(), "big")
