"""The run of all checks."""

import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from lab import checks
from lab.checks import Step
from lab.throwaway import Ending
from portal.launcher import commands
from tests.conftest import pytest_collection_modifyitems as put_in_order

ROOT = Path(__file__).resolve().parents[2]
WORKER = "popen//python=a-python"  # what starts a test process


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


@pytest.mark.parametrize(
    ("works_alone", "verdict"), [(True, "passed; failed at first, passed alone"), (False, "FAILED")]
)
def test_a_failed_test_that_passes_alone_is_named_but_no_failure(tmp_path, monkeypatch, works_alone, verdict):
    """It fails while a file is there, which the first run removes."""
    there = tmp_path / "disturbed"
    there.touch()
    # Instead of pytest, which takes ten times as long to start.
    code = "import os, sys\nif os.path.exists(sys.argv[1]):\n"
    code += "    os.remove(sys.argv[1])\n" if works_alone else ""
    monkeypatch.setattr(checks, "PYTEST", (sys.executable, "-c", f"{code}    sys.exit({checks.TESTS_FAILED})"))
    monkeypatch.setattr(checks, "failed_tests", lambda: [str(there)])
    tests = Step("tests", [*checks.PYTEST, str(there)])
    (outcome,) = checks.outcomes([], tests, os.environ, again=True)
    assert outcome.verdict.startswith(verdict)
    there.touch()
    assert checks.outcomes([], tests, os.environ)[0].verdict.startswith("FAILED")


def test_many_failed_tests_do_not_run_again(monkeypatch):
    monkeypatch.setattr(checks, "failed_tests", lambda: [f"test_{number}" for number in range(checks.MAX_AGAIN + 1)])
    (outcome,) = checks.outcomes([], python("tests", "exit(1)"), os.environ, again=True)
    assert outcome.verdict == "FAILED (code 1)"


def test_quick_checks_run_beside_the_tests_and_what_they_print_is_shown_in_one_piece(capfd, tmp_path):
    """Each waits for what the other has written."""
    code = "import pathlib, sys, time\nprint('{0} begins', flush=True); pathlib.Path({1!r}).touch()\n"
    code += "while not pathlib.Path({2!r}).exists(): time.sleep(0.01)\nprint('{0} ends')"
    one, other = str(tmp_path / "one"), str(tmp_path / "other")
    outcomes = run([python("style", code.format("style", one, other))], python("tests", code.format("it", other, one)))
    assert checks.summary(outcomes, seconds=1.0) == 0
    assert "it begins\nit ends\n\n=== style\nstyle begins\nstyle ends\n" in capfd.readouterr().out


def test_arguments_are_pytests(monkeypatch):
    """Without its servers, which run already."""
    called = []
    monkeypatch.setattr(checks.throwaway, "running", lambda *_, **__: nullcontext({"DATABASE_URL": "nowhere"}))
    monkeypatch.setattr(checks.throwaway, "keep_as_template", lambda _: None)
    monkeypatch.setattr(checks.throwaway, "run_in_front", lambda *given: called.append(given) or Ending(5, False))
    monkeypatch.setattr(checks.processes, "hold_signals", lambda: None)
    with pytest.raises(SystemExit) as ended:
        commands.main(["manage.py", "test", "tests/lab", "--trials", "-k", "other"])
    assert ended.value.code == 5
    [(command, environment)] = called
    assert command == [sys.executable, "-m", "pytest", "tests/lab", "-k", "other"]
    assert environment["DATABASE_URL"] == "nowhere"


@pytest.mark.trial
def test_arguments_are_those_of_a_pytest_on_servers_of_its_own(tmp_path):
    (tmp_path / "test_one.py").write_text("def test_it(): pass\ndef test_other(): assert False\n")
    command = [sys.executable, ROOT / "manage.py", "test", tmp_path, "-k", "other", "-p", "no:cacheprovider"]
    environment = os.environ | {"WIREBEAT_NO_VENV": "1"}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "1 failed, 1 deselected" in ended.stdout


def test_the_checks_are_these():
    assert {step.name for step in checks.quick_checks()} == {"style", "format", "types", "shape", "migrations"}
    assert "tests" in checks.tests(WORKER, with_trials=False).name


def test_trials_are_left_out_unless_they_are_wanted():
    step = checks.tests(WORKER, with_trials=False)
    assert step.command[-2:] == ["-m", "not trial"]
    assert any(each.endswith(f"*{WORKER}") for each in step.command)
    assert "trials not run: manage.py test --trials" in step.remark
    everything = checks.tests(WORKER, with_trials=True)
    assert "not trial" not in everything.command
    assert everything.command[-2:] == ["--hypothesis-profile", "full"]
    assert "trials" not in everything.remark


def test_a_configured_browser_takes_precedence(monkeypatch):
    monkeypatch.setenv("WIREBEAT_CHROMIUM", sys.executable)
    assert checks.chromium() == sys.executable
    assert "chromium" not in checks.tests(WORKER, with_trials=False).remark


def test_without_a_browser_its_tests_are_skipped_with_a_reason(monkeypatch):
    monkeypatch.delenv("WIREBEAT_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", "/nonexistent")
    assert "no chromium is installed" in checks.tests(WORKER, with_trials=False).remark


class AnItem:
    """A test of a file, with markers."""

    def __init__(self, file, *markers):
        self.path = Path(file)
        self._markers = {each.name: each for each in markers}

    def get_closest_marker(self, name):
        return self._markers.get(name)


def test_each_process_begins_with_files_that_may_take_long_and_one_has_those_of_the_browser(monkeypatch):
    monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", "3")
    browser, long = pytest.mark.browser.mark, pytest.mark.timeout(600).mark
    items = [AnItem(f"tests/apps/test_{number}.py") for number in range(20)]
    items += [AnItem(f"tests/browser/test_{name}.py", browser) for name in "abc"]
    items += [AnItem("tests/browser/test_every_page.py", browser, pytest.mark.timeout(1_200).mark)]
    items += [AnItem(f"tests/lab/test_{name}.py", long) for name in ("chaos", "chaos", "crashes", "replay")]
    put_in_order(items)
    names = [item.path.stem.removeprefix("test_") for item in items]
    assert names[:4] == ["a", "b", "c", "every_page"]
    assert names[4] == "replay"
    assert names[9:12] == ["chaos", "chaos", "4"]  # of 28 tests, xdist gives the second process those from 9 on
    assert names[18:20] == ["crashes", "11"]
    assert len(set(map(id, items))) == 28
