"""Order, readiness, restarts and their back-off, with small programs."""

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from apps.database import machine
from portal.launcher import console as consoles
from portal.launcher import processes, progress
from portal.launcher import supervisor as supervising
from portal.launcher.console import NORMAL, QUIET, VERBOSE, Console
from portal.launcher.embedded import StartError
from portal.launcher.processes import Stopped
from portal.launcher.supervisor import CALM, Child, Program, Supervisor

ROOT = Path(__file__).resolve().parents[2]
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); signal.pause()"


@pytest.fixture
def supervisor(tmp_path):
    supervisor = Supervisor(Console(tmp_path, NORMAL))
    yield supervisor
    supervisor.stop()


def python(name, code, **options):
    return Program(name=name, command=[sys.executable, "-c", code], **options)


def test_a_stage_is_ready_before_the_next_one_starts(supervisor, tmp_path):
    mark = tmp_path / "mark"
    first = python(
        "first", f"import time; time.sleep(0.1); open({str(mark)!r}, 'w'); time.sleep(60)", is_ready=mark.exists
    )
    supervisor.start(first)
    assert mark.exists()


def test_a_program_that_ends_before_it_is_ready_is_reported_with_its_last_output(supervisor, capsys):
    with pytest.raises(StartError, match="web ended with code 3 before it was ready"):
        supervisor.start(python("web", "print('no such port'); exit(3)", is_ready=lambda: False))
    assert "web | no such port" in capsys.readouterr().out


def test_a_program_that_is_never_ready_fails_the_start(supervisor):
    with pytest.raises(StartError, match=r"web was not ready after . s, and made no progress for the last 1 s"):
        supervisor.start(python("web", "import time; time.sleep(60)", is_ready=lambda: False, stalled_after=1.0))


def test_a_failing_preparation_stops_the_start(supervisor):
    with pytest.raises(StartError, match=r"preparation failed \(code 7\)"):
        supervisor.finish(python("preparation", "exit(7)"))


def test_a_preparation_that_says_why_it_failed_is_quoted_without_another_line(supervisor, capsys):
    with pytest.raises(StartError, match=r"^the database is away$"):
        supervisor.finish(python("preparation", "import sys; sys.exit('the database is away')"))
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(("verbosity", "shown"), [(NORMAL, ["  3 of 9", "password"]), (QUIET, ["password"])])
def test_a_preparation_shows_its_steps_unless_only_results_are_wanted(tmp_path, capsys, verbosity, shown):
    Supervisor(Console(tmp_path, verbosity)).finish(python("preparation", "print('  3 of 9'); print('password')"))
    assert [line for line in capsys.readouterr().out.splitlines() if "done" not in line] == shown
    assert list(tmp_path.iterdir()) == []  # a password is in no log


def test_a_stalled_preparation_fails_the_start(supervisor):
    with pytest.raises(StartError, match="made no progress"):
        supervisor.finish(python("preparation", "import time; time.sleep(60)", stalled_after=1.0))


# For two seconds, several times as busy as a program that makes progress is at least.
BUSY = """
import time
end = time.monotonic() + 2
while time.monotonic() < end:
    enough = time.process_time() + 0.01
    while time.process_time() < enough: pass
    time.sleep(0.08)
"""


@pytest.mark.parametrize(
    "work",
    [
        BUSY,
        "for number in range(10): print(number, flush=True); time.sleep(0.2)",
        f"subprocess.run([sys.executable, '-c', {BUSY!r}])",
    ],
    ids=["cpu", "output", "cpu of a child"],
)
def test_a_slow_program_that_makes_progress_is_waited_for(supervisor, tmp_path, work):
    mark = tmp_path / "mark"
    code = f"import subprocess, sys, time\n{work}\nopen({str(mark)!r}, 'w')\ntime.sleep(60)"
    supervisor.start(python("web", code, is_ready=mark.exists, stalled_after=1.0))
    assert mark.exists()


