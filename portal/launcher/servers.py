"""The embedded Postgres and Valkey as programs of a supervisor."""

import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from apps.database import machine
from portal.launcher import embedded, privileges, processes, progress
from portal.launcher.embedded import StartError
from portal.launcher.supervisor import Program

ROOT = Path(__file__).resolve().parents[2]
LOCALE = "C.UTF-8"
SLOW_CHECKPOINT = 60.0  # s
BUFFERS = 48 * 2**20  # bytes; of a small portal
STATUS_LINE = 7  # of postmaster.pid, counted from 0
_ADMINISTRATION = "host={sockets} port={port} user=postgres dbname=postgres connect_timeout=5"

# A temporary cluster needs no durability.
WITHOUT_DURABILITY = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}


def postgres_settings(shared_buffers: int | None = None, data: Path | None = None) -> dict[str, str]:
    """Settings for this machine; `shared_buffers` in bytes, by default by its memory and the size of the cluster."""
    memory, is_small = machine.memory(), machine.is_small()
    most = machine.bounded(memory // (16 if is_small else 8), 32 * 2**20, 2**30)
    wanted = shared_buffers or machine.bounded(_size(data) // 2 if data else most, min(BUFFERS, most), most)
    few = {"max_parallel_workers_per_gather": "0", "maintenance_work_mem": "16MB", "autovacuum_max_workers": "1"}
    return (few if is_small else {}) | {
        "shared_buffers": f"{min(wanted, memory // 4) // 2**20}MB",
        "max_connections": "100",
        "max_wal_size": "4GB",
        "max_logical_replication_workers": "0",  # their launcher would be one more process
        "jit": "off",  # compiling takes longer than our short queries
    }


def _size(data: Path) -> int:
    """Bytes of a cluster's tables; 0 of a new one."""
    size = 0
    for file in (data / "base").rglob("*"):
        with suppress(FileNotFoundError):  # Postgres may still be stopping
            size += file.stat().st_size
    return size


def postgres(
    data: Path, sockets: Path, settings: Mapping[str, str], *, port: int = 5432, programs: Path | None = None
) -> Program:
    """Postgres with its files in `data`; it is ready when the portal's database exists.

    It listens at sockets of this machine only, unless the settings say otherwise.
    """
    programs = programs or embedded.postgres_programs()
    server = programs / "postgres"
    options = {"listen_addresses": "", "port": str(port), "unix_socket_permissions": "0700", **settings}
    if embedded.release(server) >= 18:
        options["io_method"] = "sync"  # no I/O workers: three more processes would only speed up reads of uncached data
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
        "hz": "1",  # how often an idle server searches for expired keys
        "maxmemory": machine.bounded(machine.memory() // 8, 32 * 2**20, 512 * 2**20),
        "maxmemory-policy": "volatile-lru",  # evicts keys with a time to live: of the cache, never messages
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
    signals = {signal.SIGINT: SLOW_CHECKPOINT, signal.SIGQUIT: 10.0}
    _end_earlier(data, "postgres", signals, data / "postmaster.pid")
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


def _prepare_valkey(program: str, data: Path, path: Path) -> None:
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    data.chmod(0o700)  # Valkey writes files that all users may read
    path.parent.mkdir(mode=0o700, exist_ok=True)  # as for Postgres
    _end_earlier(data, program, {signal.SIGTERM: 10.0, signal.SIGKILL: 10.0})
    path.unlink(missing_ok=True)


def _end_earlier(data: Path, program: str, signals: Mapping[signal.Signals, float], file: Path | None = None) -> None:
    """Stop a server that outlived its supervisor, by signals and the seconds until the next one.

    They go to all its processes, or to the one that its file names, with which the others end.
    """
    for number, seconds in signals.items():
        for process in processes.living_in(data, program):
            if file is None or process == _first_number(file):
                processes.send(process, number)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if not processes.living_in(data, program):
                return
            processes.pause(0.05)
    raise StartError(f"An earlier {program} still works in {data} and does not end.")


def _first_number(file: Path) -> int:
    try:
        return int(file.read_text(encoding="utf-8").partition("\n")[0])
    except (OSError, ValueError):
        return 0


def _takes_connections(data: Path) -> bool:
    """Whether Postgres has recovered, by its status file: a connection would cost it time and a line in its log."""
    try:
        return (data / "postmaster.pid").read_text(encoding="utf-8").splitlines()[STATUS_LINE].strip() == "ready"
    except (OSError, IndexError):
        return False


def _has_database(sockets: Path, port: int) -> bool:
    """Whether Postgres accepts connections; if so, the portal's database exists afterwards.

    A process of its own connects, as the client takes more memory than the rest of the supervisor.
    """
    where = _ADMINISTRATION.format(sockets=sockets, port=port)
    command = [sys.executable, "-m", "portal.launcher.creation", where, embedded.DATABASE]
    return subprocess.run(command, cwd=ROOT, stderr=subprocess.DEVNULL, check=False).returncode == 0


def _answers_ping(path: Path) -> bool:
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(1.0)
            connection.connect(str(path))
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")
    except OSError:
        return False
