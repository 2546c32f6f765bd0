"""Starts that meet on one database: each succeeds, and the work is done once.

`WIREBEAT_SIMULTANEOUS_STARTS=20 manage.py test tests/portal/test_simultaneous_starts.py` has two meet that often.
"""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from apps.database import schema
from portal.launcher import embedded, preparation, servers
from portal.launcher.console import QUIET, Console
from portal.launcher.supervisor import Supervisor

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.timeout(900)  # s; each start runs all migrations, and the machine may be busy
ROUNDS = int(os.environ.get("WIREBEAT_SIMULTANEOUS_STARTS", "1"))


def begin(url, var, output, *arguments):
    var.mkdir(exist_ok=True)
    with output.open("wb") as file:
        return subprocess.Popen(
            [sys.executable, "-m", "portal.launcher.preparation", *arguments],
            cwd=ROOT,
            env=os.environ | {"DATABASE_URL": url, "WIREBEAT_VAR": str(var)},
            stdout=file,
            stderr=subprocess.STDOUT,
        )


def state(url):
    """How many migrations are recorded, how many of them once, how many admins there are, and how many feeds twice."""
    statement = (
        "SELECT (SELECT count(*) FROM django_migrations),"
        " (SELECT count(*) FROM (SELECT DISTINCT app, name FROM django_migrations) AS once),"
        " (SELECT count(*) FROM accounts_user WHERE is_superuser),"
        " (SELECT count(*) - count(DISTINCT url) FROM sources_source)"
    )
    with psycopg.connect(url) as connection:
        return connection.execute(statement).fetchone()


@pytest.mark.trial
def test_starts_wait_for_another_and_say_so_and_prepare_an_empty_database_once(make_database, tmp_path, until):
    url = make_database()
    outputs = [tmp_path / "one", tmp_path / "other"]
    with psycopg.connect(url, autocommit=True) as another:
        another.execute("SELECT pg_advisory_lock(%s)", [preparation.PREPARING])
        starts = [begin(url, output.with_suffix(".var"), output) for output in outputs]
        assert until(lambda: all("waiting for another start" in output.read_text() for output in outputs))
        assert another.execute("SELECT to_regclass('django_migrations')").fetchone() == (None,)
    assert [start.wait() for start in starts] == [0, 0], [output.read_text() for output in outputs]
    with psycopg.connect(url) as connection:
        assert schema.applied(connection) == schema.known()
    count = len(schema.known())
    assert state(url) == (count, count, 1, 0)


@pytest.mark.trial
@pytest.mark.parametrize("number", range(ROUNDS))
def test_two_checkouts_start_on_one_empty_database(make_database, make_house, tmp_path, number):
    real = {"command": [sys.executable, str(ROOT / "manage.py"), "up"]}
    url = make_database()
    given = {"WIREBEAT_NO_VENV": "1", "DATABASE_URL": url}
    one, other = (
        make_house(tmp_path / name / "var", with_cluster=False, environment=given, **real) for name in ("one", "other")
    )
    one.launch()
    other.launch()
    assert "is ready" in one.await_ready().output
    assert "is ready" in other.await_ready().output
    count = len(schema.known())
    assert state(url) == (count, count, 1, 0)
    assert [one.stop(), other.stop()] == [0, 0]
    assert (one.output + other.output).count("sign in as 'admin'") == 1


@pytest.mark.trial
def test_two_processes_create_the_portals_database_at_once(cluster, tmp_path):
    data, sockets = tmp_path / "pg", embedded.make_run_directory(tmp_path)
    shutil.copytree(cluster, data)
    supervisor = Supervisor(Console(tmp_path / "log", QUIET))
    try:
        supervisor.start(servers.postgres(data, sockets, servers.WITHOUT_DURABILITY))
        where = f"host={sockets} user=postgres dbname=postgres"
        for _ in range(10):
            with psycopg.connect(where, autocommit=True) as connection:
                connection.execute(f"DROP DATABASE IF EXISTS {embedded.DATABASE} WITH (FORCE)")
            with ThreadPoolExecutor() as threads:
                list(threads.map(lambda _: servers._has_database(sockets, 5432), range(4)))  # none raises
            assert servers._has_database(sockets, 5432)
    finally:
        supervisor.stop()
        shutil.rmtree(sockets)
