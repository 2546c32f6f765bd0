"""Whether something still gets on, by a clock and a CPU of numbers."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from portal.launcher.processes import cpu_seconds
from portal.launcher.progress import REPORT_AFTER, STALLED_AFTER, Progress


@pytest.fixture
def made():
    values = SimpleNamespace(cpu=0.0, lines=0, now=1_000.0)
    values.progress = Progress(STALLED_AFTER, lambda: values.cpu, lambda: values.lines, lambda: values.now)
    return values


def stalls_within(made, seconds):
    """Whether it has stalled at one of so many seconds."""
    for _ in range(int(seconds)):
        made.now += 1
        if made.progress.has_stalled():
            return True
    return False


def test_without_cpu_time_and_output_it_stalls(made):
    assert not stalls_within(made, STALLED_AFTER)
    assert stalls_within(made, 2)


def test_polling_is_no_progress(made):
    for _ in range(1_000):
        made.now += 1
        made.cpu += 0.01
        if made.progress.has_stalled():
            return
    pytest.fail("it never stalled")


def test_a_starved_process_that_works_is_waited_for(made):
    for _ in range(10_000):
        made.now += 1
        made.cpu += 0.05  # a twentieth of a core
        assert not made.progress.has_stalled()


def test_output_is_progress(made):
    for _ in range(20):
        assert not stalls_within(made, STALLED_AFTER - 1)
        made.lines += 1


def test_reports_become_rarer(made):
    reported = []
    for second in range(1, 101):
        made.now += 1
        if made.progress.is_report_due():
            reported.append(second)
    assert reported == [REPORT_AFTER, 20, 40, 80]


def test_cpu_time_counts_descendants_and_those_that_ended(until):
    burn = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass\n"
    run = f"import subprocess, sys, time\nsubprocess.run([sys.executable, '-c', {burn!r}])\n"
    code = f"import subprocess, sys\n{run}subprocess.run([sys.executable, '-c', {run + burn + 'time.sleep(60)'!r}])"
    process = subprocess.Popen([sys.executable, "-c", code])
    try:
        assert until(lambda: cpu_seconds(process.pid) >= 0.9)  # of a child that ended, a grandchild that ended, a child
    finally:
        process.kill()
        process.wait()
