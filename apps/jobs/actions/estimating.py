"""Estimated durations of splits from those of earlier jobs."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from apps.jobs import queries
from apps.jobs.algorithms import estimates
from apps.jobs.kinds import Piece

ROUNDS = 5  # the latest jobs; older ones count less
MAX_READ = 20_000  # attempts of each


def expected(kind: str, stage: str, pieces: Sequence[Piece]) -> list[float] | None:
    """Estimated seconds of each; None while no job of the kind has finished.

    The time per unit of size is learnt by key or by size, whichever explains more.
    """
    learnt: dict[str, estimates.Learnt] = {}
    for took in queries.claimed_in_rounds(kind, stage, ROUNDS, MAX_READ):
        seconds = np.array([each.took.total_seconds() / max(each.size, 1e-9) for each in took])
        for name, values in _attributes(took).items():
            learnt[name] = estimates.learn(values, seconds, learnt.get(name))
    if not learnt or not pieces:
        return None
    name = estimates.best_explaining_attribute(learnt)
    per_size = estimates.estimated(learnt[name], _attributes(pieces)[name])
    return [seconds * piece.size for seconds, piece in zip(per_size.tolist(), pieces, strict=True)]


def _attributes(pieces: Sequence[Any]) -> dict[str, estimates.Keys]:
    return {
        "key": estimates.keys_of(piece.key for piece in pieces),
        "size": estimates.size_buckets(np.array([piece.size for piece in pieces])),
    }
