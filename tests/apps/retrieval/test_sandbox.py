"""Hostile documents are read by a child process, which may be lost; the process that asked for it goes on."""

import os
import threading
import time

import pytest

from apps.retrieval import sandbox


@pytest.fixture(autouse=True)
def _no_child_is_left():
    yield
    sandbox.stop()


def test_a_function_is_called_in_another_process():
    assert sandbox.run(os.getpid) != os.getpid()


def test_one_child_serves_call_after_call():
    assert sandbox.run(os.getpid) == sandbox.run(os.getpid)


def test_arguments_and_results_of_some_size_go_through():
    document = os.urandom(3 * 2**20)
    assert sandbox.run(bytes.hex, document) == document.hex()


def test_what_the_function_raises_is_raised_here():
    with pytest.raises(ValueError, match="invalid literal for int"):
        sandbox.run(int, "seven")


def test_work_without_end_is_ended_and_the_next_call_gets_a_new_child(monkeypatch):
    before = sandbox.run(os.getpid)
    monkeypatch.setattr(sandbox, "SECONDS", 0.2)
    with pytest.raises(sandbox.TooSlow, match=r"took longer than 0\.2 s"):
        sandbox.run(time.sleep, 30)
    monkeypatch.undo()
    assert sandbox.run(os.getpid) != before


def test_too_much_memory_is_an_error_and_no_end_of_the_process():
    with pytest.raises(sandbox.Crashed, match="too much memory"):
        sandbox.run(bytes, 8 * 2**30)


def test_a_child_that_dies_is_an_error():
    with pytest.raises(sandbox.Crashed):
        sandbox.run(os._exit, 3)
    assert sandbox.run(abs, -1) == 1


def test_threads_share_a_few_children():
    pids: set[int] = set()
    threads = [threading.Thread(target=lambda: pids.add(sandbox.run(os.getpid))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 1 <= len(pids) <= sandbox.CHILDREN
