"""Test processes that are forked from one that has imported the tests."""

import os
import subprocess

from lab import checks, workers
from lab.throwaway import ROOT

TESTS = """
import os
from pathlib import Path

Path("imported").open("a").write("once\\n")
IMPORTED_BY = os.getpid()


def test_one():
    assert os.getpid() != IMPORTED_BY


def test_two():
    assert Path("nothing").exists()
"""


def run_in_forks(folder) -> subprocess.CompletedProcess[str]:
    (folder / "test_it.py").write_text(TESTS)
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --import-mode=importlib\n")
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with workers.running(environment, folder) as worker:
        command = [*checks.PYTEST, "--tx", f"2*{worker}", "--dist", "load"]
        return subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)


def test_tests_are_imported_once_for_all_processes(tmp_path):
    ended = run_in_forks(tmp_path)
    assert ended.returncode == 1
    assert "1 failed, 1 passed" in ended.stdout
    assert (tmp_path / "imported").read_text() == "once\n"
