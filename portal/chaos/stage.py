"""All parts of a portal: its servers, two beats, two workers and the web, each a process of its own."""

import http.client
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from portal import embedded, processes, servers, startup
from portal.chaos.parts import Part
from portal.embedded import StartError
from portal.supervisor import Program

BUFFERS = 128 * 2**20  # bytes of Postgres' shared memory
OPEN_HOSTS = ".replay.localhost,.alerts.localhost"
BEATS, WORKERS = ("beat1", "beat2"), ("worker1", "worker2")
SERIAL = "serial"  # the database of the serial run


@dataclass(frozen=True)
class Places:
    """Where the portal's servers are, and the folder of their files."""

    var: Path
    sockets: Path

    @property
    def environment(self) -> dict[str, str]:
        return {
            "DATABASE_URL": self.database,
            "BROKER_URL": embedded.valkey_url(self.sockets, "redis+socket"),
            "CACHE_URL": embedded.cache_url(self.var),
            "WIREBEAT_VAR": str(self.var),
            "WIREBEAT_OPEN_HOSTS": OPEN_HOSTS,
            "PYTHONUNBUFFERED": "1",
        }

    @property
    def database(self) -> str:
        return embedded.postgres_url(self.sockets)

    @property
    def serial_database(self) -> str:
        return self._other_database(SERIAL)

    @property
    def administration(self) -> str:
        return self._other_database("postgres")

    def _other_database(self, name: str) -> str:
        return self.database.replace(f"/{embedded.DATABASE}?", f"/{name}?")


def environment(var: Path) -> dict[str, str]:
    """What leads a process to the servers that will run in a folder."""
    return Places(var, embedded.run_directory(var)).environment | {"WIREBEAT_LOG_LEVEL": "WARNING"}


class Stage:
    """The parts by name. Servers begin first and end last."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self._logs = places.var / "log"
        self._logs.mkdir(parents=True, exist_ok=True)
        self.parts: dict[str, Part] = {}
        self.revived: list[str] = []
        self._listener = startup.listen("127.0.0.1", 0)

    def begin_servers(self) -> None:
        var, sockets = self.places.var, self.places.sockets
        data = var / "pg"
        postgres = servers.postgres(data, sockets, servers.postgres_settings(shared_buffers=BUFFERS))
        self._begin(postgres, members=lambda: processes.living_in(data, "postgres"))
        self._begin(replace(servers.valkey(var / "valkey", sockets), name="broker"))

    def migrate(self) -> None:
        migration = [sys.executable, "-m", "portal.preparation", "migrate"]
        if subprocess.run(migration, cwd=startup.ROOT, env=self.environment(), check=False).returncode:
            raise StartError("The database could not be prepared; the lines above say why.")

    def begin_portal(self) -> None:
        _, (web, worker, beat) = startup.applications(self._listener, {})
        self._begin(self._named(web, "web"), wait=False)
        for name in WORKERS:
            self._begin(self._named(worker, name, "--hostname", f"{name}@%h"), wait=False)
        for name in BEATS:
            self._begin(self._named(beat, name), wait=False)
        self.parts["web"].await_ready()

    def environment(self, **further: str) -> Mapping[str, str]:
        return os.environ | self.places.environment | further

    def is_ready(self) -> bool:
        """Whether the site says that it can do its work."""
        with closing(http.client.HTTPConnection(*self._listener.getsockname()[:2], timeout=3.0)) as connection:
            try:
                connection.request("GET", "/health/ready")
                return connection.getresponse().status == 200
            except (OSError, http.client.HTTPException):
                return False

    def revive(self) -> None:
        """Begin again what has ended by itself, as whoever keeps a portal's parts running does."""
        for part in self.parts.values():
            if part.has_ended():
                self.revived.append(part.name)
                part.start()

    def end_portal(self) -> None:
        for name in ("web", *BEATS, *WORKERS):
            self.parts[name].end()

    def end(self) -> None:
        for part in reversed(self.parts.values()):
            with suppress(ProcessLookupError):
                part.end()
        self._listener.close()

    def _named(self, program: Program, name: str, *further: str) -> Program:
        """A part of that name, which Postgres shows as the name of its sessions; its messages go out twice."""
        command = ["portal.doubling" if part == "portal" else part for part in program.command]
        return replace(
            program,
            name=name,
            command=[*command, *further],
            environment=self.environment(PGAPPNAME=name, WIREBEAT_LOG_LEVEL="INFO"),
            files=program.files,
        )

    def _begin(self, program: Program, *, wait: bool = True, **options: object) -> None:
        part = self.parts[program.name] = Part(program, self._logs, **options)  # type: ignore[arg-type]
        part.start()
        if wait:
            part.await_ready()


@contextmanager
def stage(var: Path) -> Iterator[Stage]:
    """The parts of a portal in a folder; at the end of the block all of them have ended."""
    sockets = embedded.make_run_directory(var)
    made = Stage(Places(var, sockets))
    try:
        yield made
    finally:
        made.end()
        shutil.rmtree(sockets, ignore_errors=True)
