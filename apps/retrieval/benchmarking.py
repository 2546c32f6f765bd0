"""What the benchmark commands share: an empty database to work in, real processes, and figures as JSON."""

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import IO

from django.conf import settings
from django.core.management.base import CommandError
from django.utils.module_loading import import_string

from apps.database.statements import fetch
from apps.sources.models import Source

SHOWN_LINES = 30  # of the output of a process that has ended
STOP_SECONDS = 20

Process = subprocess.Popen[bytes]


def require_empty_database() -> None:
    """Refuse to work among somebody's sources.

    Raises
    ------
    CommandError
        If the database holds any.
    """
    if Source.objects.exists():
        raise CommandError(
            "This database holds sources; a benchmark fills it with its own. Unset DATABASE_URL to run on throw-away "
            "servers, or name an empty database."
        )


def write_figures(path: str | None, figures: Mapping[str, float]) -> None:
    if path:
        Path(path).write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


@contextmanager
def running(commands: Mapping[str, Sequence[str]], **environment: str) -> Iterator[dict[str, Process]]:
    """Processes by name, each started by its command line and stopped at the end.

    Raises
    ------
    CommandError
        If one ends by itself: what is measured would not be the portal.
    """
    with ExitStack() as stack:
        outputs = {name: stack.enter_context(tempfile.TemporaryFile()) for name in commands}
        processes = {
            name: subprocess.Popen(
                command,
                cwd=settings.BASE_DIR,
                env=os.environ | environment,
                stdin=subprocess.DEVNULL,
                stdout=outputs[name],
                stderr=subprocess.STDOUT,
            )
            for name, command in commands.items()
        }
        terminate = signal.signal(signal.SIGTERM, signal.default_int_handler)  # or the processes would stay
        try:
            yield processes
            for name, process in processes.items():
                if process.poll() is not None:
                    raise CommandError(f"{name} ended before the measurement did:\n{_end_of(outputs[name])}")
        finally:
            signal.signal(signal.SIGTERM, terminate)
            _stop(processes.values())


def _end_of(output: IO[bytes]) -> str:
    output.seek(0)
    return b"".join(output.readlines()[-SHOWN_LINES:]).decode(errors="replace")


def _stop(processes: Collection[Process]) -> None:
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.wait(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def command(role: str, *arguments: str) -> list[str]:
    """The command line of a process of the portal, as `up` starts it, with further arguments."""
    return [*_commands()[role], *arguments]


def workers(**environment: str) -> AbstractContextManager[dict[str, Process]]:
    """Everything that `up` runs besides the web server: beat and the workers, by role."""
    lines = {role: line for role, line in _commands().items() if role != "web"}
    return running(lines, **environment)


def _commands() -> dict[str, list[str]]:
    commands: dict[str, list[str]] = import_string(settings.PROCESS_COMMANDS)()
    return commands


def cpu_seconds(pid: int) -> float:
    """User and system time that a process has used (Linux)."""
    return _ticks(pid, slice(11, 13))


def cpu_seconds_of_family(pid: int) -> float:
    """The same, including its descendants, those that have ended as well if they were waited for."""
    parents = {int(entry.name): _parent(entry) for entry in Path("/proc").iterdir() if entry.name.isdecimal()}
    family = [pid]
    for member in family:
        family += [child for child, parent in parents.items() if parent == member]
    return sum(_ticks(member, slice(11, 15)) for member in family)


def postgres_pid() -> list[int]:
    """The process that all others of Postgres descend from, if it runs on this machine."""
    [(pid,)] = fetch("SELECT pg_backend_pid()")
    backend = Path(f"/proc/{pid}")
    try:
        is_here = (backend / "comm").read_text(encoding="ascii").startswith("postgres")
    except OSError:
        return []
    return [_parent(backend)] if is_here else []


def _ticks(pid: int, fields: slice) -> float:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    except OSError:  # it has ended since it was listed
        return 0.0
    return sum(map(int, stat.rpartition(")")[2].split()[fields])) / os.sysconf("SC_CLK_TCK")


def _parent(entry: Path) -> int:
    try:
        return int((entry / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[1])
    except OSError:
        return 0
