"""The portal's start and stop with real servers, and real kills."""

import fcntl
import os
import pty
import shutil
import signal
import socket
import subprocess
import sys
import termios
import urllib.request
from pathlib import Path

import psutil
import pytest
import redis

from lab import throwaway
from portal.launcher import embedded, servers
from tests.portal.conftest import building, parents

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.timeout(900)  # s; the real portal runs all migrations, and the machine may be busy
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


def is_answered(address):
    with urllib.request.urlopen(address, timeout=60) as answer:
        return answer.status == 200


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(signal.SIGINT, marks=pytest.mark.trial),
        signal.SIGTERM,
        pytest.param(signal.SIGHUP, marks=pytest.mark.trial),
    ],
)
def test_a_request_to_stop_leaves_nothing_behind_and_is_no_failure(house, number):
    # The tests may run with the signal ignored (nohup, a job in the background), and children inherit that.
    house.start(preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
    assert is_answered(house.address)
    assert house.stop(number) == 0
    assert house.all_gone()
    assert "nothing is left running" in house.output
    assert not embedded.run_directory(house.var).exists()


def test_the_first_start_makes_the_database_and_later_ones_keep_it(make_house, tmp_path):
    house = make_house(tmp_path / "var", with_cluster=False).start()
    house.note("kept")
    for folder in ("pg", "valkey"):
        assert (house.var / folder).stat().st_mode & 0o777 == 0o700
    assert house.stop() == 0
    assert "kept" in house.start().notes()


@pytest.mark.trial
def test_ctrl_c_in_a_terminal_stops_the_worker_before_the_database(house, until):
    ours, theirs = pty.openpty()
    house.start(preexec_fn=lambda: fcntl.ioctl(theirs, termios.TIOCSCTTY, 0), pass_fds=(theirs,))
    os.close(theirs)
    assert until(lambda: "working" in house.log("worker"))
    os.write(ours, b"\x03")
    assert house.process.wait(60) == 0
    os.close(ours)
    assert house.all_gone()
    assert "stopped by SIGTERM" in house.log("worker")  # not by the terminal, and after a last write to the database
    assert "Error" not in house.log("worker")


def test_a_stop_during_the_start_leaves_nothing_behind(house, until):
    house.launch()
    assert until(lambda: (house.var / "pg" / "postmaster.pid").exists())
    house.watch_family()
    assert house.stop() == 0
    assert house.all_gone()


@pytest.mark.trial
def test_below_nohup_the_end_of_the_terminal_stops_nothing(house, until):
    house.start(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    house.process.send_signal(signal.SIGHUP)
    with pytest.raises(subprocess.TimeoutExpired):
        house.process.wait(0.7)
    assert house.stop() == 0


@pytest.mark.trial
def test_two_data_folders_run_side_by_side(make_house, tmp_path):
    one, other = make_house(tmp_path / "one" / "var").start(), make_house(tmp_path / "other" / "var").start()
    assert one.address != other.address
    one.note("of one")
    assert other.notes() == []
    assert one.stop() == 0
    assert is_answered(other.address)
    assert other.stop() == 0


def test_a_taken_port_is_named(house):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        house.launch(str(port))
        assert house.process.wait(60) == 1
    assert house.output == f"Cannot listen on port {port} of 127.0.0.1: Address already in use.\n"


@pytest.mark.trial
def test_a_long_and_odd_path_is_no_obstacle(make_house, tmp_path):
    odd = 'it\'s "quite" ödd %s & $HOME'
    house = make_house(tmp_path.joinpath(odd, *["a very deep folder indeed"] * 9, "var"))
    assert len(str(house.var)) > 283
    house.start()
    assert house.notes() == []
    assert house.broker().ping()
    assert house.stop() == 0


def test_when_the_supervisor_is_killed_all_it_started_is_gone_soon(house, until):
    house.start()
    house.process.kill()
    house.process.wait(60)
    assert until(house.all_gone, within=5)
    assert house.start().stop() == 0


def test_after_a_power_failure_the_data_is_there(house):
    house.start()
    house.note("before the failure")
    house.kill_all()
    # What Postgres would refuse to start over:
    assert (house.var / "pg" / "postmaster.pid").exists()
    assert (embedded.run_directory(house.var) / ".s.PGSQL.5432.lock").exists()
    house.start()
    assert house.notes() == ["before the failure"]
    assert house.stop() == 0


@pytest.mark.trial
def test_a_stale_process_id_may_belong_to_another_process(house):
    house.start()
    house.kill_all()
    bystander = subprocess.Popen(["sleep", "infinity"])
    try:
        for file in (house.var / "pg" / "postmaster.pid", embedded.run_directory(house.var) / ".s.PGSQL.5432.lock"):
            file.write_text(f"{bystander.pid}\n" + file.read_text().partition("\n")[2])
        assert house.start().stop() == 0
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


@pytest.mark.trial
def test_an_empty_process_id_file_is_no_obstacle(house):
    (house.var / "pg" / "postmaster.pid").touch()
    assert house.start().stop() == 0


def test_servers_that_outlived_their_supervisor_are_stopped_first(house, until):
    sockets = embedded.make_run_directory(house.var)
    (house.var / "valkey").mkdir()
    programs = servers.postgres(house.var / "pg", sockets, {}), servers.valkey(house.var / "valkey", sockets)
    earlier = [subprocess.Popen(program.command, stderr=subprocess.DEVNULL) for program in programs]
    assert until(lambda: all(program.is_ready() for program in programs))
    house.start()
    assert [process.wait(60) for process in earlier] == [0, 0]  # politely
    assert house.notes() == []
    assert house.stop() == 0


@pytest.mark.trial
def test_an_incomplete_database_of_an_interrupted_start_is_replaced(make_house, tmp_path, until):
    house = make_house(tmp_path / "var", with_cluster=False).launch()
    assert until(lambda: (house.var / "pg.new" / "PG_VERSION").exists())
    house.watch_family()
    house.kill_all()
    assert not (house.var / "pg").exists()
    house.start()
    assert not (house.var / "pg.new").exists()
    assert house.stop() == 0


def test_a_database_of_another_postgres_is_refused_with_a_sentence(house):
    (house.var / "pg" / "PG_VERSION").write_text("12\n")
    house.launch()
    assert house.process.wait(60) == 1
    assert "was made by Postgres 12, but" in house.output


@pytest.mark.trial
def test_servers_come_back_after_a_cleaner_of_temporary_files_took_their_sockets(house, until):
    house.start()
    house.note("before")
    shutil.rmtree(embedded.run_directory(house.var))
    os.kill(house.postmaster(), signal.SIGKILL)
    assert until(house.answers)
    assert house.notes() == ["before"]
    assert house.stop() == 0


@pytest.mark.trial
def test_a_killed_valkey_is_back_with_its_data(house, until):
    house.start()
    house.broker().set("word", "before")
    assert until(lambda: house.valkey_has_written("before"))
    before = house.valkey()
    os.kill(before, signal.SIGKILL)

    def is_back():
        try:
            return house.broker().get("word") == b"before"
        except redis.ConnectionError:
            return False

    assert until(is_back)
    assert house.valkey() != before
    assert house.stop() == 0


@pytest.fixture(scope="class")
def running(cluster, tmp_path_factory):
    """It is started once for the tests of a class, which leave it running."""
    with building(cluster) as make:
        house = make(tmp_path_factory.mktemp("running") / "var").start()
        yield house
        assert house.stop() == 0


class TestAPortalThatRuns:
    def test_a_second_start_says_that_the_portal_runs_and_where(self, running, tmp_path):
        second = type(running)(running.var, log_file=tmp_path / "second")
        second.launch()
        assert second.process.wait(60) == 1
        assert second.output == f"Wirebeat is already running here: {running.address}\n"

    def test_a_killed_postgres_is_back_with_its_data(self, running, until):
        running.note("before")
        before = running.postmaster()
        os.kill(before, signal.SIGKILL)
        assert until(lambda: "postgres was ended by SIGKILL; it is started again now." in running.output)
        assert until(running.answers)
        assert running.postmaster() != before
        assert running.notes() == ["before"]

    def test_a_killed_site_keeps_its_address_and_refuses_no_connection(self, running, until):
        before = running.child("http.server")
        os.kill(before, signal.SIGKILL)
        assert is_answered(running.address)
        assert until(lambda: running.child("http.server") != before)
        assert "web was ended by SIGKILL; it is started again now." in running.output


def test_given_servers_are_used_and_none_is_started(house, make_house, tmp_path, until):
    house.start()
    urls = {
        "DATABASE_URL": embedded.database_url(house.var),
        "BROKER_URL": embedded.broker_url(house.var),
        "CACHE_URL": embedded.cache_url(house.var),
    }
    guest = make_house(tmp_path / "guest" / "var", with_cluster=False, environment=urls).start()
    assert not (guest.var / "pg").exists()
    assert not (guest.var / "valkey").exists()
    assert until(lambda: "working" in guest.log("worker"))
    assert guest.stop() == 0
    assert house.notes() == ["written while stopping"]  # by the guest's worker
    assert house.stop() == 0


@as_root
@pytest.mark.trial
def test_root_runs_postgres_in_a_user_namespace(house):
    house.start()
    if os.stat(f"/proc/{house.postmaster()}").st_uid != 0:
        pytest.skip("root may not have user namespaces here")
    assert os.readlink(f"/proc/{house.postmaster()}/ns/user") != os.readlink("/proc/self/ns/user")
    assert house.stop() == 0


@as_root
@pytest.mark.trial
def test_root_without_user_namespaces_runs_postgres_as_an_account(make_house, open_folder):
    no_namespaces = open_folder / "bin" / "unshare"
    no_namespaces.parent.mkdir()
    no_namespaces.write_text("#!/bin/sh\nexit 1\n")
    no_namespaces.chmod(0o755)
    path = f"{no_namespaces.parent}{os.pathsep}{os.environ['PATH']}"
    house = make_house(open_folder / "var", with_cluster=False, environment={"PATH": path})
    known = "wirebeat:" in Path("/etc/passwd").read_text()
    try:
        house.start()
        assert os.stat(f"/proc/{house.postmaster()}").st_uid != 0
        house.note("kept")
        house.kill_all()
        assert house.start().notes() == ["kept"]
        assert house.stop() == 0
    finally:
        if not known:
            subprocess.run(["userdel", "wirebeat"], check=False, capture_output=True)


@as_root
@pytest.mark.trial
def test_a_normal_user_starts_it_too(make_house, open_folder):
    as_other_user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    if subprocess.run([*as_other_user, "test", "-x", sys.executable], check=False).returncode:
        pytest.skip(f"other users may not run {sys.executable}")
    house = make_house(open_folder / "var", with_cluster=False, environment={"HOME": str(open_folder)})
    os.chown(house.var, 65534, 65534)
    house.command[:0] = as_other_user
    house.start()
    assert os.stat(f"/proc/{house.postmaster()}").st_uid == 65534
    assert house.stop() == 0
    assert house.all_gone()


@pytest.fixture
def real_house(make_house, tmp_path):
    """The real portal, not started yet."""
    command = [sys.executable, str(ROOT / "manage.py"), "up"]
    environment = {"WIREBEAT_NO_VENV": "1", "WIREBEAT_STARTER_EDITION": "no"}  # its feeds are on the internet
    house = make_house(tmp_path / "var", with_cluster=False, command=command, environment=environment)
    throwaway.copy_migrated_cluster(house.var / "pg")
    return house


def children(process):
    return {child for child, parent in parents().items() if parent == process}


def sites(house):
    """First processes of gunicorn, and orphans of one."""
    found = psutil.process_iter(["ppid", "name"])  # without those that end meanwhile
    return {each.pid for each in found if each.info == {"ppid": house.process.pid, "name": "wirebeat web"}}


def kill_master(house, until):
    """Kill gunicorn's first process; its own id, and those of its workers."""
    [master] = sites(house)
    assert until(lambda: len(children(master)) == 1)
    workers = children(master)
    os.kill(master, signal.SIGKILL)
    return master, workers


@pytest.mark.trial
def test_the_real_portal_replaces_a_killed_site_and_stops_as_it_should_however_it_is_stopped(real_house, until):
    house = real_house.start()
    before, workers = kill_master(house, until)

    assert until(lambda: sites(house) - workers - {before})
    [master] = sites(house) - workers - {before}
    assert until(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))
    assert until(lambda: len(children(master)) == 1)
    assert is_answered(f"{house.address}health/live")
    kill_master(house, until)  # and a kill at this moment leaves nothing behind
    house.watch_family()
    house.process.kill()
    house.process.wait(60)
    assert until(house.all_gone)  # the database first writes what it holds

    house.start()
    assert is_answered(f"{house.address}health/live")
    kill_master(house, until)  # nor does a stop
    house.watch_family()
    assert house.stop() == 0
    assert until(house.all_gone)
