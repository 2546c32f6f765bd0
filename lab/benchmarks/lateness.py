"""How late sources that fell due together were begun and stored."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

WINDOW = 60.0  # s after the due time; also the lateness of sources not seen within it


@dataclass(frozen=True, slots=True)
class Burst:
    """Seconds after the due time, of each source that fell due."""

    begun: list[float]
    stored: list[float]
    not_begun: int


def measure(due_at: float, sources: Collection[int], begun: Mapping[int, float], stored: Mapping[int, float]) -> Burst:
    """Measure a burst by when each source was requested and stored; all times are seconds since 1970.

    >>> measure(100.0, [1, 2], {1: 100.5}, {1: 101.0})
    Burst(begun=[0.5, 60.0], stored=[1.0, 60.0], not_begun=1)
    """
    seen = [source for source in sources if source in begun and begun[source] - due_at < WINDOW]
    return Burst(_late(due_at, sources, begun), _late(due_at, sources, stored), len(sources) - len(seen))


def _late(due_at: float, sources: Collection[int], times: Mapping[int, float]) -> list[float]:
    return [min(times[source] - due_at, WINDOW) if source in times else WINDOW for source in sources]


def figures(bursts: Sequence[Burst], prefix: str = "") -> dict[str, float]:
    """Percentiles over all sources of several bursts, and the worst.

    >>> figures([Burst([0.5, 60.0], [1.0, 60.0], 1)])["begun_max_s"]
    60.0
    """
    begun = np.concatenate([burst.begun for burst in bursts])
    found = {
        "due": float(begun.size),
        "begun_p50_s": float(np.percentile(begun, 50)),
        "begun_p99_s": float(np.percentile(begun, 99)),
        "begun_max_s": float(begun.max()),
        "stored_max_s": max(max(burst.stored) for burst in bursts),
        "not_begun": float(sum(burst.not_begun for burst in bursts)),
    }
    return {f"{prefix}{name}": value for name, value in found.items()}
