"""What `manage.py test` runs: style, types, shape and tests, all of them even when one fails."""

import os
import shutil
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from subprocess import STDOUT, Popen
from tempfile import TemporaryFile
from typing import IO

from portal.launcher import processes, throwaway
from portal.launcher.embedded import StartError

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PYTEST = (sys.executable, "-m", "pytest")
MAX_WORKERS = 5
LOOK_EVERY = 0.2  # s
SHAPE = "from importlinter.cli import lint_imports_command; lint_imports_command()"


@dataclass(frozen=True, slots=True)
class Step:
    name: str
    command: Sequence[str]
    remark: str = ""  # beside its verdict
    is_live: bool = False  # what it prints is shown at once


@dataclass(frozen=True, slots=True)
class Outcome:
    step: Step
    verdict: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Run:
    step: Step
    child: Popen[bytes]
    output: IO[bytes] | None
    started: float  # of time.monotonic()

    def outcome(self, *, stopped: bool) -> Outcome:
        if self.output is not None:
            print(f"\n=== {self.step.name}", flush=True)
            self.output.seek(0)
            print(self.output.read().decode(errors="replace"), end="", flush=True)
            self.output.close()
        code = self.child.returncode
        verdict = "stopped" if stopped else f"FAILED (code {code})" if code else "passed"
        return Outcome(self.step, f"{verdict}{self.step.remark}", time.monotonic() - self.started)


def run(arguments: Sequence[str]) -> int:
    """Run pytest with these arguments or, without any, every check; the exit code for the shell."""
    processes.hold_signals()
    started = time.monotonic()
    try:
        with throwaway.running(throwaway.FOR_TESTS, migrated=True) as servers:
            throwaway.keep_as_template(servers)
            # Without bytecode, pytest and every process that tests start would compile all modules again.
            environment = servers | {"WIREBEAT_CHROMIUM": chromium() or "", "PYTHONDONTWRITEBYTECODE": ""}
            if arguments:
                return throwaway.run_in_front([*PYTEST, *arguments], environment).code
            results = list(outcomes([quick_checks(), [tests()]], environment))
    except StartError as error:
        sys.exit(str(error))
    except processes.Stopped as stopped:
        return 128 + stopped.number
    return summary(results, time.monotonic() - started)


def chromium() -> str | None:
    """The browser for the tests that need one."""
    names = (os.environ.get("WIREBEAT_CHROMIUM", ""), *BROWSERS)
    return next(filter(None, map(shutil.which, names)), None)


def quick_checks() -> list[Step]:
    python = sys.executable
    return [
        Step("style", [python, "-m", "ruff", "check"]),
        Step("format", [python, "-m", "ruff", "format", "--check", "--quiet"]),
        Step("shape", [python, "-c", SHAPE]),
        Step("migrations", [python, "manage.py", "makemigrations", "--check", "--dry-run"]),
        Step("types", [python, "-m", "mypy"]),
    ]


def tests() -> Step:
    # One more than there are processors: many tests wait for processes that they have started.
    workers = str(min((os.cpu_count() or 1) + 1, MAX_WORKERS))
    remark = "" if chromium() else "; those in a browser were skipped: no chromium is installed"
    return Step("tests", [*PYTEST, "--numprocesses", workers, "--dist", "worksteal"], remark, is_live=True)


def outcomes(lanes: Sequence[Sequence[Step]], environment: Mapping[str, str]) -> Iterator[Outcome]:
    """Run the lanes beside each other, and the steps of each in order, until this process is told to stop."""
    waiting = [deque(lane) for lane in lanes]
    running: dict[int, Run] = {}
    stopped = False
    while True:
        for lane, steps in enumerate(waiting):
            if steps and lane not in running and not stopped:
                running[lane] = begin(steps.popleft(), environment)
        if not running:
            return
        try:
            processes.pause(LOOK_EVERY)
        except processes.Stopped as signal:
            stopped = True
            if not signal.by_terminal:  # which tells all processes of the foreground by itself
                for run in running.values():
                    run.child.send_signal(signal.number)
        for lane, run in [*running.items()]:
            if run.child.poll() is not None:
                del running[lane]
                yield run.outcome(stopped=stopped)


def begin(step: Step, environment: Mapping[str, str]) -> Run:
    output = None if step.is_live else TemporaryFile()  # noqa: SIM115, closed with the outcome
    errors = None if step.is_live else STDOUT
    child = processes.spawn(
        step.command, in_our_group=True, env=environment, cwd=throwaway.ROOT, stdout=output, stderr=errors
    )
    return Run(step, child, output, time.monotonic())


def summary(outcomes: Sequence[Outcome], seconds: float) -> int:
    """Print how all steps ended; the exit code for the shell."""
    print()
    for outcome in outcomes:
        print(f"{outcome.step.name:12} {outcome.seconds:6.1f} s  {outcome.verdict}")
    failed = [outcome for outcome in outcomes if not outcome.verdict.startswith("passed")]
    verdict = f"{len(failed)} of {len(outcomes)} failed" if failed else "all is well"
    print(f"{'total':12} {seconds:6.1f} s  {verdict}", flush=True)
    return 1 if failed else 0
