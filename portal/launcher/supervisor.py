"""Keeps programs running: started in order, each ready before the next, restarted when they end, stopped in reverse.

No module of the launcher uses dataclasses: importing them would cost the supervisor 1.3 MB.
"""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, NamedTuple, NoReturn

from apps.database import machine
from apps.database.backoff import backoff
from portal.launcher import processes, progress
from portal.launcher.console import Console
from portal.launcher.embedded import StartError
from portal.launcher.nursery import Nursery, Order
from portal.launcher.processes import Process
from portal.launcher.progress import STALLED_AFTER, Progress

WATCH_SECONDS = 1.0  # between two polls; the end of a child wakes the watch at once
MIN_POLL_SECONDS = 0.02  # between two readiness checks, at first; they cost the program CPU time
MAX_POLL_SECONDS = 1.0
MAX_WAIT_SECONDS = 30.0  # s before a program that keeps ending is started again
CALM = 30.0  # s of running after which earlier failures are forgotten
REST_SECONDS = 30.0  # over which the CPU time of a process is measured
MAX_SHARE_AT_REST = 0.02  # of a core, in an idle process
MAX_OWN_MEMORY = 64 * 2**20  # private bytes that an idle process may keep
MIN_LIFE = 600.0  # s
MAX_BUSY_MEMORY = 160 * 2**20  # private bytes of a busy process on a small machine; more could end the portal
NO_SIGNALS = frozenset[signal.Signals]()  # while stopping, further stop signals are ignored


class Program(NamedTuple):
    """One program: how it is started, known to be ready, and stopped."""

    name: str
    command: Sequence[str | Path]
    environment: Mapping[str, str] | None = None  # the whole environment; ours by default
    directory: Path | None = None  # that it runs in
    files: tuple[int, ...] = ()  # inherited descriptors
    prepare: Callable[[], None] = lambda: None  # before every start
    is_ready: Callable[[], bool] | None = None  # None: as soon as it has started
    stalled_after: float = STALLED_AFTER  # s without progress until its start fails
    stop_signal: signal.Signals = signal.SIGTERM
    stop_within: float = 15.0  # s until the last signal
    last_signal: signal.Signals = signal.SIGKILL
    death_signal: signal.Signals = signal.SIGTERM  # from the kernel when this process dies
    is_forked: bool = False  # its command runs a module of Python, in the environment and directory of the nursery
    is_renewed: bool = False  # its work can be repeated: ended when it has grown, and first when memory is short

    def begin(self, nursery: Nursery | None, errors: IO[bytes] | None = None) -> Process:
        """Start a process; its errors are in its output by default."""
        if nursery is not None and self.is_forked:
            order = Order(self.name, [str(part) for part in self.command], self.death_signal, self.files, os.getpid())
            if forked := nursery.fork(order, errors.fileno() if errors else None):
                return forked
        return processes.spawn(
            self.command,
            death_signal=self.death_signal,
            env=self.environment,
            cwd=self.directory,
            pass_fds=self.files,
            stdout=subprocess.PIPE,
            stderr=errors or subprocess.STDOUT,
        )


