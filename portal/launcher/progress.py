"""Whether a program that is not ready yet gets on: a busy machine slows everything down, which is no failure."""

import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass

from portal.launcher import processes

STALLED_AFTER = 120.0  # s without progress, after which a start is given up
BUSY_SHARE = 1 / 60  # of a core; a program that uses less over such a stretch only waits and polls
LOOK_EVERY = 1.0  # s between two looks at the CPU time, which reads all of /proc
REPORT_AFTER = 10.0  # s until the first line about a slow step; each further one takes twice as long


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
    return Progress(stalled_after, lambda: processes.cpu_seconds(process), lines)


def finish(child: subprocess.Popen[bytes], made: Progress, report: Callable[[Progress], None] = lambda _: None) -> int:
    """The exit code of `child`. It is killed when it makes no progress, or when we are stopped.

    `report` is called now and then while it takes long.
    """
    try:
        while child.poll() is None and not made.has_stalled():
            if made.is_report_due():
                report(made)
            processes.pause(0.02)
    finally:
        if child.poll() is None:
            child.kill()
    return child.wait()
