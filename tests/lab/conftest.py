import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import psycopg
import pytest

from lab import throwaway

ROOT = Path(__file__).resolve().parents[2]

Command = Callable[..., Mapping[str, float]]


@pytest.fixture(scope="module")
def prepared() -> Iterator[dict[str, str]]:
    """The environment of servers that hold an empty, migrated database."""
    with throwaway.running(throwaway.FOR_TESTS, migrated=True) as environment:
        yield environment


@pytest.fixture
def measured(prepared, tmp_path, request) -> Command:
    """Runs a command of `manage.py` in a database of its own, with real processes; returns its figures."""
    url = prepared["DATABASE_URL"]
    name = f"of_{request.node.name}"[:63].lower()
    with psycopg.connect(url.replace("/wirebeat?", "/postgres?"), autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE wirebeat')

    def run(*arguments: str) -> Mapping[str, float]:
        figures = tmp_path / "figures.json"
        command = [sys.executable, "manage.py", *arguments, "--json", str(figures)]
        environment = os.environ | prepared | {"DATABASE_URL": url.replace("/wirebeat?", f"/{name}?")}
        done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(figures.read_text())

    return run
