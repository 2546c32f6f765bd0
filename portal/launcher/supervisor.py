"""Keeps a set of programs running: in order, each ready before the next, restarted when it ends, stopped backwards."""

import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from apps.database.backoff import backoff
from portal.launcher import processes, progress
from portal.launcher.console import Console
from portal.launcher.embedded import StartError
from portal.launcher.progress import STALLED_AFTER, Progress

LOOK_EVERY = 0.5  # s; the end of a child wakes the watch at once
ASK_EVERY = 0.02  # s between two questions whether a program is ready, at first; they cost it CPU time
ASK_AT_LEAST_EVERY = 1.0  # s
MAX_WAIT_SECONDS = 30.0  # s before a program that keeps ending is started again
CALM = 30.0  # s that a program must have run for its earlier ends to be forgotten
ENDLESS = frozenset[signal.Signals]()  # who stops already heeds no further signal


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One program: how it is started, known to be ready, and stopped."""

    name: str
    command: Sequence[str | Path]
    environment: Mapping[str, str] | None = None  # in full; None is ours
    directory: Path | None = None  # that it runs in
    files: tuple[int, ...] = ()  # descriptors that it inherits
    prepare: Callable[[], None] = lambda: None  # before every start
    is_ready: Callable[[], bool] | None = None  # None: as soon as it is started
    stalled_after: float = STALLED_AFTER  # s without progress, after which its start is given up
    stop_signal: signal.Signals = signal.SIGTERM
    stop_within: float = 15.0  # s, after which comes the
    last_signal: signal.Signals = signal.SIGKILL
    death_signal: signal.Signals = signal.SIGTERM  # that the kernel sends when we die
    # Whether a successor with this id does the work. What its predecessor left behind goes on until then.
    takes_over: Callable[[int], bool] | None = None


@dataclass(slots=True)
class Remnant:
    """What is left of a process group whose leader was killed."""

    group: int
    asked_at: float | None = None  # of time.monotonic(), when it got the signal to stop

    def stop(self, program: Program) -> bool:
        """Have it end, by force when it takes too long; whether nothing is left of it."""
        now = time.monotonic()
        if self.asked_at is None:
            self.asked_at = now
            return not processes.send_to_group(self.group, program.stop_signal)
        is_late = now - self.asked_at > program.stop_within
        return not processes.send_to_group(self.group, program.last_signal if is_late else 0)


@dataclass(slots=True)
class Child:
    """A program's current process, and what is remembered of the earlier ones."""

    program: Program
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0  # of time.monotonic()
    failures: int = 0
    not_before: float = 0.0  # of time.monotonic(); the next start
    remnants: list[Remnant] = field(default_factory=list)

    def start(self, console: Console) -> None:
        program = self.program
        program.prepare()
        self.started_at = time.monotonic()
        self.process = processes.spawn(
            program.command,
            death_signal=program.death_signal,
            env=program.environment,
            cwd=program.directory,
            pass_fds=program.files,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        console.follow(program.name, self.process)

    def has_ended(self) -> bool:
        return self.process is None or self.process.poll() is not None

    def delay_of_restart(self) -> float:
        """Seconds to wait before the next start: none at first, then 1, 2, 4 and so on."""
        if time.monotonic() - self.started_at > CALM:
            self.failures = 0
        delay = backoff(self.failures, 1.0, MAX_WAIT_SECONDS) if self.failures else 0.0
        self.failures += 1
        return delay

    def leave_remnant(self) -> None:
        """Remember the group of a process that has ended; the others of the group may outlive it."""
        if self.program.takes_over is not None and self.process is not None:
            self.remnants.append(Remnant(self.process.pid))

    def is_replaced(self) -> bool:
        """Whether nothing is needed any more of what it left behind when it was killed."""
        if not self.remnants or self.process is None or self.program.takes_over is None:
            return False
        return self.program.takes_over(self.process.pid)

    def stop_remnants(self) -> None:
        self.remnants = [remnant for remnant in self.remnants if not remnant.stop(self.program)]

    def end_described(self) -> str:
        code = self.process.returncode if self.process else 0
        return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"


@dataclass(slots=True)
class Supervisor:
    console: Console
    stages: list[list[Child]] = field(default_factory=list)

    def start(self, *programs: Program) -> None:
        """Start programs one after the other, each when the one before is ready; `stop` stops them together.

        Raises `StartError` when one ends or makes no progress, `Stopped` when we are asked to stop.
        """
        stage: list[Child] = []
        self.stages.append(stage)
        for program in programs:
            stage.append(child := Child(program))
            child.start(self.console)
            if program.is_ready:
                self._await(child, program.is_ready)

    def finish(self, program: Program) -> None:
        """Run a program that ends by itself, and refuse to go on when it fails."""
        child = processes.spawn(
            program.command,
            env=program.environment,
            cwd=program.directory,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        output = self.console.relay(child)
        made = progress.of_process(child.pid, program.stalled_after, output.lines)
        code = progress.finish(child, made, lambda made: self._report(program, made))
        reason = output.complaint()
        if made.has_stalled() and code == -signal.SIGKILL:
            raise StartError("\n".join(filter(None, [reason, _stalled(program, made)])))
        if code:
            raise StartError(reason or f"The {program.name} failed (code {code}).")
        if reason:
            self.console.warn(reason)
        self.console.say(f"  {program.name} done in {made.waited:.1f} s")

    def watch(self) -> NoReturn:
        """Start again what ends, until `Stopped` is raised."""
        while True:
            processes.pause(LOOK_EVERY)
            children = [child for stage in self.stages for child in stage]
            for child in children:
                self._revive(child)
                if child.is_replaced():
                    child.stop_remnants()
            self._reap()

    def stop(self) -> None:
        """Stop everything, the latest stage first, each within its time. Never raises `Stopped`."""
        for stage in reversed(self.stages):
            running = [child for child in stage if child.process is not None]
            for child in running:
                self._signal(child, child.program.stop_signal)
            for child in running:
                self._await_end(child)
            for child in stage:
                child.leave_remnant()
                while child.remnants:
                    child.stop_remnants()
                    self._reap()
                    processes.pause(ASK_EVERY, heeding=ENDLESS)
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
            processes.pause(min(ASK_AT_LEAST_EVERY, max(ASK_EVERY, made.waited / 20)))
        self.console.say(f"  {program.name} ready after {time.monotonic() - child.started_at:.1f} s")

    def _report(self, program: Program, made: Progress) -> None:
        self.console.say(f"  {program.name} is still starting after {made.waited:.0f} s")

    def _revive(self, child: Child) -> None:
        if not child.has_ended():
            return
        if child.process is not None:
            delay = child.delay_of_restart()
            child.not_before = time.monotonic() + delay
            when = f"in {delay:.0f} s" if delay else "now"
            self.console.warn(f"{child.program.name} {child.end_described()}; it is started again {when}.")
            if child.failures > 1:
                self.console.show_latest(child.program.name)
            child.leave_remnant()
            child.process = None
        if time.monotonic() >= child.not_before:
            child.start(self.console)

    def _reap(self) -> None:
        children = (child for stage in self.stages for child in stage)
        processes.reap_orphans({child.process.pid for child in children if child.process is not None})

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
            processes.pause(LOOK_EVERY, heeding=ENDLESS)
        self.console.forget(child.program.name)


def _stalled(program: Program, made: Progress) -> str:
    return (
        f"{program.name} was not ready after {made.waited:.0f} s,"
        f" and made no progress for the last {program.stalled_after:.0f} s."
    )