def test_a_slow_start_is_reported_with_its_step(supervisor, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(progress, "REPORT_AFTER", 0.2)
    mark = tmp_path / "mark"
    code = f"import time; time.sleep(1); open({str(mark)!r}, 'w'); time.sleep(60)"
    supervisor.start(python("web", code, is_ready=mark.exists))
    assert "  web is still starting after " in capsys.readouterr().out


def test_an_ended_program_restarts_and_is_announced_in_one_line(supervisor, capsys, tmp_path, until):
    prepared = []

    def prepare():
        prepared.append(time.monotonic())
        if len(prepared) == 3:
            raise Stopped(signal.SIGINT, by_terminal=False)

    supervisor.start(python("beat", "exit(5)", prepare=prepare))
    with pytest.raises(Stopped):
        supervisor.watch()
    assert prepared[2] - prepared[1] >= 1.0
    lines = [line for line in capsys.readouterr().out.splitlines() if "started again" in line]
    assert lines == [
        "beat ended with code 5; it is started again now.",
        "beat ended with code 5; it is started again in 1 s.",
    ]


def test_restarts_become_rarer_until_the_program_is_calm():
    child = Child(Program(name="web", command=["true"]))
    child.started_at = time.monotonic()
    assert [child.delay_of_restart() for _ in range(8)] == [0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]
    child.started_at -= CALM + 1
    assert child.delay_of_restart() == 0.0


def test_a_program_that_does_not_stop_in_time_gets_the_last_signal(supervisor, tmp_path, until, capsys):
    supervisor.start(python("worker", STUBBORN, stop_within=0.1))
    assert until(lambda: "deaf" in (tmp_path / "worker.log").read_text())
    child = supervisor.stages[0][0]
    supervisor.stop()
    assert child.process.returncode == -signal.SIGKILL
    assert "worker takes too long to stop; it gets SIGKILL." in capsys.readouterr().out


def test_the_latest_stage_is_stopped_first(supervisor, tmp_path, until):
    order = tmp_path / "order"
    code = (
        "import signal, sys\n"
        "def stop(*_):\n"
        f"    open({str(order)!r}, 'a').write(sys.argv[1]); sys.exit()\n"
        "signal.signal(signal.SIGTERM, stop); print('up', flush=True); signal.pause()"
    )
    for name in "abc":
        supervisor.start(Program(name=name, command=[sys.executable, "-c", code, name]))
        assert until(lambda name=name: "up" in (tmp_path / f"{name}.log").read_text())
    supervisor.stop()
    assert order.read_text() == "cba"


@pytest.mark.parametrize(("verbosity", "shown"), [(QUIET, ""), (NORMAL, ""), (VERBOSE, "web      | hello\n")])
def test_output_of_programs_is_in_their_logs(verbosity, shown, tmp_path, capsys):
    console = Console(tmp_path, verbosity)
    process = subprocess.Popen(["echo", "hello"], stdout=subprocess.PIPE)
    console.follow("web", process)
    process.wait()
    console.forget("web")
    assert (tmp_path / "web.log").read_text() == "hello\n"
    assert capsys.readouterr().out == shown


def test_logs_are_rotated(tmp_path, monkeypatch):
    monkeypatch.setattr(consoles, "MAX_LOG_BYTES", 1_000)
    console = Console(tmp_path, QUIET)
    process = subprocess.Popen(["seq", "1000"], stdout=subprocess.PIPE)
    console.follow("web", process)
    process.wait()
    console.forget("web")
    files = sorted(tmp_path.iterdir())
    assert [file.name for file in files] == ["web.log", "web.log.1", "web.log.2"]
    assert all(file.stat().st_size <= 1_000 for file in files)
    assert files[0].read_text().endswith("1000\n")


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_logs_are_private_whatever_the_umask(tmp_path, monkeypatch, umask):
    monkeypatch.setattr(consoles, "MAX_LOG_BYTES", 1_000)
    logs = tmp_path / "var" / "log"
    logs.mkdir(parents=True)
    for earlier in ("web.log", "web.log.2"):
        (logs / earlier).touch()
        (logs / earlier).chmod(0o644)
    before = os.umask(umask)
    try:
        console = Console(logs, QUIET)
        process = subprocess.Popen(["seq", "300"], stdout=subprocess.PIPE)
        console.follow("web", process)
        process.wait()
        console.forget("web")
    finally:
        os.umask(before)
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in logs.iterdir()}
    assert modes == dict.fromkeys(["web.log", "web.log.1", "web.log.2"], 0o640)
    assert stat.S_IMODE(logs.stat().st_mode) == 0o750


def test_a_vanished_terminal_is_no_reason_to_fail(tmp_path):
    code = (
        "from pathlib import Path; from portal.launcher.console import Console; Console(Path()).warn('unread'); exit(4)"
    )
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.run([sys.executable, "-c", code], stdout=writer, stderr=subprocess.PIPE, cwd=ROOT, check=False)
    os.close(writer)
    assert process.returncode == 4, process.stderr


LARGE_MACHINE = 2**33  # bytes of memory
HUGE = "import signal; kept = bytearray(192 * 2**20); print('ready', flush=True); signal.pause()"
LARGE = "import signal; kept = bytearray(96 * 2**20); print('ready', flush=True); signal.pause()"
SMALL = "import signal; print('ready', flush=True); signal.pause()"


@pytest.mark.parametrize(
    ("code", "life", "worked", "memory", "is_renewed"),
    [
        (LARGE, 0.0, 0.0, LARGE_MACHINE, True),
        (SMALL, 0.0, 0.0, LARGE_MACHINE, False),
        (LARGE, 0.0, 1.0, LARGE_MACHINE, False),
        pytest.param(LARGE, supervising.MIN_LIFE, 0.0, LARGE_MACHINE, False, marks=pytest.mark.trial),
        pytest.param(HUGE, supervising.MIN_LIFE, 1.0, LARGE_MACHINE, False, marks=pytest.mark.trial),
        (HUGE, supervising.MIN_LIFE, 1.0, machine.SMALL // 2, True),
        pytest.param(LARGE, supervising.MIN_LIFE, 1.0, machine.SMALL // 2, False, marks=pytest.mark.trial),
    ],
    ids=["large", "small", "busy", "young", "huge", "huge on a small machine", "large on a small machine"],
)
def test_an_idle_worker_with_much_memory_restarts_silently(
    supervisor, monkeypatch, capsys, tmp_path, until, code, life, worked, memory, is_renewed
):
    monkeypatch.setattr(machine, "memory", lambda: memory)
    monkeypatch.setattr(supervising, "MIN_LIFE", life)
    supervisor.start(python("derive", code, is_renewed=True), python("web", code))
    children = supervisor.stages[0]
    assert until(lambda: all("ready" in (tmp_path / f"{name}.log").read_text() for name in ("derive", "web")))
    before = [child.process.pid for child in children]
    for child in children:
        child.used = processes.own_cpu_seconds(child.process.pid) - worked
        child.renew()
    assert [child.is_leaving for child in children] == [is_renewed, False]
    assert until(lambda: children[0].has_ended() == is_renewed)
    for child in children:
        supervisor._restart(child)
    assert [child.process.pid != pid for child, pid in zip(children, before, strict=True)] == [is_renewed, False]
    assert capsys.readouterr().out == ""
