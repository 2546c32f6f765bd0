"""The run of all checks."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lab import checks
from lab.checks import Step

ROOT = Path(__file__).resolve().parents[2]


def python(name, code, skipped=""):
    return Step(name, [sys.executable, "-c", code], skipped)


def test_every_check_runs_even_when_one_fails(capsys):
    steps = [python("style", "exit(1)"), python("tests", "pass"), python("browser", "exit(1)", "no chromium")]
    assert checks.run_steps(steps, os.environ) == 1
    *_, style, tests, browser, total = capsys.readouterr().out.splitlines()
    assert style.endswith("FAILED (code 1)")
    assert tests.endswith("passed")
    assert browser.endswith("skipped: no chromium")
    assert total.endswith("1 of 3 failed")


def test_passed_and_skipped_checks_are_no_failure():
    steps = [python("tests", "pass"), python("browser", "", "no chromium")]
    assert checks.run_steps(steps, os.environ) == 0


def test_arguments_are_pytests(tmp_path):
    (tmp_path / "test_one.py").write_text("def test_it(): pass\ndef test_other(): assert False\n")
    command = [sys.executable, ROOT / "manage.py", "test", tmp_path, "-k", "other", "-p", "no:cacheprovider"]
    environment = os.environ | {"WIREBEAT_NO_VENV": "1"}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "1 failed, 1 deselected" in ended.stdout


@pytest.mark.parametrize("name", ["style", "format", "types", "shape", "migrations", "tests", "browser"])
def test_the_checks_are_these(name):
    assert name in [step.name for step in checks.steps()]


def test_a_browser_of_ones_own_is_taken_first(monkeypatch):
    monkeypatch.setenv("WIREBEAT_CHROMIUM", sys.executable)
    assert checks.chromium() == sys.executable


def test_without_a_browser_its_tests_are_skipped_with_a_reason(monkeypatch):
    monkeypatch.delenv("WIREBEAT_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", "/nonexistent")
    assert checks.steps()[-1].skipped == "no chromium is installed"
