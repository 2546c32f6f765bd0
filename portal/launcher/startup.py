"""`manage.py up`: one portal for this checkout, from its database to its first page, until it is stopped."""

import fcntl
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TextIO

from apps.database import machine
from apps.retrieval.scheduler.queues import DERIVED, retrieval_queues
from portal import environment, variables
from portal.launcher import embedded, processes, servers
from portal.launcher.console import Console
from portal.launcher.embedded import StartError
from portal.launcher.nursery import Nursery
from portal.launcher.supervisor import Program, Supervisor

ROOT = Path(__file__).resolve().parents[2]
RETRIEVAL_THREADS = 8  # they begin sources; fetching takes none
DERIVE_THREADS = 8
SMALL_THREADS = 3  # of the one worker of a small machine; each takes the memory of a batch, here and in Postgres
ROLES = ("retrieval", "derive", "beat")
GIVING_WAY = ["nice", "-n", "10"]  # deriving slows down neither retrieval nor pages
PORTS = range(8000, 8050)
LOOPBACK = "127.0.0.1"
DEMO_PORTS = range(8700, 8750)
# At sixty times the speed, sixty days take a real one.
DEMO = ["--synthetic", "40", "--speed", "60", "--history-days", "28", "--days", "60", "--follow"]
# Bytes: a new Postgres with all tables has 55 MB, most of it in its first WAL files.
ROOM_OF_FIRST_START = 100 * 10**6
ROOM_OF_RESTART = 20 * 10**6  # bytes; one more WAL file
PROBE = 2**16  # bytes
SLOW_STATEMENT = 3600.0  # s; a migration may wait this long for Postgres, which may run on another machine
# Each further arena keeps memory that others have freed; threads of OpenBLAS wait for each other in busy loops.
OF_LIBRARIES = {"MALLOC_ARENA_MAX": "2", "OPENBLAS_NUM_THREADS": "1"}
EVERYWHERE = {"127.0.0.1", "0.0.0.0", "::", "::1"}

Applications = Callable[[socket.socket, Mapping[str, str]], tuple[Program, Sequence[Program]]]


def data_folder() -> Path:
    return variables.VAR_DIR


def commands() -> dict[str, list[str]]:
    """The command line of each process by its role; benchmarks use them, too."""
    python = [sys.executable, "-m"]
    celery = [*python, "portal.roles", "portal"]
    web = [*python, "gunicorn", "portal.wsgi", "--no-control-socket", "--logger-class", "portal.logs.WebLog"]
    web += ["--config", "python:portal.web_processes", "--workers", "1", "--preload", "--worker-class", "gthread"]
    web += ["--threads", "16", "--graceful-timeout", "5"]
    web += ["--keep-alive", "0"]  # a kept connection stays with its process, however busy that is
    retrieval = ",".join(retrieval_queues(variables.RETRIEVAL_QUEUES) + [DERIVED] * machine.is_small())
    threads = SMALL_THREADS if machine.is_small() else RETRIEVAL_THREADS
    return {
        "web": web,
        "retrieval": [*celery, *_worker("retrieval", retrieval, threads)],
        "derive": [*GIVING_WAY, *celery, *_worker("derive", DERIVED, DERIVE_THREADS)],
        "beat": [*celery, "beat"],
    }


def _worker(name: str, queues: str, threads: int) -> list[str]:
    """Arguments for a worker that consumes these comma-separated queues."""
    return ["worker", "--hostname", f"{name}@%h", "--queues", queues, "--concurrency", str(threads)]


def applications(listener: socket.socket, settings: Mapping[str, str]) -> tuple[Program, Sequence[Program]]:
    """The program that prepares the database, and those that run after it, with these environment variables."""
    lines = commands()
    program = partial(Program, environment=settings, directory=ROOT, is_forked=True)
    # When this process is killed, so is the broker: a worker could neither finish nor return its messages.
    clockwork = partial(program, death_signal=signal.SIGKILL, stop_within=10.0)
    preparation = [sys.executable, "-m", "portal.launcher.preparation"]
    return program(name="preparation", command=preparation, stalled_after=SLOW_STATEMENT), [
        # First, and alone until it answers, so that workers do not delay the first page.
        program(
            name="web",
            # The port is bound here and inherited: connections wait in its queue while the web server restarts.
            command=[*lines["web"], "--bind", f"fd://{listener.fileno()}"],
            files=(listener.fileno(),),
            is_ready=lambda: answers(listener),
        ),
        # On a small machine the retrieval worker derives, too.
        *(
            clockwork(name=name, command=lines[name], is_renewed=name != "beat")
            for name in ROLES
            if name != "derive" or not machine.is_small()
        ),
    ]


def demo(listener: socket.socket, settings: Mapping[str, str]) -> tuple[Program, Sequence[Program]]:
    """The same with synthetic feeds of this machine instead of the catalogue."""
    with closing(listen(LOOPBACK, None, DEMO_PORTS)) as free:
        port = str(free.getsockname()[1])
    preparation, running = applications(listener, settings)
    replay = [sys.executable, "-m", "django", "replay", "--settings", "portal.settings", *DEMO, "--port", port]
    preparation = preparation._replace(command=[*preparation.command, "--without-catalogue"])
    sites = Program(name="replay", command=replay, environment=settings, directory=ROOT, is_forked=True)
    return preparation, [*running, sites]


