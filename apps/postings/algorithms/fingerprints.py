"""Near-duplicates: one report in several sources, with small changes or none."""

from collections.abc import Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from apps.postings.algorithms.memo import Memo

SHINGLE = 4  # words
VALUES = 32  # of a fingerprint, unless more are wanted
MAX_VALUES = 64
BAND = 4  # values
MIN_WORDS = 6  # words; shorter texts are too short to be copies
WITHIN = 48.0  # hours between a report and its copies; a later one is a regular column, or the same news again
ALIKE = 0.8  # estimated Jaccard similarity of the shingles of near-duplicates

Fingerprint = NDArray[np.uint32]

_SALTS = np.random.default_rng(20_240_501).integers(0, 1 << 63, MAX_VALUES, dtype=np.uint64)[:, None]
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
NONE: Fingerprint = np.zeros(0, np.uint32)
_hashes = Memo(60_000, lambda word: crc32(word.encode()))  # about 8 MB


def fingerprint(words: Sequence[str], values: int = VALUES) -> Fingerprint:
    """MinHash of a text's shingles of four words: of two texts, the share of equal values estimates how alike they are.

    Parameters
    ----------
    words : sequence of str
        In their order, stop words included: they distinguish a copy from another report.
    values : int, optional
        At most 64; the more, the better the estimate.

    Returns
    -------
    (values,) ndarray of uint32
        Empty where there are fewer than six words.

    References
    ----------
    A. Z. Broder, "On the resemblance and containment of documents", SEQUENCES 1997.

    Examples
    --------
    >>> one = "the storm has flooded the streets of lisbon on friday night".split()
    >>> other = "shares of the car maker rose by a tenth in early trade".split()
    >>> similarity(fingerprint(one), fingerprint(one)), similarity(fingerprint(one), fingerprint(other)) < 0.1
    (1.0, True)
    """
    if len(words) < MIN_WORDS:
        return NONE
    hashes = np.fromiter(map(_hashes.__getitem__, words), np.uint64, len(words))
    count = len(words) - SHINGLE + 1
    shingles = np.zeros(count, np.uint64)
    for place in range(SHINGLE):
        shingles = shingles * _FACTOR + hashes[place : place + count]  # intended: both wrap around at 64 bits
    found: Fingerprint = _mixed(shingles ^ _SALTS[:values]).min(axis=1)
    return found


def _mixed(numbers: NDArray[np.uint64]) -> Fingerprint:
    """The finaliser of splitmix64: every bit that comes in changes about half of those that go out."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (numbers ^ (numbers >> np.uint64(31))).astype(np.uint32)


def similarity(one: Fingerprint, other: Fingerprint) -> float:
    """The share of equal values, an unbiased estimate of the Jaccard similarity (standard error at most 0.09)."""
    return int(np.count_nonzero(one == other)) / one.size


class Duplicates:
    """Fingerprints of reports, to find the one that another is a copy of.

    Fingerprints are cut into bands of four values, and reports that share a band are compared. Reports with a
    similarity of 0.8 share one with a probability of 98 %, with 0.9 practically always.
    """

    def __init__(self) -> None:
        self._fingerprints: dict[int, Fingerprint] = {}
        self._hours: dict[int, float] = {}
        self._holders: dict[int, int | tuple[int, ...]] = {}  # of each band: mostly one, which saves the tuple

    def __contains__(self, key: int) -> bool:
        return key in self._fingerprints

    def __len__(self) -> int:
        return len(self._fingerprints)

    def add(self, key: int, hours: float, fingerprint: Fingerprint) -> None:
        """Let copies of a report of a time be found; one of too few words has none."""
        if not fingerprint.size:
            return
        self._fingerprints[key], self._hours[key] = fingerprint, hours
        for band in _bands(fingerprint):
            held = self._held(band)
            self._holders[band] = (*held, key) if held else key

    def remove(self, key: int) -> None:
        """Forget a report, if it is known."""
        fingerprint = self._fingerprints.pop(key, NONE)
        self._hours.pop(key, None)
        for band in _bands(fingerprint):
            held = tuple(holder for holder in self._held(band) if holder != key)
            if not held:
                self._holders.pop(band, None)
            else:
                self._holders[band] = held if len(held) > 1 else held[0]

    def find(self, hours: float, fingerprint: Fingerprint) -> int | None:
        """The report of the 48 hours around a time that is most like this one, at least 0.8; then the smallest key."""
        candidates = {key for band in _bands(fingerprint) for key in self._held(band)}
        near = [key for key in candidates if abs(hours - self._hours[key]) <= WITHIN]
        alike = [(-similarity(fingerprint, self._fingerprints[key]), key) for key in near]
        best = min(alike, default=(0.0, 0))
        return best[1] if -best[0] >= ALIKE else None

    def _held(self, band: int) -> tuple[int, ...]:
        held = self._holders.get(band, ())
        return held if isinstance(held, tuple) else (held,)


def _bands(fingerprint: Fingerprint) -> list[int]:
    if not fingerprint.size:
        return []
    data = fingerprint.tobytes()
    size = BAND * fingerprint.itemsize
    # The number of the band is a part of the key: the second band of one is not compared with the third of another.
    return [(place << 32) | crc32(data[place * size : (place + 1) * size]) for place in range(VALUES // BAND)]
