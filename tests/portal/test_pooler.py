"""The portal works behind a connection pooler in session mode."""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest

from lab.throwaway import TEMPLATE
from portal.launcher import privileges

ROOT = Path(__file__).resolve().parents[2]
POOLER = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
# As docs/deployment.md says: libpq sends `options`, which a pooler cannot set for each of its clients.
SETTINGS = """
[databases]
* = host={host} port={port} user={user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {own_port}
unix_socket_dir =
auth_type = any
pool_mode = session
default_pool_size = 80
ignore_startup_parameters = options
"""


@pytest.fixture
def pooled(make_database, open_folder: Path, until) -> Iterator[str]:
    """The URL of a database with all tables, through a pooler."""
    direct = urlsplit(make_database(TEMPLATE))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = open_folder / "pgbouncer.ini"
    host = parse_qs(direct.query).get("host", [direct.hostname])[0]
    given = {"host": host, "port": direct.port or 5432, "user": direct.username or "postgres"}
    settings.write_text(SETTINGS.format(own_port=port, **given), encoding="ascii")
    url = f"postgresql://{given['user']}@127.0.0.1:{port}{direct.path}"
    with subprocess.Popen([*privileges.prefix(Path(POOLER)), POOLER, "-q", str(settings)]) as pooler:
        try:
            assert until(lambda: answers(url))
            yield url
        finally:
            pooler.terminate()


def answers(url: str) -> bool:
    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError:
        return False
    return True


@pytest.mark.trial
@pytest.mark.timeout(900)  # two portals, one after the other, on a machine that may be busy
@pytest.mark.skipif(POOLER is None, reason="pgbouncer is not installed")
def test_all_processes_work_and_are_replaced_behind_a_pooler_in_session_mode(pooled, tmp_path):
    file = tmp_path / "figures.json"
    command = [sys.executable, "manage.py", "benchmark_rolling", "--rounds", "1", "--rate", "2", "--feeds", "20"]
    environment = os.environ | {"DATABASE_URL": pooled, "WIREBEAT_NO_VENV": "1"}
    done = subprocess.run(
        [*command, "--json", str(file)], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads(file.read_text())
    assert (figures["errors"], figures["replaced"]) == (0, 4)
    assert min(figures["requests"], figures["retrievals"]) > 0
