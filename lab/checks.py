"""The checks of `manage.py test`: style, types, shape and tests, all of them even if one fails."""

import json
import os
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from subprocess import STDOUT
from tempfile import TemporaryFile
from typing import NamedTuple

from lab import throwaway, workers
from portal.launcher import processes
from portal.launcher.embedded import StartError

# The headless shell first, which loads a page in half the time of the whole browser.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PYTEST = (sys.executable, "-m", "pytest")
MAX_WORKERS = 6
WITH_TRIALS = "--trials"
AGAIN = "--again"
TESTS_FAILED = 1  # pytest's exit code
MAX_AGAIN = 5  # failed tests that run again; more failures are no coincidence
SHAPE = "from importlinter.cli import lint_imports_command; lint_imports_command()"


class Step(NamedTuple):
    name: str
    command: Sequence[str]
    remark: str = ""  # beside its verdict


class Outcome(NamedTuple):
    step: Step
    verdict: str


def run(arguments: Sequence[str]) -> int:
    """Run pytest with these arguments or, without any, every check; returns the exit code.

    Trials run when arguments name tests, or with `--trials`. With `--again`, a few failed tests run once more, alone,
    and those that pass then are named but do not fail the run: of ten thousand tests of processes, browsers and
    servers, one may fail because the machine is busy.
    """
    for_pytest = [argument for argument in arguments if argument not in (WITH_TRIALS, AGAIN)]
    processes.hold_signals()
    started = time.monotonic()
    try:
        with throwaway.running(throwaway.FOR_TESTS, migrated=True) as servers:
            throwaway.keep_as_template(servers)
            # Without bytecode, pytest and every process of the tests would compile all modules again.
            environment = servers | {"WIREBEAT_CHROMIUM": chromium() or "", "PYTHONDONTWRITEBYTECODE": ""}
            environment["WIREBEAT_OIDC"] = "[]"  # tests of signing in elsewhere name a provider each
            environment["OPENBLAS_NUM_THREADS"] = "1"  # its threads would wait for each other in busy loops
            if for_pytest:
                return throwaway.run_in_front([*PYTEST, *for_pytest], environment).code
            with workers.running(environment, throwaway.ROOT) as worker:
                step = tests(worker, with_trials=WITH_TRIALS in arguments)
                results = outcomes(quick_checks(), step, environment, again=AGAIN in arguments)
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
        Step("types", [python, "-m", "mypy"]),
        Step("shape", [python, "-c", SHAPE]),
        Step("migrations", [python, "manage.py", "makemigrations", "--check", "--dry-run"]),
    ]


def tests(worker: str, *, with_trials: bool) -> Step:
    # More than there are processors: many tests wait for processes that they have started. Two more leave processors
    # idle for three per cent of the time; a third one takes more than that by contention.
    count = min((os.cpu_count() or 1) + 2, MAX_WORKERS)
    command = [*PYTEST, "--tx", f"{count}*{worker}", "--dist", "worksteal"]
    remark = "" if chromium() else "; those in a browser were skipped: no chromium is installed"
    if with_trials:
        command += ["--hypothesis-profile", "full"]
    else:
        command += ["-m", "not trial"]
        remark += f"; trials not run: manage.py test {WITH_TRIALS}"
    return Step("tests", command, remark)


def outcomes(
    quick: Sequence[Step], tests: Step, environment: Mapping[str, str], *, again: bool = False
) -> list[Outcome]:
    """Run quick checks in parallel with the tests, which use the terminal; output of the others is shown afterwards."""
    with ExitStack() as files:
        outputs = [files.enter_context(TemporaryFile()) for _ in quick]
        children = [
            processes.spawn(
                step.command, in_our_group=True, env=environment, cwd=throwaway.ROOT, stdout=output, stderr=STDOUT
            )
            for step, output in zip(quick, outputs, strict=True)
        ]
        ending = throwaway.run_in_front(tests.command, environment)
        if ending.stopped:
            for child in children:
                child.terminate()
        results = []
        for step, child, output in zip(quick, children, outputs, strict=True):
            results.append(outcome(step, child.wait()))
            output.seek(0)
            print(f"\n=== {step.name}\n{output.read().decode(errors='replace')}", end="", flush=True)
    if again and ending.code == TESTS_FAILED:
        return [*results, outcome_alone(tests, environment)]
    return [*results, outcome(tests, ending.code)]


def outcome_alone(tests: Step, environment: Mapping[str, str]) -> Outcome:
    """Run the failed tests once more, without others in parallel."""
    failed = failed_tests()
    if not 0 < len(failed) <= MAX_AGAIN:
        return outcome(tests, TESTS_FAILED)
    print(f"\n=== {len(failed)} of the tests once more, alone\n", flush=True)
    code = throwaway.run_in_front([*PYTEST, *failed], environment).code
    return outcome(tests._replace(remark=f"{tests.remark}; failed at first, passed alone: {', '.join(failed)}"), code)


def failed_tests() -> list[str]:
    """The failed tests of the last run, from pytest's cache."""
    try:
        return list(json.loads((throwaway.ROOT / ".pytest_cache/v/cache/lastfailed").read_bytes()))
    except FileNotFoundError:
        return []


def outcome(step: Step, code: int) -> Outcome:
    return Outcome(step, f"FAILED (code {code})" if code else f"passed{step.remark}")


def summary(outcomes: Sequence[Outcome], seconds: float) -> int:
    """Print the verdicts of all steps; returns the exit code."""
    print()
    for each in outcomes:
        print(f"{each.step.name:12} {each.verdict}")
    failed = [each for each in outcomes if not each.verdict.startswith("passed")]
    verdict = f"{len(failed)} of {len(outcomes)} failed" if failed else "all passed"
    print(f"{'total':12} {seconds:6.1f} s  {verdict}", flush=True)
    return 1 if failed else 0
