"""All parts of a portal: its servers, two beats, two workers and the web, each a process of its own."""

import http.client
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path

from lab.chaos import rabbitmq
from lab.chaos.hosts import FROM_ALL_HOSTS, PORT_OF_BROKER, Hosts, hosts
from lab.chaos.places import Places
from lab.chaos.processes import Part
from portal.launcher import embedded, processes, servers, startup
from portal.launcher.embedded import StartError
from portal.launcher.supervisor import Program

BUFFERS = 128 * 2**20  # bytes of Postgres' shared memory
BEATS, RETRIEVING, DERIVING = ("beat1", "beat2"), ("retrieval1", "retrieval2"), ("derive1",)
WORKERS = (*RETRIEVING, *DERIVING)
VALKEY_FOR_ALL = ("--port", str(PORT_OF_BROKER), "--bind", "0.0.0.0", "--protected-mode", "no")
LOOPBACK = {"listen_addresses": rabbitmq.HOST}


class Stage:
    """The parts by name. Servers begin first and end last."""

    def __init__(self, places: Places, hosts: Hosts | None = None) -> None:
        self.places, self.hosts = places, hosts
        self._logs = places.var / "log"
        self._logs.mkdir(parents=True, exist_ok=True)
        self.parts: dict[str, Part] = {}
        self.revived: list[str] = []
        self.messages = Path()  # what the broker keeps
        self._open_hosts: Sequence[str] = ()
        self._listener = startup.listen("127.0.0.1", 0)

    def begin_servers(self) -> None:
        places, data = self.places, self.places.var / "pg"
        valkey = servers.valkey(places.var / "valkey", places.sockets)
        settings, programs = servers.postgres_settings(shared_buffers=BUFFERS), None
        if self.hosts is not None:
            (rules := places.var / "pg_hba.conf").write_text(FROM_ALL_HOSTS, encoding="ascii")
            settings |= {"listen_addresses": "*", "hba_file": str(rules)}
        if places.are_debians:
            settings, programs = settings | LOOPBACK, embedded.postgres_programs(of_the_system=True)
            for program in rabbitmq.programs(places.var, places.broker_port):
                self._begin(program)
            self._begin(replace(valkey, name="cache"))
        else:
            self._begin(self._on_first_host(replace(valkey, name="broker"), *VALKEY_FOR_ALL))
        postgres = servers.postgres(data, places.sockets, settings, port=places.database_port, programs=programs)
        self._begin(self._on_first_host(postgres), members=lambda: processes.living_in(data, "postgres"))
        self.messages = places.var / ("rabbitmq/data" if places.are_debians else "valkey")

    def migrate(self) -> None:
        migration = [sys.executable, "-m", "portal.launcher.preparation", "migrate"]
        if subprocess.run(migration, cwd=startup.ROOT, env=self.environment(), check=False).returncode:
            raise StartError("The database could not be prepared; the lines above say why.")

    def begin_portal(self, open_hosts: Sequence[str]) -> None:
        """The web, workers and beats, which reach `open_hosts` of this machine (each with a port) from all hosts."""
        self._open_hosts = open_hosts
        ports = [int(entry.rpartition(":")[2]) for entry in open_hosts]
        _, (web, retrieval, derive, beat) = startup.applications(self._listener, {})
        self._begin(self._named(web, "web"), wait=False)
        if self.hosts is not None:
            self._forward("ports", [f"{self._socket(port)}={port}" for port in ports])
            for name in WORKERS:
                self._forward(f"ports of {name}", [f"{port}={self._socket(port)}" for port in ports], name)
        for name in WORKERS:
            worker = retrieval if name in RETRIEVING else derive
            self._begin(self._named(worker, name, "--hostname", f"{name}@%h"), wait=False)
        for name in BEATS:
            self._begin(self._on_first_host(self._named(beat, name)), wait=False)
        self.parts["web"].await_ready()

    def environment(self, **further: str) -> Mapping[str, str]:
        opened = {"WIREBEAT_OPEN_HOSTS": ",".join(self._open_hosts)}
        return os.environ | self.places.environment | opened | further

    def is_ready(self) -> bool:
        """Whether the site says that it can do its work."""
        host, port = self._listener.getsockname()[:2]
        with closing(http.client.HTTPConnection(host, port, timeout=3.0)) as connection:
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
        parts = [self.parts[name] for name in ("web", *BEATS, *WORKERS)]
        for part in parts:
            part.ask_to_end()
        for part in parts:
            part.await_end()

    def end(self) -> None:
        for part in reversed(self.parts.values()):
            part.break_off()
        self._listener.close()

    def _named(self, program: Program, name: str, *further: str) -> Program:
        """A part of that name, which Postgres shows as the name of its sessions; its messages go out twice."""
        command = ["lab.chaos.doubling" if part == "portal" else part for part in program.command]
        chosen = {"PGAPPNAME": name, "WIREBEAT_LOG_LEVEL": "INFO"}
        if self.hosts is not None and name in WORKERS:
            command = [*self.hosts.enter(self.hosts.of(name)), *command]
            chosen |= self.hosts.addresses_for(name)
        return replace(
            program,
            name=name,
            command=[*command, *further],
            environment=self.environment(**chosen),
            files=program.files,
        )

    def _on_first_host(self, program: Program, *further: str) -> Program:
        if self.hosts is None:
            return program
        return replace(program, command=[*self.hosts.enter(self.hosts.first), *program.command, *further])

    def _forward(self, name: str, routes: list[str], worker: str = "") -> None:
        command = [sys.executable, "-m", "lab.chaos.forwarding", *routes]
        if self.hosts is not None and worker:
            command = [*self.hosts.enter(self.hosts.of(worker)), *command]
        self._begin(Program(name=name, command=command, directory=startup.ROOT))

    def _socket(self, port: int) -> Path:
        return self.places.sockets / f"port{port}"

    def _begin(self, program: Program, *, wait: bool = True, **options: object) -> None:
        part = self.parts[program.name] = Part(program, self._logs, **options)  # type: ignore[arg-type]
        part.start()
        if wait:
            part.await_ready()


@contextmanager
def stage(places: Places, *, on_hosts: bool) -> Iterator[Stage]:
    """The parts of a portal at their places; at the end of the block all of them have ended."""
    with ExitStack() as stack:
        embedded.make_run_directory(places.var)
        stack.callback(shutil.rmtree, places.sockets, ignore_errors=True)
        made = Stage(places, stack.enter_context(hosts(WORKERS)) if on_hosts else None)
        stack.callback(made.end)
        yield made