def up_demo(var: Path, host: str, port: int | None, console: Console) -> int:
    """The same as `up` for a demo, with servers and data of its own, which are deleted at the end."""
    if given := [name for name in ("DATABASE_URL", "BROKER_URL", "CACHE_URL") if environment.text(name)]:
        console.warn(f"A demo has servers of its own: start it without {', '.join(given)}.")
        return 1
    if not (ROOT / "lab").is_dir():
        console.warn("The demo needs the folder lab/, which is missing here.")
        return 1
    try:
        _make_usable(var)
    except StartError as error:
        console.warn(str(error))
        return 1
    with tempfile.TemporaryDirectory(dir=var, prefix="demo-") as folder:
        Path(folder).chmod(0o755)  # Postgres may run as another user
        return up(Path(folder), host, port, console, demo)


def up(var: Path, host: str, port: int | None, console: Console, applications: Applications = applications) -> int:
    """Start, supervise and stop everything; returns the exit code."""
    processes.hold_signals()
    supervisor = Supervisor(console)
    try:
        _make_usable(var)
        with locked(var) as lock, closing(listen(host, port)) as listener:
            try:
                _start(supervisor, var, listener, applications)
                _announce(listener, host, lock, console)
                supervisor.watch()
            finally:
                _stop(supervisor, console)
                with suppress(OSError):  # it does not exist, or is not empty
                    embedded.run_directory(var).rmdir()
    except processes.Stopped:
        return 0
    except StartError as error:
        console.warn(str(error))
        return 1
    except OSError as error:
        if not Path(str(error.filename)).is_relative_to(var):
            raise
        console.warn(environment.unusable(var, error))
        return 1


def _make_usable(var: Path) -> None:
    """Make the data folder, and raise StartError if it cannot be written or its disk is full.

    Postgres does not report a full disk clearly.
    """
    try:
        var.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=var) as probe:
            probe.write(bytes(PROBE))
    except OSError as error:
        raise StartError(environment.unusable(var, error)) from error
    if environment.text("DATABASE_URL"):
        return
    needed = ROOM_OF_RESTART if (var / "pg" / "PG_VERSION").exists() else ROOM_OF_FIRST_START
    if (free := shutil.disk_usage(var).free) < needed:
        raise StartError(
            f"The disk of the data folder {var} is full: {free // 10**6} MB are free, and the database needs"
            f" {needed // 10**6} MB to start. Make room, or name another folder in WIREBEAT_VAR."
        )


def _start(supervisor: Supervisor, var: Path, listener: socket.socket, applications: Applications) -> None:
    supervisor.console.say("Wirebeat is starting; Ctrl-C stops it.")
    sockets = embedded.make_run_directory(var)
    chosen = OF_LIBRARIES | {
        "PYTHONUNBUFFERED": "1",
        "DATABASE_URL": embedded.database_url(var),
        "BROKER_URL": embedded.broker_url(var),
        "CACHE_URL": embedded.cache_url(var),
        "WIREBEAT_URL": f"http://localhost:{listener.getsockname()[1]}",
    }
    if machine.is_small():  # return freed memory to the system, at a small cost of time
        chosen |= {"MALLOC_MMAP_THRESHOLD_": "131072", "MALLOC_TRIM_THRESHOLD_": "131072"}
    ours = []
    if not environment.text("DATABASE_URL"):
        ours.append(servers.postgres(var / "pg", sockets, servers.postgres_settings(data=var / "pg")))
    if not (environment.text("BROKER_URL") and environment.text("CACHE_URL")):
        ours.append(servers.valkey(var / "valkey", sockets))
    given = {name: value for name, value in os.environ.items() if value or name not in chosen}
    # The folder may be relative, and the programs have another working directory.
    settings = chosen | given | {"WIREBEAT_VAR": str(var.absolute())}
    preparation, running = applications(listener, settings)
    if preparation.is_forked:
        supervisor.nursery = Nursery(settings, ROOT)  # loads the program while the servers start
    supervisor.start(*ours)
    supervisor.finish(preparation)
    supervisor.start(*running)


def _announce(listener: socket.socket, host: str, lock: TextIO, console: Console) -> None:
    shown = "localhost" if host in EVERYWHERE else host
    address = f"http://{shown}:{listener.getsockname()[1]}/"
    lock.truncate(0)
    lock.write(address)
    lock.flush()
    console.warn(f"Wirebeat is ready: {address}")


def _stop(supervisor: Supervisor, console: Console) -> None:
    started = time.monotonic()
    console.say("Stopping ...")
    supervisor.stop()
    console.say(f"Stopped in {time.monotonic() - started:.1f} s; nothing is left running.")


@contextmanager
def locked(var: Path) -> Iterator[TextIO]:
    """Hold the lock of the data folder; its file has the portal's address for a second start."""
    with (var / "up.lock").open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            where = file.read() or "it is still starting"
            raise StartError(f"Wirebeat is already running here: {where}") from None
        file.truncate(0)
        yield file


def listen(host: str, port: int | None, ports: range = PORTS) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for candidate in ports if port is None else [port]:
        try:
            return socket.create_server((host, candidate), family=family, backlog=512)
        except OSError as error:
            problem = error
    wanted = f"port {port}" if port is not None else f"a port of {ports.start} to {ports.stop - 1}"
    raise StartError(f"Cannot listen on {wanted} of {host}: {os.strerror(problem.errno or 0)}.")


def answers(listener: socket.socket) -> bool:
    """Whether the site responds without an error of the server; it may require another host or TLS."""
    host, port = listener.getsockname()[:2]
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    try:
        with socket.create_connection((reachable, port), timeout=1.0) as connection:
            connection.sendall(b"GET /health/live HTTP/1.0\r\nHost: localhost\r\n\r\n")
            status = connection.recv(12).partition(b" ")[2]
    except OSError:
        return False
    return status.isdigit() and int(status) < 500
