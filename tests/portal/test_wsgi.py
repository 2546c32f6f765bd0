"""What a web process has done before it is forked."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lab import throwaway

ROOT = Path(__file__).resolve().parents[2]
LOAD = "import portal.wsgi; from apps.search.queries import spelling; print(spelling._known is not None)"


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({}, id="own", marks=pytest.mark.trial),
        pytest.param({"WIREBEAT_HOSTS": "news.example", "WIREBEAT_TLS": "yes"}, id="tls"),
        pytest.param({"WIREBEAT_HOSTS": "*"}, id="any", marks=pytest.mark.trial),
    ],
)
def test_a_search_was_answered_whatever_the_host(make_database, tmp_path, settings):
    settings |= {"DATABASE_URL": make_database(throwaway.TEMPLATE), "WIREBEAT_VAR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", LOAD], cwd=ROOT, env=os.environ | settings, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("True\n", "")


@pytest.mark.parametrize("hosts", ["localhost", pytest.param(",", marks=pytest.mark.trial)])
def test_nothing_is_answered_from_an_empty_database(make_database, tmp_path, hosts):
    settings = {"DATABASE_URL": make_database(), "WIREBEAT_VAR": str(tmp_path), "WIREBEAT_HOSTS": hosts}
    done = subprocess.run(
        [sys.executable, "-c", LOAD], cwd=ROOT, env=os.environ | settings, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("False\n", "")


def test_a_portal_without_hosts_starts(make_database, tmp_path):
    settings = {"DATABASE_URL": make_database(throwaway.TEMPLATE), "WIREBEAT_VAR": str(tmp_path), "WIREBEAT_HOSTS": ","}
    done = subprocess.run(
        [sys.executable, "-c", "import portal.wsgi"],
        cwd=ROOT,
        env=os.environ | settings,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0
