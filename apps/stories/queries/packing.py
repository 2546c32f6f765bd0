"""Serialization of arrays for the database."""

from collections import Counter
from collections.abc import Mapping

import numpy as np

from apps.postings.algorithms.fingerprints import Fingerprint
from apps.stories.algorithms.rarity import Block
from apps.stories.algorithms.reports import Vector

Data = bytes | memoryview  # Django's types of bytea


def packed(vector: Vector) -> tuple[bytes, bytes]:
    return vector.terms.astype("<i4").tobytes(), vector.weights.astype("<f4").tobytes()


def unpacked(terms: Data, weights: Data) -> Vector:
    """
    >>> unpacked(*packed(Vector(np.array([3, 1], np.int32), np.array([0.8, 0.6], np.float32)))).terms.tolist()
    [3, 1]
    """
    return Vector(np.frombuffer(terms, "<i4").astype(np.int32), np.frombuffer(weights, "<f4").astype(np.float32))


def packed_fingerprint(fingerprint: Fingerprint) -> bytes:
    return fingerprint.astype("<u4").tobytes()


def unpacked_fingerprint(data: Data) -> Fingerprint:
    return np.frombuffer(data, "<u4").astype(np.uint32)


def packed_counts(block: Block) -> tuple[bytes, bytes]:
    terms = sorted(block.counts)
    return np.array(terms, "<i4").tobytes(), np.array([block.counts[term] for term in terms], "<i4").tobytes()


def unpacked_counts(terms: Data, counts: Data) -> Counter[int]:
    return Counter(dict(zip(np.frombuffer(terms, "<i4").tolist(), np.frombuffer(counts, "<i4").tolist(), strict=True)))


def packed_weights(weights: Mapping[int, float]) -> bytes:
    terms = sorted(weights)
    values = np.array([weights[term] for term in terms], "<f4")
    return np.array(terms, "<i4").tobytes() + values.tobytes()


def unpacked_weights(data: bytes) -> dict[int, float]:
    """
    >>> unpacked_weights(packed_weights({7: 0.5, 2: -1.0}))
    {2: -1.0, 7: 0.5}
    """
    half = len(data) // 2
    terms, values = np.frombuffer(data[:half], "<i4"), np.frombuffer(data[half:], "<f4")
    return dict(zip(terms.tolist(), values.tolist(), strict=True))
