"""Recorded time and real time: one straight line between them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Timeline:
    """Maps recorded time to real time: real = start + (recorded - origin) / speed.

    All times are seconds since 1970. `speed` is recorded seconds per real second, > 0.

    >>> timeline = Timeline(origin=1000.0, start=5000.0, speed=60.0)
    >>> timeline.real(1600.0), timeline.recorded(5010.0)
    (5010.0, 1600.0)
    """

    origin: float
    start: float
    speed: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.speed < float("inf"):
            raise ValueError(f"the speed must be a positive number, not {self.speed}")

    def real(self, recorded: float) -> float:
        """The real time at which the recorded time is replayed."""
        return self.start + (recorded - self.origin) / self.speed

    def recorded(self, real: float) -> float:
        """The recorded time that is replayed at a real time."""
        return self.origin + (real - self.start) * self.speed
