"""Shared parts of the laboratory's commands: servers, an empty database, real processes, and figures as JSON."""

import json as json_format
import os
import signal
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError
from rich.console import Console
from rich.progress import Progress, track
from rich.table import Table

from apps.database.statements import fetch
from apps.sources.models import Source
from lab import throwaway
from portal.launcher.startup import OF_LIBRARIES
from portal.launcher.startup import commands as commands_of_up

SHOWN_LINES = 30  # of the output of a process that has ended
STOP_SECONDS = 20

Process = subprocess.Popen[bytes]
Case = TypeVar("Case")


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a command; with a `failure` it exits with 1 after its report."""

    figures: Mapping[str, object]
    plot: Callable[[], str] | None = None  # makes an SVG
    failure: str = ""


class LabCommand(BaseCommand):
    """A command whose `measure` finds figures. What all such commands have in common is here.

    If it fills a database, it runs on throw-away servers, in a process of its own, unless DATABASE_URL names others.
    """

    fills_database = False
    seed = 0  # the default of --seed; 0 where nothing is drawn at random
    plotted = ""  # what --plot shows, if there is a plot
    requires_system_checks = []

    def create_parser(self, prog_name: str, subcommand: str, **options: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **options)
        if self.seed:
            parser.add_argument(
                "--seed", type=int, default=self.seed, help="of what is drawn at random (default: %(default)s)"
            )
        if self.plotted:
            parser.add_argument("--plot", type=Path, metavar="FILE", help=f"write a plot (SVG) here: {self.plotted}")
        parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here as well")
        return parser

    def run_from_argv(self, argv: list[str]) -> None:
        if not self.fills_database or "DATABASE_URL" in os.environ or {"-h", "--help"} & set(argv):
            super().run_from_argv(argv)
        else:
            sys.exit(throwaway.run([sys.executable, *argv], throwaway.FOR_MEASURING, migrated=True))

    def handle(self, *args: Any, json: str | Path | None, plot: str | Path | None = None, **options: Any) -> None:
        self._json = _writable(json)
        drawing = _writable(plot)
        if self.fills_database:
            _require_empty_database()
        self.stdout.ending = ""  # rich ends its lines itself
        self.console = Console(file=self.stdout)  # type: ignore[arg-type]  # it has what a file needs
        result = self.measure(**options)
        if not isinstance(result, Result):
            result = Result(result)
        self.save(result.figures)
        if drawing and result.plot:
            drawing.write_text(result.plot(), encoding="utf-8")
        if result.failure:
            raise CommandError(result.failure)

    def measure(self, *args: Any, **options: Any) -> Result | Mapping[str, object]:
        raise NotImplementedError

    def save(self, figures: Mapping[str, object]) -> None:
        """Write figures to the file of --json; long measurements do so repeatedly."""
        if self._json:
            self._json.write_text(json_format.dumps(figures, indent=2) + "\n", encoding="utf-8")

    def say(self, text: str) -> None:
        """Print text as it is, on one line however long it is."""
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def track(self, cases: Iterable[Case], name: str, **options: Any) -> Iterable[Case]:
        """Show a bar meanwhile. With auto_refresh=False no thread draws it while a case is measured."""
        return track(cases, name, console=self.console, transient=True, **options)

    def show(self, title: str, figures: Mapping[str, float], form: str = "{:,}") -> None:
        """Print all figures, one in a row."""
        shown = Table("Measure", "Value", title=title)
        for name, value in figures.items():
            shown.add_row(name, form.format(value))
        self.console.print(shown)

    def progress(self, **options: Any) -> Progress:
        return Progress(console=self.console, transient=True, **options)


def add_items(parser: ArgumentParser) -> None:
    """An option for the postings of a recording."""
    parser.add_argument("--items", type=Path, required=True, metavar="FILE", help="items.jsonl.xz: src, t, title, desc")


@contextmanager
def clear_errors(*expected: type[Exception]) -> Iterator[None]:
    """Report expected errors without a traceback, also that the portal is not running."""
    try:
        yield
    except DatabaseError as error:
        raise CommandError("Start the portal first: python3 manage.py up") from error
    except expected as error:
        raise CommandError(str(error)) from error


def table(title: str, *columns: str, **options: Any) -> Table:
    """A table of names in its first column and figures in the others."""
    made = Table(title=title, **options)
    for number, column in enumerate(columns):
        made.add_column(column, justify="right" if number else "left")
    return made


def _writable(path: str | Path | None) -> Path | None:
    if path and not Path(path).parent.is_dir():
        raise CommandError(f"{path} cannot be written: there is no folder {Path(path).parent}")
    return Path(path) if path else None


def _require_empty_database() -> None:
    if Source.objects.exists():
        raise CommandError(
            "This database holds sources; a benchmark fills it with its own. Unset DATABASE_URL to run on throw-away "
            "servers, or name an empty database."
        )


@contextmanager
def running(commands: Mapping[str, Sequence[str]], **environment: str) -> Iterator[dict[str, Process]]:
    """Processes by name, each started by its command line and stopped at the end.

    Raises CommandError if one exits by itself.
    """
    with ExitStack() as stack:
        outputs = {name: stack.enter_context(tempfile.TemporaryFile()) for name in commands}
        processes = {
            name: subprocess.Popen(
                command,
                cwd=settings.BASE_DIR,
                env=OF_LIBRARIES | os.environ | environment,
                stdin=subprocess.DEVNULL,
                stdout=outputs[name],
                stderr=subprocess.STDOUT,
            )
            for name, command in commands.items()
        }
        terminate = signal.signal(
            signal.SIGTERM, signal.default_int_handler
        )  # otherwise the processes would keep running
        try:
            yield processes
            for name, process in processes.items():
                if process.poll() is not None:
                    raise CommandError(f"{name} ended before the measurement did:\n{end_of(outputs[name])}")
        finally:
            signal.signal(signal.SIGTERM, terminate)
            _stop(processes.values())


def end_of(output: IO[bytes]) -> str:
    """The last lines that processes have written."""
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
    return [*commands_of_up()[role], *arguments]


def workers(**environment: str) -> AbstractContextManager[dict[str, Process]]:
    """Everything that `up` runs except the web server: beat and the workers, by role."""
    lines = {role: line for role, line in commands_of_up().items() if role != "web"}
    return running(lines, **environment)


def cpu_seconds(pid: int) -> float:
    """User and system time that a process has used (Linux)."""
    return _ticks(pid, slice(11, 13))


def cpu_seconds_of_family(pid: int) -> float:
    """The same, including its descendants, those that have ended as well if they were waited for."""
    return sum(_ticks(member, slice(11, 15)) for member in family([pid]))


def family(pids: Iterable[int]) -> list[int]:
    """Processes and their descendants."""
    parents = {int(entry.name): _parent(entry) for entry in Path("/proc").iterdir() if entry.name.isdecimal()}
    members = list(pids)
    for member in members:
        members += [child for child, parent in parents.items() if parent == member]
    return members


def postgres_pid() -> list[int]:
    """The process that all others of Postgres descend from, if it runs on this machine."""
    backend = Path(f"/proc/{fetch('SELECT pg_backend_pid()')[0][0]}")
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
