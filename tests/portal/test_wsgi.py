"""What a web process has done before it is forked."""

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from lab import throwaway

ROOT = Path(__file__).resolve().parents[2]
LOAD = "import portal.wsgi; from apps.search.queries import spelling; print(spelling._known is not None)"
LOAD_AGAIN = f"""
import importlib, sys
{LOAD}
from django.db import connection
connection.close()
connection.settings_dict["NAME"] = sys.argv[1]
importlib.reload(portal.wsgi)
print(spelling._known is not None)
"""


def load(database: str, var: Path, code: str = LOAD, *arguments: str, **settings: str):
    """Import the module in a process of its own, which prints whether a search was answered."""
    environment = os.environ | settings | {"DATABASE_URL": database, "WIREBEAT_VAR": str(var)}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def test_a_search_was_answered_unless_the_database_was_empty(make_database, tmp_path):
    """Both in one process, which takes seconds to start."""
    empty, migrated = make_database(), make_database(throwaway.TEMPLATE)
    name = urlsplit(migrated).path.removeprefix("/")
    done = load(empty, tmp_path, LOAD_AGAIN, name, WIREBEAT_HOSTS="news.example", WIREBEAT_TLS="yes")
    assert (done.stdout, done.stderr) == ("False\nTrue\n", "")


@pytest.mark.trial
@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({}, id="own"),
        pytest.param({"WIREBEAT_HOSTS": "news.example", "WIREBEAT_TLS": "yes"}, id="tls"),
        pytest.param({"WIREBEAT_HOSTS": "*"}, id="any"),
    ],
)
def test_a_search_was_answered_whatever_the_host(make_database, tmp_path, settings):
    done = load(make_database(throwaway.TEMPLATE), tmp_path, **settings)
    assert (done.stdout, done.stderr) == ("True\n", "")


@pytest.mark.trial
@pytest.mark.parametrize("hosts", ["localhost", ","])
def test_nothing_is_answered_from_an_empty_database(make_database, tmp_path, hosts):
    done = load(make_database(), tmp_path, WIREBEAT_HOSTS=hosts)
    assert (done.stdout, done.stderr) == ("False\n", "")


@pytest.mark.trial
def test_a_portal_without_hosts_starts(make_database, tmp_path):
    assert load(make_database(throwaway.TEMPLATE), tmp_path, WIREBEAT_HOSTS=",").returncode == 0
