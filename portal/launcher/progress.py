"""Progress of a program that is not ready yet: a busy machine slows everything down, which is no failure."""

import time
from collections.abc import Callable

from portal.launcher import processes
from portal.launcher.processes import Process

STALLED_AFTER = 120.0  # s without progress until a start fails
BUSY_SHARE = 1 / 60  # of a core; a program that uses less than this only waits and polls
SAMPLE_SECONDS = 1.0  # between two samples of the CPU time, which read all of /proc
REPORT_AFTER = 10.0  # s until the first line about a slow step; each further one takes twice as long


class Progress:
    """Progress is output, or CPU time of the process and all its descendants."""

    def __init__(
        self,
        stalled_after: float,  # s
        cpu: Callable[[], float],  # s used so far
        lines: Callable[[], int] = lambda: 0,  # of output so far
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.stalled_after, self.cpu, self.lines, self.now = stalled_after, cpu, lines, now
        self._began = self._sampled = self._latest = now()
        self._cpu, self._lines = cpu(), lines()
        self._report_after = REPORT_AFTER

    @property
    def waited(self) -> float:
        """Seconds since the start."""
        return self.now() - self._began

    def has_stalled(self) -> bool:
        if self.now() - self._sampled >= min(SAMPLE_SECONDS, self.stalled_after / 4):
            self._sampled = self.now()
            cpu, lines = self.cpu(), self.lines()
            if lines != self._lines or cpu - self._cpu >= BUSY_SHARE * self.stalled_after:
                self._latest, self._cpu, self._lines = self.now(), cpu, lines
        return self.now() - self._latest > self.stalled_after

    def is_report_due(self) -> bool:
        if self.waited < self._report_after:
            return False
        self._report_after = 2 * self.waited
        return True


def of_process(process: int, stalled_after: float = STALLED_AFTER, lines: Callable[[], int] = lambda: 0) -> Progress:
    return Progress(stalled_after, lambda: processes.cpu_seconds(process), lines)


def finish(child: Process, made: Progress, report: Callable[[Progress], None] = lambda _: None) -> int:
    """Wait for the exit code of `child`; kill it if it makes no progress or this process is stopped.

    `report` is called at growing intervals.
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
