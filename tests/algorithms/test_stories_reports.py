"""The halves of a story."""

import random

import numpy as np
import pytest

from apps.stories.algorithms.reports import halves


@pytest.mark.parametrize("seed", range(20))
def test_halves_are_those_of_average_linkage_by_definition(seed):
    chance = random.Random(seed)
    count = chance.randint(2, 8)
    likeness = np.array([[chance.random() for _ in range(count)] for _ in range(count)])
    likeness = (likeness + likeness.T) / 2
    parts = [{place} for place in range(count)]
    while len(parts) > 2:
        _, one, other = max(
            (np.mean([likeness[i, j] for i in parts[a] for j in parts[b]]), a, b)
            for a in range(len(parts))
            for b in range(a)
        )
        parts[other] |= parts.pop(one)
    leaving, between = halves(likeness)
    second = next(part for part in parts if 0 not in part)
    assert set(np.flatnonzero(leaving).tolist()) == second
    assert between == pytest.approx(np.mean([likeness[i, j] for i in second for j in set(range(count)) - second]))
