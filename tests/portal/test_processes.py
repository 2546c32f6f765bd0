"""Children, their ends, and the signals that are held."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from portal.launcher import processes, progress

ROOT = Path(__file__).resolve().parents[2]


def run_python(code, **options):
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=ROOT, text=True, **options)


def test_a_process_is_found_by_its_name_and_folder_and_not_when_it_is_dead(tmp_path):
    sleeper = subprocess.Popen(["sleep", "infinity"], cwd=tmp_path)
    elsewhere = subprocess.Popen(["sleep", "infinity"], cwd=tmp_path.parent)
    try:
        assert processes.living_in(tmp_path, "sleep") == {sleeper.pid}
        assert processes.living_in(tmp_path, "postgres") == set()
        sleeper.kill()
        os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)  # dead, but not reaped
        assert processes.living_in(tmp_path, "sleep") == set()
    finally:
        for process in (sleeper, elsewhere):
            process.kill()
            process.wait()


def test_a_child_gets_its_signal_when_its_parent_is_killed(until, is_running):
    parent = run_python(
        "import signal; from portal.launcher import processes\n"
        "print(processes.spawn(['sleep', 'infinity'], death_signal=signal.SIGINT).pid, flush=True)\n"
        "signal.pause()"
    )
    with parent:
        child = int(parent.stdout.readline())
        assert is_running(child)
        assert os.getpgid(child) == child
        parent.kill()
        assert until(lambda: not is_running(child), within=5)


def test_a_pool_ends_when_its_process_is_killed(until, is_running):
    parent = run_python(
        "import multiprocessing, os, time; from concurrent.futures import ProcessPoolExecutor\n"
        "from portal.launcher import processes\n"
        "context, ends = multiprocessing.get_context('spawn'), processes.end_with_parent\n"
        "pool = ProcessPoolExecutor(1, context, initializer=ends, initargs=(os.getpid(),))\n"
        "print(pool.submit(os.getpid).result(), flush=True)\n"
        "pool.submit(time.sleep, 600).result()"
    )
    with parent:
        child = int(parent.stdout.readline())
        assert is_running(child)
        parent.kill()
        assert until(lambda: not is_running(child), within=5)


def test_held_signals_interrupt_nothing_until_a_pause(until):
    process = run_python(
        "import os, time; from portal.launcher import processes\n"
        "processes.hold_signals()\n"
        "os.kill(os.getpid(), 15)\n"
        "print('still here')\n"
        "try: processes.pause(60)\n"
        "except processes.Stopped as stopped: print(stopped, stopped.by_terminal)"
    )
    assert process.communicate()[0] == "still here\nSIGTERM False\n"


def test_a_pause_that_is_over_while_the_process_is_stopped_just_ends(until):
    process = run_python(
        "from portal.launcher import processes; processes.hold_signals(); print('held', flush=True)\n"
        "processes.pause(0.5); print('went on')"
    )
    assert process.stdout.readline() == "held\n"
    process.send_signal(signal.SIGSTOP)
    time.sleep(0.7)
    process.send_signal(signal.SIGCONT)
    assert process.communicate(timeout=20)[0] == "went on\n"


@pytest.mark.parametrize(("number", "code"), [(0, 0), (99, 0), (15, 226_438_032)])
def test_a_pause_ignores_uninitialized_memory(monkeypatch, number, code):
    left_in_memory = SimpleNamespace(si_signo=number, si_code=code)
    monkeypatch.setattr(signal, "pthread_sigmask", lambda *_: {signal.SIGTERM})
    monkeypatch.setattr(signal, "sigtimedwait", lambda *_: left_in_memory)
    processes.pause(0.1)


def test_a_signal_that_a_pause_ignores_waits_for_the_next():
    process = run_python(
        "import os; from portal.launcher import processes\n"
        "processes.hold_signals()\n"
        "os.kill(os.getpid(), 15)\n"
        "processes.pause(0.1, until=frozenset())\n"
        "print('paused')\n"
        "try: processes.pause(60)\n"
        "except processes.Stopped as stopped: print(stopped)"
    )
    assert process.communicate(timeout=30)[0] == "paused\nSIGTERM\n"


def test_a_pause_ends_when_a_child_ends():
    process = run_python(
        "from portal.launcher import processes\n"
        "processes.hold_signals()\n"
        "child = processes.spawn(['true'])\n"
        "processes.pause(60)\n"
        "print(child.poll())"
    )
    assert process.communicate(timeout=30)[0] == "0\n"


def test_children_do_not_inherit_what_is_held():
    process = run_python(
        "import sys; from portal.launcher import processes\n"
        "processes.hold_signals()\n"
        "code = 'import signal; print(signal.pthread_sigmask(signal.SIG_BLOCK, ()))'\n"
        "processes.spawn([sys.executable, '-c', code]).wait()"
    )
    assert process.communicate()[0] == "set()\n"


def test_a_stalled_program_is_killed():
    sleeper = processes.spawn(["sleep", "infinity"])
    assert progress.finish(sleeper, progress.of_process(sleeper.pid, stalled_after=0.05)) == -signal.SIGKILL
    failure = processes.spawn(["false"])
    assert progress.finish(failure, progress.of_process(failure.pid)) == 1


def test_a_missing_program_is_an_error_of_the_parent():
    with pytest.raises(FileNotFoundError):
        processes.spawn([shutil.which("nothing-of-the-kind") or "nothing-of-the-kind"])
