"""What `manage.py test` runs: style, types, shape and tests, all of them even when one fails."""

import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from portal import processes, throwaway
from portal.embedded import StartError

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PYTEST = (sys.executable, "-m", "pytest")
SHAPE = "from importlinter.cli import lint_imports_command; lint_imports_command()"


@dataclass(frozen=True, slots=True)
class Step:
    name: str
    command: Sequence[str]
    skipped: str = ""  # why


@dataclass(frozen=True, slots=True)
class Outcome:
    step: Step
    verdict: str
    seconds: float


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
            results = list(outcomes(steps(), environment))
    except StartError as error:
        sys.exit(str(error))
    except processes.Stopped as stopped:
        return 128 + stopped.number
    return summary(results, time.monotonic() - started)


def chromium() -> str | None:
    """The browser for the tests that need one."""
    names = (os.environ.get("WIREBEAT_CHROMIUM", ""), *BROWSERS)
    return next(filter(None, map(shutil.which, names)), None)


def steps() -> list[Step]:
    python = sys.executable
    workers = str(min(os.cpu_count() or 1, 4))
    return [
        Step("style", [python, "-m", "ruff", "check"]),
        Step("format", [python, "-m", "ruff", "format", "--check", "--quiet"]),
        Step("types", [python, "-m", "mypy"]),
        Step("shape", [python, "-c", SHAPE]),
        Step("migrations", [python, "manage.py", "makemigrations", "--check", "--dry-run"]),
        Step("tests", [*PYTEST, "--numprocesses", workers, "--ignore", "tests/browser"]),
        Step(
            "browser",
            [*PYTEST, "--numprocesses", workers, "tests/browser"],
            "" if chromium() else "no chromium is installed",
        ),
    ]


def outcomes(steps: Sequence[Step], environment: Mapping[str, str]) -> Iterator[Outcome]:
    """Run the steps in order, up to one that is told to stop."""
    for step in steps:
        print(f"\n=== {step.name}", flush=True)
        if step.skipped:
            print(f"skipped: {step.skipped}")
            yield Outcome(step, f"skipped: {step.skipped}", 0.0)
            continue
        started = time.monotonic()
        ending = throwaway.run_in_front(step.command, environment)
        verdict = "passed" if ending.code == 0 else f"FAILED (code {ending.code})"
        yield Outcome(step, "stopped" if ending.stopped else verdict, time.monotonic() - started)
        if ending.stopped:
            return


def summary(outcomes: Sequence[Outcome], seconds: float) -> int:
    """Print how all steps ended; the exit code for the shell."""
    print()
    for outcome in outcomes:
        print(f"{outcome.step.name:12} {outcome.seconds:6.1f} s  {outcome.verdict}")
    failed = [outcome for outcome in outcomes if not outcome.verdict.startswith(("passed", "skipped"))]
    verdict = f"{len(failed)} of {len(outcomes)} failed" if failed else "all is well"
    print(f"{'total':12} {seconds:6.1f} s  {verdict}", flush=True)
    return 1 if failed else 0
