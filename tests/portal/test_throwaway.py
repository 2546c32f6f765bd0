"""Servers that live as long as one command."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OWNER = """
import sys
from lab import throwaway
sys.exit(throwaway.run([sys.executable, "-c", sys.argv[1]], throwaway.FOR_TESTS, migrated=False))
"""
SAY_WHERE = "import os; print(os.environ['DATABASE_URL'].partition('host=')[2], flush=True)\n"
START_BOTH = """
import os, psycopg, redis
with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
    print(connection.execute("SHOW fsync").fetchone()[0])
print(redis.Redis.from_url(os.environ["CACHE_URL"]).ping(), os.environ["WIREBEAT_THROWAWAY"])
"""


@pytest.fixture
def folder():
    """A temporary folder of our own, since every start cleans up in it."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def run(code, folder, **options):
    return subprocess.Popen(
        [sys.executable, "-c", OWNER, code],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ | {"TMPDIR": str(folder)},
        start_new_session=True,
        **options,
    )


@pytest.mark.trial
def test_a_command_finds_its_servers_and_nothing_is_left_of_them(folder):
    with run(START_BOTH + SAY_WHERE + "exit(7)", folder) as owner:
        fsync, valkey, sockets = owner.stdout.read().splitlines()
    assert (fsync, valkey) == ("off", "True 1")
    assert owner.returncode == 7
    assert not Path(sockets).exists()
    assert list(folder.iterdir()) == []


def test_a_request_to_stop_is_passed_on_once_to_a_command_that_has_found_its_servers(folder):
    code = (
        "import os, signal, sys\n"
        "def stop(*_):\n"
        "    os.write(1, b'told\\n'); sys.exit(3)\n"  # a print may be under way
        "signal.signal(signal.SIGTERM, stop); print('up', flush=True)\n"
        "while True: signal.pause()"
    )
    with run(START_BOTH + SAY_WHERE + code, folder) as owner:
        fsync, valkey, sockets, up = [owner.stdout.readline().strip() for _ in range(4)]
        assert (fsync, valkey, up) == ("off", "True 1", "up")
        assert Path(sockets).exists()
        owner.send_signal(signal.SIGTERM)
        assert owner.stdout.read() == "told\n"
    assert owner.returncode == 3
    assert not Path(sockets).exists()
    assert list(folder.iterdir()) == []


@pytest.mark.trial
def test_after_a_kill_the_servers_die_and_the_next_one_cleans_up(folder, until):
    with run(SAY_WHERE + "import time; time.sleep(600)", folder) as owner:
        sockets = Path(owner.stdout.readline().strip())
        assert (sockets / ".s.PGSQL.5432").exists()
        owner.kill()
    assert until(lambda: not (sockets / ".s.PGSQL.5432").exists(), within=5)
    assert len(list(folder.glob("wirebeat-throwaway-*"))) == 1
    with run("pass", folder) as owner:
        assert owner.wait(60) == 0
    assert list(folder.glob("wirebeat-throwaway-*")) == []
    assert not sockets.exists()


@pytest.mark.trial
def test_two_at_once_leave_each_other_alone(folder):
    with run(SAY_WHERE + "input()", folder, stdin=subprocess.PIPE) as first:
        first.stdout.readline()
        with run(START_BOTH, folder) as second:
            assert second.wait(60) == 0
        assert len(list(folder.glob("wirebeat-throwaway-*"))) == 1
        first.stdin.write("\n")
    assert first.returncode == 0