class Child:
    """A program's current process, and the failures of earlier ones."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.process: Process | None = None
        self.started_at = 0.0  # of time.monotonic()
        self.failures = 0
        self.not_before = 0.0  # of time.monotonic(); the next start
        self.is_leaving = False  # to be renewed
        self.used = 0.0  # s of CPU time, at the latest check

    def start(self, console: Console, nursery: Nursery | None) -> None:
        self.program.prepare()
        self.started_at = time.monotonic()
        self.is_leaving = False
        self.process = self.program.begin(nursery)
        if self.program.is_renewed:
            processes.make_expendable(self.process.pid)
        console.follow(self.program.name, self.process)

    def has_ended(self) -> bool:
        return self.process is None or self.process.poll() is not None

    def renew(self) -> None:
        """End an idle process that keeps much memory, as after a large import; a new one follows at once.

        On a small machine one that works ends as well, after its tasks, before the memory is used up.
        """
        if self.process is None or self.is_leaving or not self.program.is_renewed:
            return
        before, self.used = self.used, processes.own_cpu_seconds(self.process.pid)
        rests = time.monotonic() > self.started_at + MIN_LIFE and self.used - before < MAX_SHARE_AT_REST * REST_SECONDS
        most = MAX_OWN_MEMORY if rests else MAX_BUSY_MEMORY
        if (rests or machine.is_small()) and processes.own_memory(self.process.pid) > most:
            self.is_leaving = True
            self.process.send_signal(self.program.stop_signal)

    def delay_of_restart(self) -> float:
        """Seconds to wait before the next start: none at first, then 1, 2, 4 and so on."""
        if time.monotonic() - self.started_at > CALM:
            self.failures = 0
        delay = backoff(self.failures, 1.0, MAX_WAIT_SECONDS) if self.failures else 0.0
        self.failures += 1
        return delay

    def end_described(self) -> str:
        code = (self.process.returncode or 0) if self.process else 0
        return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"


class Supervisor:
    def __init__(self, console: Console, nursery: Nursery | None = None) -> None:
        self.console, self.nursery = console, nursery
        self.stages: list[list[Child]] = []

    def start(self, *programs: Program) -> None:
        """Start programs one after the other, each when the one before is ready; `stop` stops them together.

        Raises `StartError` when one ends or makes no progress, `Stopped` on a stop signal.
        """
        stage: list[Child] = []
        self.stages.append(stage)
        for program in programs:
            stage.append(child := Child(program))
            child.start(self.console, self.nursery)
            if program.is_ready:
                self._await(child, program.is_ready)

    def finish(self, program: Program) -> None:
        """Run a program to its end; raises `StartError` if it fails."""
        with tempfile.TemporaryFile() as errors:
            child = program.begin(self.nursery, errors)
            self.console.relay(program.name, child)
            lines = partial(self.console.lines, program.name)
            made = progress.of_process(child.pid, program.stalled_after, lines)
            code = progress.finish(child, made, lambda made: self._report(program, made))
            self.console.forget(program.name)
            errors.seek(0)
            reason = errors.read().decode(errors="replace").strip()
        if made.has_stalled() and code == -signal.SIGKILL:
            raise StartError("\n".join(filter(None, [reason, _stalled(program, made)])))
        if code:
            raise StartError(reason or f"The {program.name} failed (code {code}).")
        if reason:
            self.console.warn(reason)
        self.console.say(f"  {program.name} done in {made.waited:.1f} s")

    def watch(self) -> NoReturn:
        """Restart programs that end or have grown, until `Stopped` is raised."""
        next_check = 0.0
        processes.trim_memory()
        while True:
            processes.pause(WATCH_SECONDS)
            children = [child for stage in self.stages for child in stage]
            if (now := time.monotonic()) >= next_check:
                next_check = now + REST_SECONDS
                for child in children:
                    child.renew()
            for child in children:
                self._restart(child)
            processes.reap({child.process.pid for child in children if child.process})

    def stop(self) -> None:
        """Stop everything, the latest stage first, each within its time. Never raises `Stopped`."""
        if self.nursery is not None:
            self.nursery.end()
            self.nursery = None
        for stage in reversed(self.stages):
            running = [child for child in stage if child.process is not None]
            for child in running:
                self._signal(child, child.program.stop_signal)
            for child in running:
                self._await_end(child)
        self.stages.clear()

    def _await(self, child: Child, is_ready: Callable[[], bool]) -> None:
        program = child.program
        assert child.process is not None
        made = progress.of_process(child.process.pid, program.stalled_after, lambda: self.console.lines(program.name))
        while not is_ready():
            if child.has_ended():
                self.console.show_latest(program.name)
                raise StartError(f"{program.name} {child.end_described()} before it was ready.")
            if made.has_stalled():
                self.console.show_latest(program.name)
                raise StartError(_stalled(program, made))
            if made.is_report_due():
                self._report(program, made)
            processes.pause(min(MAX_POLL_SECONDS, max(MIN_POLL_SECONDS, made.waited / 20)))
        self.console.say(f"  {program.name} ready after {time.monotonic() - child.started_at:.1f} s")

    def _report(self, program: Program, made: Progress) -> None:
        self.console.say(f"  {program.name} is still starting after {made.waited:.0f} s")

    def _restart(self, child: Child) -> None:
        if not child.has_ended():
            return
        if child.process is not None:
            if not child.is_leaving:
                delay = child.delay_of_restart()
                child.not_before = time.monotonic() + delay
                when = f"in {delay:.0f} s" if delay else "now"
                self.console.warn(f"{child.program.name} {child.end_described()}; it is started again {when}.")
                if child.failures > 1:
                    self.console.show_latest(child.program.name)
            processes.send(-child.process.pid, child.program.stop_signal)  # to what a killed process left
            child.process = None
        if time.monotonic() >= child.not_before:
            child.start(self.console, self.nursery)

    def _signal(self, child: Child, number: signal.Signals) -> None:
        if child.process is not None:
            child.process.send_signal(number)

    def _await_end(self, child: Child) -> None:
        deadline = time.monotonic() + child.program.stop_within
        while not child.has_ended():
            if time.monotonic() > deadline:
                number = child.program.last_signal
                self.console.warn(f"{child.program.name} takes too long to stop; it gets {number.name}.")
                self._signal(child, number)
                deadline = time.monotonic() + child.program.stop_within
            processes.pause(WATCH_SECONDS, until=NO_SIGNALS)
        if child.process is not None:
            processes.send(-child.process.pid, child.program.last_signal)  # to what it left behind
        self.console.forget(child.program.name)


def _stalled(program: Program, made: Progress) -> str:
    return (
        f"{program.name} was not ready after {made.waited:.0f} s,"
        f" and made no progress for the last {program.stalled_after:.0f} s."
    )
