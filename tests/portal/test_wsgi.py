"""What a web process has done before it is forked."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lab import throwaway

ROOT = Path(__file__).resolve().parents[2]
LOAD = "import portal.wsgi; from apps.search.queries import spelling; print(spelling._known is not None)"


def load(database: str, var: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """Import the module in a process of its own, which prints whether a search was answered."""
    environment = os.environ | settings | {"DATABASE_URL": database, "WIREBEAT_VAR": str(var)}
    return subprocess.run(
        [sys.executable, "-c", LOAD], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({}, id="own", marks=pytest.mark.trial),
        pytest.param({"WIREBEAT_HOSTS": "news.example", "WIREBEAT_TLS": "yes"}, id="tls"),
        pytest.param({"WIREBEAT_HOSTS": "*"}, id="any", marks=pytest.mark.trial),
    ],
)
def test_a_search_was_answered_whatever_the_host(make_database, tmp_path, settings):
    done = load(make_database(throwaway.TEMPLATE), tmp_path, **settings)
    assert (done.stdout, done.stderr) == ("True\n", "")


@pytest.mark.parametrize("hosts", ["localhost", pytest.param(",", marks=pytest.mark.trial)])
def test_nothing_is_answered_from_an_empty_database(make_database, tmp_path, hosts):
    done = load(make_database(), tmp_path, WIREBEAT_HOSTS=hosts)
    assert (done.stdout, done.stderr) == ("False\n", "")


@pytest.mark.trial
def test_a_portal_without_hosts_starts(make_database, tmp_path):
    assert load(make_database(throwaway.TEMPLATE), tmp_path, WIREBEAT_HOSTS=",").returncode == 0
