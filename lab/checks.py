"""The checks of `manage.py test`: style, types, shape and tests, all of them even if one fails."""

import os
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lab import throwaway
from portal.launcher import processes
from portal.launcher.embedded import StartError

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PYTEST = (sys.executable, "-m", "pytest")
SHAPE = "from importlinter.cli import lint_imports_command; lint_imports_command()"


class Step(NamedTuple):
    name: str
    command: Sequence[str]
    skipped: str = ""  # why


def run(arguments: Sequence[str]) -> int:
    """Run pytest with these arguments or, without any, every check; returns the exit code."""
    processes.hold_signals()
    try:
        with throwaway.running(throwaway.FOR_TESTS, migrated=True) as servers:
            throwaway.keep_as_template(servers)
            # Without bytecode, pytest and every process of the tests would compile all modules again.
            environment = servers | {"WIREBEAT_CHROMIUM": chromium() or "", "PYTHONDONTWRITEBYTECODE": ""}
            if arguments:
                return throwaway.run_in_front([*PYTEST, *arguments], environment).code
            return run_steps(steps(), environment)
    except StartError as error:
        sys.exit(str(error))
    except processes.Stopped as stopped:
        return 128 + stopped.number


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


def run_steps(steps: Sequence[Step], environment: Mapping[str, str]) -> int:
    """Run the steps in order, until one is stopped, and print a summary; returns the exit code."""
    started, lines, failed = time.monotonic(), [], 0
    for step in steps:
        print(f"\n=== {step.name}", flush=True)
        begun, verdict = time.monotonic(), f"skipped: {step.skipped}"
        if not step.skipped:
            ending = throwaway.run_in_front(step.command, environment)
            verdict = "stopped" if ending.stopped else f"FAILED (code {ending.code})" if ending.code else "passed"
            failed += verdict != "passed"
        lines.append(f"{step.name:12} {time.monotonic() - begun:6.1f} s  {verdict}")
        if verdict == "stopped":
            break
    total = f"{failed} of {len(lines)} failed" if failed else "all is well"
    print("", *lines, f"{'total':12} {time.monotonic() - started:6.1f} s  {total}", sep="\n", flush=True)
    return 1 if failed else 0
