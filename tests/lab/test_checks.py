"""The run of all checks."""

import os
import subprocess
import sys
from pathlib import Path

from lab import checks
from lab.checks import Step

ROOT = Path(__file__).resolve().parents[2]


def python(name, code, **options):
    return Step(name, [sys.executable, "-c", code], **options)


def run(quick, tests):
    return checks.outcomes(quick, tests, os.environ)


def test_every_check_runs_even_when_one_fails(capsys):
    outcomes = run([python("style", "exit(1)"), python("types", "pass")], python("tests", "pass", remark="; all"))
    assert [outcome.verdict for outcome in outcomes] == ["FAILED (code 1)", "passed", "passed; all"]
    assert checks.summary(outcomes, seconds=1.5) == 1
    assert capsys.readouterr().out.endswith("1.5 s  1 of 3 failed\n")


def test_failed_tests_are_a_failure():
    assert checks.summary(run([python("style", "pass")], python("tests", "exit(1)")), seconds=1.0) == 1


def test_quick_checks_run_beside_the_tests_and_what_they_print_is_shown_in_one_piece(capfd, tmp_path):
    """Each waits for what the other has written."""
    code = "import pathlib, sys, time\nprint('{0} begins', flush=True); pathlib.Path({1!r}).touch()\n"
    code += "while not pathlib.Path({2!r}).exists(): time.sleep(0.01)\nprint('{0} ends')"
    one, other = str(tmp_path / "one"), str(tmp_path / "other")
    outcomes = run([python("style", code.format("style", one, other))], python("tests", code.format("it", other, one)))
    assert checks.summary(outcomes, seconds=1.0) == 0
    assert "it begins\nit ends\n\n=== style\nstyle begins\nstyle ends\n" in capfd.readouterr().out


def test_arguments_are_pytests(tmp_path):
    (tmp_path / "test_one.py").write_text("def test_it(): pass\ndef test_other(): assert False\n")
    command = [sys.executable, ROOT / "manage.py", "test", tmp_path, "-k", "other", "-p", "no:cacheprovider"]
    environment = os.environ | {"WIREBEAT_NO_VENV": "1"}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "1 failed, 1 deselected" in ended.stdout


def test_the_checks_are_these():
    assert {step.name for step in checks.quick_checks()} == {"style", "format", "types", "shape", "migrations"}
    assert "tests" in checks.tests().name


def test_a_browser_of_ones_own_is_taken_first(monkeypatch):
    monkeypatch.setenv("WIREBEAT_CHROMIUM", sys.executable)
    assert checks.chromium() == sys.executable
    assert checks.tests().remark == ""


def test_without_a_browser_its_tests_are_skipped_with_a_reason(monkeypatch):
    monkeypatch.delenv("WIREBEAT_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", "/nonexistent")
    assert "no chromium is installed" in checks.tests().remark
