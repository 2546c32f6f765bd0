"""Processes of a portal under faults."""

import pytest

from lab.chaos.processes import Process
from portal.launcher.supervisor import Program
from tests.portal.conftest import is_running, until


@pytest.fixture
def started(tmp_path):
    """A script with a child, and the child's process id."""
    child = tmp_path / "child"
    process = Process(Program(name="script", command=["sh", "-c", f"sleep 600 & echo $! > {child}; wait"]), tmp_path)
    process.start()
    assert until(lambda: child.exists() and child.read_text().endswith("\n"))
    yield process, int(child.read_text())
    process.kill()


@pytest.mark.parametrize("stop", [Process.stop_now, Process.kill], ids=["at once", "by a fault"])
def test_stopping_a_script_ends_its_children(started, stop):
    process, child = started
    stop(process)
    assert until(lambda: not is_running(child))


def test_killing_the_parent_alone_leaves_its_children(started):
    process, child = started
    process.kill_first()
    assert is_running(child)
