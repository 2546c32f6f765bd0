"""Processes that are forked from one which has loaded the program."""

import os
import signal
import sys
from pathlib import Path

import pytest

from apps.database import machine
from apps.database.machine import memory
from portal.launcher import servers, startup
from portal.launcher.console import NORMAL, Console
from portal.launcher.nursery import Nursery
from portal.launcher.supervisor import Program, Supervisor

ROOT = Path(__file__).resolve().parents[2]
MODULE = "tests.portal.forked_program"


@pytest.fixture(scope="module")
def nursery():
    nursery = Nursery(os.environ, ROOT)
    yield nursery
    nursery.end()


@pytest.fixture
def supervisor(tmp_path, nursery):
    supervisor = Supervisor(Console(tmp_path, NORMAL), nursery=nursery)
    yield supervisor
    supervisor.nursery = None  # it is shared
    supervisor.stop()


def program(*arguments, **options):
    command = [sys.executable, "-m", MODULE, *arguments]
    return Program(name="worker", command=command, directory=ROOT, is_forked=True, **options)


def log_of(supervisor, tmp_path, until):
    file = tmp_path / "worker.log"
    assert until(lambda: file.exists() and "ready" in file.read_text())
    return file.read_text()


def test_a_forked_program_is_our_child_and_has_its_arguments_its_log_and_what_was_loaded(supervisor, tmp_path, until):
    supervisor.start(program("one", "two"))
    child = supervisor.stages[0][0].process
    assert log_of(supervisor, tmp_path, until).splitlines() == [
        f"['one', 'two'] child of {os.getpid()}, leads group {child.pid}, loaded True, nice {os.nice(0)}",
        "ready",
    ]
    assert Path(f"/proc/{child.pid}/comm").read_text() == "wirebeat worker\n"
    supervisor.nursery = None
    supervisor.stop()
    assert child.returncode == -signal.SIGTERM


@pytest.mark.parametrize("is_forked", [True, False])
@pytest.mark.parametrize(("is_renewed", "badness"), [(False, 0), (True, 500)])
def test_the_kernel_ends_workers_before_what_all_share(supervisor, is_forked, is_renewed, badness):
    supervisor.start(program("one", is_renewed=is_renewed)._replace(is_forked=is_forked))
    process = supervisor.stages[0][0].process.pid
    added = int(Path(f"/proc/{process}/oom_score_adj").read_text()) - int(Path("/proc/self/oom_score_adj").read_text())
    assert added == badness


def test_it_gives_way_as_its_command_says_and_inherits_files(supervisor, tmp_path, until):
    reading, writing = os.pipe()
    giving_way = program("write", str(writing), files=(writing,))
    command = ["nice", "-n", "7", *giving_way.command]
    supervisor.start(Program(name="worker", command=command, directory=ROOT, is_forked=True, files=(writing,)))
    os.close(writing)
    assert f"nice {os.nice(0) + 7}\n" in log_of(supervisor, tmp_path, until)
    with open(reading, "rb") as file:
        assert file.readline() == b"written\n"


def test_a_program_that_ends_at_once_has_its_code(supervisor):
    with pytest.raises(Exception, match=r"worker failed \(code 3\)"):
        supervisor.finish(program("exit", "3"))


def test_without_the_nursery_programs_start_by_their_commands(supervisor, tmp_path, until):
    supervisor.nursery = Nursery(os.environ, ROOT)
    os.kill(supervisor.nursery._process.pid, signal.SIGKILL)
    assert until(lambda: supervisor.nursery._process.poll() is not None)
    supervisor.start(program("one"))
    assert "loaded False" in log_of(supervisor, tmp_path, until)
    supervisor.nursery.end()


@pytest.mark.parametrize(
    ("groups", "limits", "expected"),
    [
        ("0::/a/b", {"a/memory.max": "400000000"}, 400_000_000),
        ("0::/a", {"a/memory.max": "max", "memory.max": "500000000"}, 500_000_000),
        ("4:memory:/a\n0::/", {"memory/a/memory.limit_in_bytes": "600000000"}, 600_000_000),
        ("3:cpuset:/", {}, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")),
    ],
    ids=["group above", "container", "version 1", "none"],
)
def test_the_memory_is_that_of_the_control_group(tmp_path, groups, limits, expected):
    for name, limit in limits.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{limit}\n")
    assert memory(groups, tmp_path) == expected


@pytest.mark.parametrize(
    ("size", "threads", "queues", "buffers"),
    [(2**29, "3", "retrieval,retrieval-first,celery", "32MB"), (2**32, "8", "retrieval,retrieval-first", "512MB")],
)
def test_a_small_machine_works_on_less_at_once(monkeypatch, size, threads, queues, buffers):
    monkeypatch.setattr(machine, "memory", lambda: size)
    line = startup.commands()["retrieval"]
    assert line[line.index("--concurrency") + 1] == threads
    assert line[line.index("--queues") + 1] == queues
    assert servers.postgres_settings()["shared_buffers"] == buffers
