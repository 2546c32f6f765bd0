"""The embedded Postgres and Valkey as programs of a supervisor."""

import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import psycopg

from portal.launcher import embedded, privileges, processes, progress
from portal.launcher.embedded import StartError
from portal.launcher.supervisor import Program

LOCALE = "C.UTF-8"
SLOW_CHECKPOINT = 60.0  # s
VALKEY_MEMORY = "512mb"
STATUS_LINE = 7  # of postmaster.pid, counted from 0
_ADMINISTRATION = "host={sockets} port={port} user=postgres dbname=postgres connect_timeout=5"

# A temporary cluster needs no durability.
FORGETFUL = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}


def postgres_settings(shared_buffers: int | None = None) -> dict[str, str]:
    """Settings for this machine; `shared_buffers` in bytes, by default an eighth of the memory in bounds."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    wanted = shared_buffers or min(max(memory // 8, 128 * 2**20), 2**30)
    return {
        "shared_buffers": f"{min(wanted, memory // 4) // 2**20}MB",
        "max_connections": "200",
        "max_wal_size": "4GB",
        "jit": "off",  # its compilation costs more than our short queries
    }


def postgres(
    data: Path, sockets: Path, settings: Mapping[str, str], *, port: int = 5432, programs: Path | None = None
) -> Program:
    """Postgres with its files in `data`; it is ready when the portal's database exists.

    It listens at sockets of this machine only, unless the settings say otherwise.
    """
    programs = programs or embedded.postgres_programs()
    server = programs / "postgres"
    options = {"listen_addresses": "", "port": str(port), "unix_socket_permissions": "0700", **settings}
    arguments = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
    return Program(
        name="postgres",
        command=[*privileges.prefix(server), server, "-D", data, "-k", sockets, *arguments],
        prepare=lambda: _prepare_postgres(programs, data, sockets, port),
        is_ready=lambda: _takes_connections(data) and _has_database(sockets, port),
        stop_signal=signal.SIGINT,  # a fast stop: sessions end, a checkpoint is written
        stop_within=SLOW_CHECKPOINT,
        last_signal=signal.SIGQUIT,  # no checkpoint, recovery at the next start; SIGKILL would leave its children
        death_signal=signal.SIGINT,
    )


def valkey(data: Path, sockets: Path) -> Program:
    """Valkey with its files in `data`. Its contents can be recomputed, so it may lose the last second."""
    program = embedded.valkey_program()
    path = embedded.valkey_socket(sockets)
    options = {
        "port": "0",
        "unixsocket": path,
        "unixsocketperm": "700",
        "dir": data,
        "save": "",
        "appendonly": "yes",
        "appendfsync": "everysec",
        "loglevel": "warning",
        "maxmemory": VALKEY_MEMORY,
        "maxmemory-policy": "volatile-lru",  # drops what has a time to live, which is the cache; never a message
    }
    return Program(
        name="valkey",
        command=[program, *(part for name, value in options.items() for part in (f"--{name}", str(value)))],
        prepare=lambda: _prepare_valkey(program.name, data, path),
        is_ready=lambda: _answers_ping(path),
    )


def _prepare_postgres(programs: Path, data: Path, sockets: Path, port: int) -> None:
    if not (data / "PG_VERSION").exists():
        _make_cluster(programs, data)
    made_by, here = (data / "PG_VERSION").read_text().strip(), str(embedded.release(programs / "postgres"))
    if made_by != here:
        raise StartError(f"{data} was made by Postgres {made_by}, but {programs} holds Postgres {here}.")
    sockets.mkdir(mode=0o700, exist_ok=True)  # it may have been removed as a temporary file
    privileges.hand_over(sockets)
    _end_earlier_postgres(data)
    # They are unused now; Postgres itself only checks whether any process has the id.
    name = f".s.PGSQL.{port}"
    for leftover in (data / "postmaster.pid", sockets / name, sockets / f"{name}.lock"):
        leftover.unlink(missing_ok=True)


def _make_cluster(programs: Path, data: Path) -> None:
    """Make a new cluster. It gets its name last, so that an incomplete one is not used."""
    unfinished = data.with_name(f"{data.name}.new")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(mode=0o700, parents=True)
    privileges.hand_over(unfinished)
    program = programs / "initdb"
    options = [f"--pgdata={unfinished}", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--no-instructions"]
    options.append(f"--locale={LOCALE}")
    if embedded.release(programs / "postgres") >= 17:
        options.append("--locale-provider=builtin")
    command: list[str | Path] = [*privileges.prefix(program, death_signal="TERM"), program, *options]
    child = processes.spawn(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert child.stdout is not None
    with child.stdout as output:
        if progress.finish(child, progress.of_process(child.pid)):
            text = output.read().decode(errors="replace").strip()
            lines = [line for line in text.splitlines() if re.search(r"error:|FATAL|PANIC", line)] or text.splitlines()
            raise StartError(f"The database could not be made in {data}: {''.join(lines[:1]).strip()}")
    unfinished.rename(data)


def _end_earlier_postgres(data: Path) -> None:
    """Stop a Postgres that outlived its supervisor; its children end with it."""

    def stop(number: signal.Signals) -> None:
        if (process := _first_number(data / "postmaster.pid")) in processes.living_in(data, "postgres"):
            processes.send(process, number)

    stop(signal.SIGINT)
    if not _all_end(data, "postgres", within=SLOW_CHECKPOINT):
        stop(signal.SIGQUIT)
        if not _all_end(data, "postgres", within=10.0):
            raise StartError(f"An earlier Postgres still works in {data} and does not end.")


def _prepare_valkey(program: str, data: Path, path: Path) -> None:
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    data.chmod(0o700)  # Valkey writes files that all users may read
    path.parent.mkdir(mode=0o700, exist_ok=True)  # as for Postgres
    for number in (signal.SIGTERM, signal.SIGKILL):
        for process in processes.living_in(data, program):
            processes.send(process, number)
        if _all_end(data, program, within=10.0):
            path.unlink(missing_ok=True)
            return
    raise StartError(f"An earlier Valkey still works in {data} and does not end.")


def _all_end(data: Path, program: str, within: float) -> bool:
    deadline = time.monotonic() + within
    while processes.living_in(data, program):
        if time.monotonic() > deadline:
            return False
        processes.pause(0.05)
    return True


def _first_number(file: Path) -> int:
    try:
        first = file.read_text(encoding="utf-8").partition("\n")[0].strip()
    except OSError:
        return 0
    return int(first) if first.isdecimal() else 0


def _takes_connections(data: Path) -> bool:
    """Whether Postgres has recovered, by its status file: a connection would cost it time and a line in its log."""
    try:
        return (data / "postmaster.pid").read_text(encoding="utf-8").splitlines()[STATUS_LINE].strip() == "ready"
    except (OSError, IndexError):
        return False


def _has_database(sockets: Path, port: int) -> bool:
    """Whether Postgres accepts connections; if so, the portal's database exists afterwards."""
    try:
        with psycopg.connect(_ADMINISTRATION.format(sockets=sockets, port=port), autocommit=True) as connection:
            known = "SELECT FROM pg_database WHERE datname = %s"
            if connection.execute(known, [embedded.DATABASE]).fetchone() is None:
                connection.execute(f"CREATE DATABASE {embedded.DATABASE}")
    except (psycopg.OperationalError, psycopg.errors.DuplicateDatabase, psycopg.errors.UniqueViolation):
        return False  # the last two: another process is creating it, and the next check finds it
    return True


def _answers_ping(path: Path) -> bool:
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(1.0)
            connection.connect(str(path))
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")
    except OSError:
        return False
