"""Whether a program that is not ready yet gets on: a busy machine slows everything down, which is no failure."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

STALLED_AFTER = 120.0  # s without progress, after which a start is given up
BUSY_SHARE = 1 / 60  # of a core; a program that uses less over such a stretch only waits and polls
LOOK_EVERY = 1.0  # s between two looks at the CPU time, which reads all of /proc
REPORT_AFTER = 10.0  # s until the first line about a slow step; each further one takes twice as long
_TICKS = os.sysconf("SC_CLK_TCK")  # per s


@dataclass(slots=True)
class Progress:
    """Progress is output, or CPU time of the process and all its descendants."""

    stalled_after: float  # s
    cpu: Callable[[], float]  # s used so far
    lines: Callable[[], int] = lambda: 0  # of output so far
    now: Callable[[], float] = time.monotonic
    _began: float = 0.0
    _looked: float = 0.0
    _latest: float = 0.0  # of the four, when it last got on
    _cpu: float = 0.0
    _lines: int = 0
    _report_after: float = 0.0

    def __post_init__(self) -> None:
        self._began = self._looked = self._latest = self.now()
        self._cpu, self._lines = self.cpu(), self.lines()
        self._report_after = REPORT_AFTER

    @property
    def waited(self) -> float:
        """Seconds since the start."""
        return self.now() - self._began

    def has_stalled(self) -> bool:
        if self.now() - self._looked >= min(LOOK_EVERY, self.stalled_after / 4):
            self._looked = self.now()
            cpu, lines = self.cpu(), self.lines()
            if lines != self._lines or cpu - self._cpu >= BUSY_SHARE * self.stalled_after:
                self._latest, self._cpu, self._lines = self.now(), cpu, lines
        return self.now() - self._latest > self.stalled_after

    def is_report_due(self) -> bool:
        """Whether it is time for a line that says what is still being waited for."""
        if self.waited < self._report_after:
            return False
        self._report_after = 2 * self.waited
        return True


def of_process(process: int, stalled_after: float = STALLED_AFTER, lines: Callable[[], int] = lambda: 0) -> Progress:
    return Progress(stalled_after, lambda: cpu_seconds(process), lines)


def cpu_seconds(process: int) -> float:
    """CPU time of a process, of its descendants, and of those that have ended and were waited for."""
    parents, used = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            except OSError:  # it has just ended
                continue
            parents[int(entry.name)] = int(fields[1])
            used[int(entry.name)] = sum(map(int, fields[11:15])) / _TICKS  # utime, stime, cutime, cstime
    family = {process}
    while more := {child for child, parent in parents.items() if parent in family} - family:
        family |= more
    return sum(used.get(member, 0.0) for member in family)
