"""The processes of a portal: its servers, two beats, three workers and the web server."""

import http.client
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from lab import throwaway
from lab.chaos import rabbitmq
from lab.chaos.endpoints import Endpoints
from lab.chaos.hosts import BROKER_PORT, FROM_ALL_HOSTS, Hosts, hosts
from lab.chaos.processes import Process
from portal.launcher import embedded, processes, servers, startup
from portal.launcher.embedded import StartError
from portal.launcher.supervisor import Program

BUFFERS = 128 * 2**20  # bytes of Postgres' shared memory
BEATS, RETRIEVING, DERIVING = ("beat1", "beat2"), ("retrieval1", "retrieval2"), ("derive1",)
WORKERS = (*RETRIEVING, *DERIVING)
VALKEY_FOR_ALL = ("--port", str(BROKER_PORT), "--bind", "0.0.0.0", "--protected-mode", "no")
LOOPBACK = {"listen_addresses": rabbitmq.HOST}


class Topology:
    """The processes by name. Servers start first and stop last."""

    def __init__(self, endpoints: Endpoints, hosts: Hosts | None = None) -> None:
        self.endpoints, self.hosts = endpoints, hosts
        self._logs = endpoints.var / "log"
        self._logs.mkdir(parents=True, exist_ok=True)
        self.processes: dict[str, Process] = {}
        self.revived: list[str] = []
        self.messages = Path()  # folder of the broker's messages
        self._open_hosts: Sequence[str] = ()
        self._listener = startup.listen("127.0.0.1", 0)

    def start_servers(self) -> None:
        endpoints, data = self.endpoints, self.endpoints.var / "pg"
        valkey = servers.valkey(endpoints.var / "valkey", endpoints.sockets)
        settings, programs = servers.postgres_settings(shared_buffers=BUFFERS), None
        if self.hosts is not None:
            (rules := endpoints.var / "pg_hba.conf").write_text(FROM_ALL_HOSTS, encoding="ascii")
            settings |= {"listen_addresses": "*", "hba_file": str(rules)}
        if endpoints.use_debian:
            settings, programs = settings | LOOPBACK, embedded.postgres_programs(of_the_system=True)
            for program in rabbitmq.programs(endpoints.var, endpoints.broker_port):
                self._begin(program)
            self._begin(valkey._replace(name="cache"))
        else:
            throwaway.copy_migrated_cluster(data)
            self._begin(self._on_first_host(valkey._replace(name="broker"), *VALKEY_FOR_ALL))
        postgres = servers.postgres(data, endpoints.sockets, settings, port=endpoints.database_port, programs=programs)
        self._begin(self._on_first_host(postgres), members=lambda: processes.living_in(data, "postgres"))
        self.messages = endpoints.var / ("rabbitmq/data" if endpoints.use_debian else "valkey")

    def migrate(self) -> None:
        if not self.endpoints.use_debian:
            return  # its cluster is the copy of a migrated one
        migration = [sys.executable, "-m", "portal.launcher.preparation", "migrate"]
        if subprocess.run(migration, cwd=startup.ROOT, env=self.environment(), check=False).returncode:
            raise StartError("The database could not be prepared; the lines above say why.")

    def start_portal(self, open_hosts: Sequence[str]) -> None:
        """Start web, workers and beats, which reach `open_hosts` of this machine (each with a port) from all hosts."""
        self._open_hosts = open_hosts
        ports = [int(entry.rpartition(":")[2]) for entry in open_hosts]
        _, (web, retrieval, derive, beat) = startup.applications(self._listener, {})
        self._begin(self._instance(web, "web"), wait=False)
        if self.hosts is not None:
            self._forward("ports", [f"{self._socket(port)}={port}" for port in ports])
            for name in WORKERS:
                self._forward(f"ports of {name}", [f"{port}={self._socket(port)}" for port in ports], name)
        for name in WORKERS:
            worker = retrieval if name in RETRIEVING else derive
            self._begin(self._instance(worker, name, "--hostname", f"{name}@%h"), wait=False)
        for name in BEATS:
            self._begin(self._on_first_host(self._instance(beat, name)), wait=False)
        self.processes["web"].await_ready()

    def environment(self, **further: str) -> Mapping[str, str]:
        opened = {"WIREBEAT_OPEN_HOSTS": ",".join(self._open_hosts)}
        return os.environ | self.endpoints.environment | opened | further

    @property
    def address(self) -> str:
        """Host and port of the site."""
        host, port = self._listener.getsockname()[:2]
        return f"{host}:{port}"

    def is_ready(self) -> bool:
        with closing(http.client.HTTPConnection(self.address, timeout=3.0)) as connection:
            try:
                connection.request("GET", "/health/ready")
                return connection.getresponse().status == 200
            except (OSError, http.client.HTTPException):
                return False

    def restart_ended(self) -> None:
        """Restart processes that exited by themselves, as a supervisor does."""
        for process in self.processes.values():
            if process.has_ended():
                self.revived.append(process.name)
                process.start()

    def restart(self, names: Sequence[str]) -> None:
        for name in names:
            self.processes[name].end()
            self.processes[name].start()

    def stop_portal(self) -> None:
        members = [self.processes[name] for name in ("web", *BEATS, *WORKERS)]
        for process in members:
            process.request_stop()
        for process in members:
            process.await_stop()

    def end(self) -> None:
        for process in reversed(self.processes.values()):
            process.stop_now()
        self._listener.close()

    def _instance(self, program: Program, name: str, *further: str) -> Program:
        """The program under a name, which its sessions in Postgres have too; it sends every message twice."""
        command = ["lab.chaos.duplicate_delivery" if part == "portal" else part for part in program.command]
        chosen = {"PGAPPNAME": name, "WIREBEAT_LOG_LEVEL": "INFO"}
        if self.hosts is not None and name in WORKERS:
            command = [*self.hosts.enter(self.hosts.of(name)), *command]
            chosen |= self.hosts.addresses_for(name)
        return program._replace(
            name=name,
            command=[*command, *further],
            environment=self.environment(**chosen),
            files=program.files,
        )

    def _on_first_host(self, program: Program, *further: str) -> Program:
        if self.hosts is None:
            return program
        return program._replace(command=[*self.hosts.enter(self.hosts.first), *program.command, *further])

    def _forward(self, name: str, routes: list[str], worker: str = "") -> None:
        command = [sys.executable, "-m", "lab.chaos.forwarding", *routes]
        if self.hosts is not None and worker:
            command = [*self.hosts.enter(self.hosts.of(worker)), *command]
        self._begin(Program(name=name, command=command, directory=startup.ROOT))

    def _socket(self, port: int) -> Path:
        return self.endpoints.sockets / f"port{port}"

    def _begin(self, program: Program, *, wait: bool = True, **options: object) -> None:
        process = self.processes[program.name] = Process(program, self._logs, **options)  # type: ignore[arg-type]
        process.start()
        if wait:
            process.await_ready()


@contextmanager
def running_topology(endpoints: Endpoints, *, on_hosts: bool) -> Iterator[Topology]:
    """The processes of a portal; all of them have stopped at the end of the block."""
    with ExitStack() as stack:
        embedded.make_run_directory(endpoints.var)
        stack.callback(shutil.rmtree, endpoints.sockets, ignore_errors=True)
        made = Topology(endpoints, stack.enter_context(hosts(WORKERS)) if on_hosts else None)
        stack.callback(made.end)
        yield made
