"""Real processes for the tests of the start: what runs, who its children are, and whether they are gone."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest
import redis
from psycopg import sql

from portal.launcher import embedded, processes, servers
from portal.launcher.console import QUIET, Console
from portal.launcher.supervisor import Supervisor

ROOT = Path(__file__).resolve().parents[2]
STAND_INS = ROOT / "tests" / "portal" / "stand_ins.py"
PATIENCE = 60.0  # s; the machine may be busy
MAX_START_SECONDS = 600.0  # s


def until(condition: Callable[[], bool], within: float = PATIENCE) -> bool:
    """Whether the condition comes true within so many seconds."""
    deadline = time.monotonic() + within
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def parents() -> dict[int, int]:
    """The parent of every process."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:  # it has ended
                continue
    return parents


def descendants(process: int) -> set[int]:
    """All processes below this one."""
    known, found = parents(), set[int]()
    while more := {child for child, parent in known.items() if parent in found | {process}} - found:
        found |= more
    return found


@dataclass
class House:
    """A portal of stand-ins in a process of its own, as a person starts it."""

    var: Path
    command: list[str] = field(default_factory=lambda: [sys.executable, str(STAND_INS)])  # or that of the real portal
    environment: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None
    family: set[int] = field(default_factory=set)

    log_file: Path | None = None

    def __post_init__(self) -> None:
        self.log_file = self.log_file or self.var.with_name("output")

    @property
    def output(self) -> str:
        return self.log_file.read_text()

    @property
    def address(self) -> str:
        return self.output.partition("is ready: ")[2].split("\n")[0]

    def start(self, *arguments: str, **options: object) -> "House":
        return self.launch(*arguments, **options).await_ready()

    def await_ready(self) -> "House":
        # It stops by itself when it makes no progress.
        assert until(lambda: "is ready" in self.output or self.process.poll() is not None, MAX_START_SECONDS), (
            self.output
        )
        assert self.process.poll() is None, self.output
        self.watch_family()
        return self

    def watch_family(self) -> None:
        """Remember who belongs to it, for `all_gone`."""
        self.family = descendants(self.process.pid)

    def launch(self, *arguments: str, **options: object) -> "House":
        inherited = {name: value for name, value in os.environ.items() if not name.endswith("_URL")}
        with self.log_file.open("wb") as output:
            self.process = subprocess.Popen(
                [*self.command, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=inherited | {"WIREBEAT_VAR": str(self.var), "PYTHONPATH": str(ROOT)} | self.environment,
                cwd=ROOT,
                start_new_session=True,
                **options,
            )
        return self

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        """Its exit code."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)

    def kill_all(self) -> None:
        """Stop all processes before any is killed: none learns of the death of another and tidies up."""
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for process in {self.process.pid} | self.family:
                processes.send(process, number)
        self.process.wait(PATIENCE)
        assert until(self.all_gone)

    def all_gone(self) -> bool:
        return not any(map(is_running, self.family))

    def postmaster(self) -> int:
        return int((self.var / "pg" / "postmaster.pid").read_text().split()[0])

    def valkey(self) -> int:
        return processes.living_in(self.var / "valkey", "valkey-server").pop()

    def child(self, text: str) -> int:
        """The child whose command line contains this."""
        for child in descendants(self.process.pid):
            if text in Path(f"/proc/{child}/cmdline").read_text():
                return child
        raise LookupError(text)

    def log(self, name: str) -> str:
        return (self.var / "log" / f"{name}.log").read_text()

    def database(self) -> psycopg.Connection[tuple[str]]:
        return psycopg.connect(embedded.database_url(self.var), autocommit=True)

    def notes(self) -> list[str]:
        with self.database() as connection:
            return [text for (text,) in connection.execute("SELECT text FROM note")]

    def note(self, text: str) -> None:
        with self.database() as connection:
            connection.execute("INSERT INTO note VALUES (%s)", [text])

    def answers(self) -> bool:
        try:
            self.database().close()
        except psycopg.OperationalError:
            return False
        return True

    def valkey_has_written(self, text: str) -> bool:
        files = (self.var / "valkey" / "appendonlydir").glob("*.aof")
        return any(text.encode() in file.read_bytes() for file in files)

    def broker(self) -> redis.Redis:
        return redis.Redis.from_url(embedded.cache_url(self.var))


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a Postgres, to be copied: faster than to make them each time."""
    var = tmp_path_factory.mktemp("cluster")
    sockets = embedded.make_run_directory(var)
    supervisor = Supervisor(Console(var / "log", QUIET))
    try:
        supervisor.start(servers.postgres(var / "pg", sockets, servers.WITHOUT_DURABILITY))
    finally:
        supervisor.stop()
        shutil.rmtree(sockets)
    return var / "pg"


@contextmanager
def building(cluster: Path) -> Iterator[Callable[..., House]]:
    """Builds houses; what is left running is killed at the end."""
    made: list[House] = []

    def make(var: Path, *, with_cluster: bool = True, **options: object) -> House:
        var.mkdir(parents=True)
        if with_cluster:
            shutil.copytree(cluster, var / "pg")
        made.append(house := House(var, **options))
        return house

    try:
        yield make
    finally:
        for house in made:
            if house.process is not None and house.process.poll() is None:
                house.family |= descendants(house.process.pid)
                house.kill_all()
            shutil.rmtree(embedded.run_directory(house.var), ignore_errors=True)


@pytest.fixture
def make_house(cluster: Path) -> Iterator[Callable[..., House]]:
    with building(cluster) as make:
        yield make


@pytest.fixture
def house(make_house: Callable[..., House], tmp_path: Path) -> House:
    return make_house(tmp_path / "var")


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A temporary folder that other users may read, unlike pytest's."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def make_database() -> Iterator[Callable[..., str]]:
    """Makes databases on the server of the tests, empty ones or with all tables, each with its URL."""
    made = []
    given = os.environ["DATABASE_URL"]

    def make(template: str = "template1") -> str:
        made.append(name := f"start_{uuid.uuid4().hex[:12]}")
        administer(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(*map(sql.Identifier, (name, template))))
        return given.replace(f"/{embedded.DATABASE}", f"/{name}", 1)

    yield make
    for name in made:
        administer(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def administer(statement: sql.Composed) -> None:
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
        connection.execute(statement)


@pytest.fixture(name="until")
def waiting() -> Callable[..., bool]:
    return until


@pytest.fixture(name="is_running")
def checking_processes() -> Callable[[int], bool]:
    return is_running
