"""What a portal takes of a small server: memory, processor time, connections and time to start."""

import os
import socket
import sys
import time
import urllib.request
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import psutil
from django.conf import settings
from django.core.management.base import CommandError
from django.db import connection

from apps.accounts.models import User
from apps.database.statements import fetch
from apps.postings.models import Posting
from lab import throwaway
from lab.benchmarks.load_test.browser import Browser
from lab.harness import LabCommand, cpu_seconds, cpu_seconds_of_family, running, table
from lab.management.commands.benchmark_import import NAME, PASSWORD, import_list
from lab.worlds.queries import unread_changes
from lab.worlds.server_process import serving_apart
from portal.launcher import processes

MAX_START_SECONDS = 600.0  # s
MAX_IMPORT_SECONDS = 1_800.0  # s
POSTINGS = 60  # in a feed
ROLES = {  # and a part of their command lines
    "nursery": "launcher.forking",
    "web": "gunicorn",
    "postgres": "postgres",
    "valkey": "valkey",
    "retrieval": "retrieval@",
    "derive": "derive@",
    "beat": " beat",
}
CONNECTIONS = """
SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
"""


class Role(NamedTuple):
    processes: int
    pss: int  # bytes
    threads: int


class Command(LabCommand):
    help = f"{__doc__} `up` runs with a data folder of its own; the feeds it imports are on loopback."
    seed = 1

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--seconds", type=float, default=600.0, help="of idling (default: %(default)g)")
        parser.add_argument("--settle", type=float, default=120.0, help="seconds before that (default: %(default)g)")
        parser.add_argument("--feeds", type=int, default=300, help="to import, 0 for none (default: %(default)s)")

    def run_from_argv(self, argv: list[str]) -> None:
        if settings.VAR_DIR.name.startswith(throwaway.PREFIX) or {"-h", "--help"} & set(argv):
            return super().run_from_argv(argv)
        processes.hold_signals()
        with throwaway.folder() as var:
            kept = {name: value for name, value in os.environ.items() if not name.endswith("_URL")}
            # Without bytecode, every start would compile all modules, which takes 8 s of CPU and leaves 30 MB more.
            environment = kept | {"WIREBEAT_VAR": str(var), "PYTHONDONTWRITEBYTECODE": ""}
            sys.exit(throwaway.run_in_front([sys.executable, *argv], environment).code)

    def measure(
        self, *args: Any, seconds: float, settle: float, feeds: int, seed: int, **options: Any
    ) -> Mapping[str, float]:
        figures: dict[str, float] = {}
        with _portal() as (supervisor, address, figures["start_s"]):
            time.sleep(settle)
            figures["connections"] = fetch(CONNECTIONS)[0][0]
            connection.close()
            figures["idle_pss_mb"] = self._show("Idle", _roles(supervisor))
            figures["idle_cpu_percent"] = self._idle(supervisor, seconds)
            if feeds:
                figures["import_s"] = self._import(address, feeds, seed)
                time.sleep(settle)
                figures["after_import_pss_mb"] = self._show("After an import", _roles(supervisor))
        with _portal() as started:
            figures["restart_s"] = started[2]
        self.show("Footprint", figures, "{:,.2f}")
        return figures

    def _idle(self, supervisor: int, seconds: float) -> float:
        """Percent of a core that all processes use."""
        before, began = _cpu(supervisor), time.monotonic()
        for _ in self.track(range(100), "Idling"):
            time.sleep(seconds / 100)
        took = time.monotonic() - began
        shares = {role: 100 * (used - before.get(role, 0.0)) / took for role, used in _cpu(supervisor).items()}
        shown = table(f"Processor time while idle for {took:.0f} s", "role", "% of a core")
        for role, share in sorted(shares.items()):
            shown.add_row(role, f"{share:.3f}")
        self.console.print(shown)
        return sum(shares.values())

    def _import(self, address: str, feeds: int, seed: int) -> float:
        User.objects.create_user(NAME, password=PASSWORD)
        with serving_apart(feeds, seed=seed, postings=POSTINGS) as server:
            began = time.monotonic()
            import_list(Browser(address), server)
            while Posting.objects.count() < feeds * POSTINGS or any(unread_changes().values()):
                if time.monotonic() > began + MAX_IMPORT_SECONDS:
                    raise CommandError("The list was not imported in time.")
                time.sleep(1.0)
            took = time.monotonic() - began
        connection.close()
        return took

    def _show(self, title: str, roles: Mapping[str, Role]) -> float:
        """Print the memory of each role; returns that of all, in MB."""
        shown = table(title, "role", "processes", "threads", "PSS, MB")
        for name, role in sorted(roles.items()):
            shown.add_row(name, str(role.processes), str(role.threads), f"{role.pss / 1e6:.1f}")
        self.console.print(shown)
        return sum(role.pss for role in roles.values()) / 1e6


@contextmanager
def _portal() -> Iterator[tuple[int, str, float]]:
    """A running portal: its supervisor's process, its address, and the seconds until its first page."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    began = time.monotonic()
    with running({"up": [sys.executable, "manage.py", "up", "--port", str(port)]}) as started:
        while not _answers(address):
            if started["up"].poll() is not None or time.monotonic() > began + MAX_START_SECONDS:
                raise CommandError("The portal did not start.")
            time.sleep(0.01)
        yield started["up"].pid, address, time.monotonic() - began


def _answers(address: str) -> bool:
    with suppress(OSError), urllib.request.urlopen(f"{address}/", timeout=60) as answer:
        return bool(answer.status == 200)
    return False


def _role(process: psutil.Process) -> str:
    """By the name that the process shows, else by its command line."""
    name, command = process.name(), " ".join(process.cmdline())
    forked = (role for role in ROLES if f"wirebeat {role}".startswith(name))
    return next(forked, next((role for role, part in ROLES.items() if part in command), "other"))


def _members(supervisor: int) -> dict[int, str]:
    """The role of each process of the portal; descendants have that of the supervisor's child."""
    members = {supervisor: "supervisor"}
    for child in psutil.Process(supervisor).children():
        with suppress(psutil.NoSuchProcess):
            role = _role(child)
            members |= dict.fromkeys((each.pid for each in (child, *child.children(recursive=True))), role)
    return members


def _roles(supervisor: int) -> dict[str, Role]:
    roles: dict[str, Role] = {}
    for pid, name in _members(supervisor).items():
        with suppress(psutil.NoSuchProcess):
            process, known = psutil.Process(pid), roles.get(name, Role(0, 0, 0))
            pss = process.memory_full_info().pss
            roles[name] = Role(known.processes + 1, known.pss + pss, known.threads + process.num_threads())
    return roles


def _cpu(supervisor: int) -> dict[str, float]:
    """Seconds by role."""
    used = {"supervisor": cpu_seconds(supervisor)}
    for child in psutil.Process(supervisor).children():
        with suppress(psutil.NoSuchProcess):
            role = _role(child)
            used[role] = used.get(role, 0.0) + cpu_seconds_of_family(child.pid)
    return used
