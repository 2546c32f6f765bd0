"""What all commands of the laboratory have in common."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.trial
@pytest.mark.timeout(600)  # it starts servers and runs all migrations
def test_a_command_that_fills_a_database_starts_servers_of_its_own_where_none_are_named(tmp_path):
    figures = tmp_path / "figures.json"
    nowhere = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "BROKER_URL"}}
    command = [sys.executable, "manage.py", "benchmark_crawl", "--pages", "20", "--rounds", "1", "--new", "1"]
    done = subprocess.run(
        [*command, "--json", str(figures)],
        cwd=ROOT,
        env=nowhere | {"WIREBEAT_NO_VENV": "1", "WIREBEAT_VAR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(figures.read_text())["coverage"] == 1
