"""A process that has loaded the whole program and forks the others, so that they share the memory of its modules.

Modules take more memory and time than anything else of an idle portal. The supervisor orders a process over a pair of
sockets and gets its id, see `nursery`. It becomes the supervisor's own child: the one that forked it ends at once, and
the supervisor adopts orphans.
"""

import gc
import json
import os
import runpy
import socket
import sys
import time
import tomllib
from collections import deque
from collections.abc import Callable, Sequence
from fcntl import F_DUPFD_CLOEXEC, fcntl
from importlib import import_module
from pathlib import Path

import django

from portal.launcher import processes
from portal.launcher.nursery import MAX_FILES, MAX_ORDER, POLL_SECONDS, Order

FREE_DESCRIPTOR = 200  # higher than all that programs expect
FIRST_PAGE = "web"  # the program before whose start a page is answered
ADOPTED_WITHIN = 10.0  # s
USUAL = gc.get_threshold()
RARELY = 50_000  # new objects until a collection, while modules are loaded: there is little to collect
PRELOADED = tomllib.loads(Path(__file__).with_name("preloaded.toml").read_text("utf-8"))


def main(descriptor: int) -> None:
    """Load the program and fork a process for each order. Returns when the supervisor or, there, its module ends.

    What is needed first is loaded first, and orders are served in between.
    """
    orders = socket.socket(fileno=descriptor)
    processes.show_as("nursery")
    steps = deque[Callable[[], object]]([_load_pages, _load_tasks])
    gc.set_threshold(RARELY)
    while True:
        if steps:
            steps.popleft()()
            _freeze()
        try:
            content, files, *_ = socket.recv_fds(orders, MAX_ORDER, MAX_FILES, socket.MSG_DONTWAIT if steps else 0)
        except BlockingIOError:
            continue
        if not content:
            return
        order = Order(*json.loads(content))
        if order.name == FIRST_PAGE:  # the database has been prepared by now
            import_module("portal.wsgi").answer_pages()
            _freeze()
        if not (process := _fork()):
            orders.close()
            return _run(order, files)
        for file in files:
            os.close(file)
        orders.send(str(process).encode())


def _freeze() -> None:
    gc.collect()
    processes.trim_memory()
    gc.freeze()  # otherwise garbage collection would touch, and so copy, all of the shared memory


def _load_pages() -> None:
    """Load pages, of which the preparation needs most: it would load them a second time meanwhile."""
    django.setup()
    list(map(import_module, PRELOADED["pages"]))


def _load_tasks() -> None:
    list(map(import_module, PRELOADED["tasks"]))
    app = import_module("portal.celery").app
    app.loader.init_worker()
    app.finalize()
    _ = app.amqp.queues, app.control


def _fork() -> int:
    """The id of a new process, whose parent has ended; 0 in that process."""
    reading, writing = os.pipe()
    if between := os.fork():
        os.waitpid(between, 0)
        process = int(os.read(reading, MAX_ORDER))
    elif process := os.fork():
        os.write(writing, str(process).encode())
        os._exit(0)
    os.close(reading)
    os.close(writing)
    return process


def _run(order: Order, files: Sequence[int]) -> None:
    """Become the process that was ordered."""
    until = time.monotonic() + ADOPTED_WITHIN
    while os.getppid() != order.parent and time.monotonic() < until:
        time.sleep(POLL_SECONDS)
    processes.end_with_parent(order.parent, order.death_signal)
    os.setpgid(0, 0)
    moved = [fcntl(file, F_DUPFD_CLOEXEC, FREE_DESCRIPTOR) for file in files]
    for file in files:
        os.close(file)
    for file, number in zip(moved, [1, 2, *order.files], strict=True):
        os.dup2(file, number)
        os.close(file)
    processes.show_as(order.name)
    gc.set_threshold(*USUAL)
    if order.command[0] == "nice":
        os.nice(int(order.command[2]))
    sys.argv = list(order.command[order.command.index("-m") + 1 :])
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    main(int(sys.argv[1]))
