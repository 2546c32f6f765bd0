"""Replaces every process of a portal, one by one, under load: what fails or is late meanwhile."""

import asyncio
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import IO, Any

from django.conf import settings
from django.core.management.base import CommandError

from apps.database.statements import execute
from apps.retrieval.actions import change_plan
from apps.retrieval.models import Plan, Schedule, Worker
from lab.benchmarks.load_test import people, population, requests
from lab.chaos.watch import Watch
from lab.harness import LabCommand, command, end_of, family
from lab.worlds.actions import add_feeds
from lab.worlds.leases import lease
from lab.worlds.loading import DAY, MADE_UP_ORIGIN
from lab.worlds.queries import lateness_of_due
from lab.worlds.responses import Options
from lab.worlds.server import serving
from lab.worlds.synthetic import make_feeds
from lab.worlds.timeline import Timeline
from portal.launcher import startup

SPEED = 60.0  # replayed seconds per second
GAP = 15.0  # s between two checks of a feed
MAX_START_SECONDS = 120.0
SETTLE_SECONDS = 3.0  # between two replacements
PORTS = range(8_800, 8_900)
ROLES = ("web", "retrieval", "derive", "beat")


class Command(LabCommand):
    help = f"{__doc__} The successor starts first; the site's socket is shared, as by systemd."
    fills_database = True
    seed = 13

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--rounds", type=int, default=3, help="in which all are replaced (default: %(default)s)")
        parser.add_argument("--rate", type=float, default=10.0, help="page views a second (default: %(default)g)")
        parser.add_argument("--feeds", type=int, default=60, help="that are checked meanwhile (default: %(default)s)")

    def measure(self, *args: Any, rounds: int, rate: float, feeds: int, seed: int, **_: Any) -> Mapping[str, float]:
        if min(rounds, rate, feeds) <= 0:
            raise CommandError("--rounds, --rate and --feeds must be more than 0.")
        chance, now = random.Random(seed), datetime.now(UTC)
        ids = population.add_sources(40, now)
        list(population.add_postings(ids, 2_000, now, seed=seed))
        populated = population.add_users(ids, 40, now, seed=seed)
        population.archive()
        users = requests.sign_in(populated.user_ids.tolist(), chance)
        origin, end = MADE_UP_ORIGIN.timestamp(), MADE_UP_ORIGIN.timestamp() + 30 * DAY
        replayed = serving(
            make_feeds(feeds, seed=seed, begin=origin - DAY, end=end),
            timeline=Timeline(origin, time.time(), SPEED),
            faults={},
            options=Options(end=end),
            record=lambda _line: None,
        )
        with replayed as replay, ExitStack() as stack:
            stack.enter_context(lease(replay.addresses.open_host))
            change_plan(policy="uniform", budget=3_600 / GAP * feeds, unit=Plan.Unit.HOUR)
            add_feeds(replay.feeds, replay.addresses, speed=SPEED, min_gap=int(GAP * SPEED), now=datetime.now(UTC))
            portal = stack.enter_context(Portal(stack.enter_context(tempfile.TemporaryFile())))
            _await("the site", portal.answers)
            _await("all feeds checked", lambda: Schedule.objects.exclude(observed_at=None).count() >= 0.95 * feeds)
            _spread()
            began = datetime.now(UTC)
            load = Load(portal.address, users, rate, chance)
            for _round in self.track(range(rounds), "rounds"):
                for role in ROLES:
                    portal.replace(role)
                    time.sleep(SETTLE_SECONDS)
            answers = load.end()
            late = lateness_of_due(began, datetime.now(UTC))
        figures = {
            "replaced": len(ROLES) * rounds,
            "requests": sum(map(len, answers.seconds.values())),
            "errors": len(answers.errors),
            "page_max_ms": 1_000 * max(answers.of(syncs=False), default=0.0),
            "retrievals": late.retrievals,
            "late": late.late,
            "begun_max_s": late.begun.longest,
        }
        self.show("Replaced one by one", figures, "{:,.6g}")
        for error in answers.errors[:5]:
            self.say(error)
        return figures


class Portal:
    """Processes that can be replaced; the socket of the site stays."""

    def __init__(self, output: IO[bytes]) -> None:
        self._output = output
        self._listener = startup.listen("127.0.0.1", None, PORTS)
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._watch = Watch(os.environ["DATABASE_URL"])
        self._number = 0

    def __enter__(self) -> "Portal":
        for role in ROLES:
            self._start(role)
        return self

    def answers(self) -> bool:
        return startup.answers(self._listener)

    def __exit__(self, failure: type[BaseException] | None, *_: object) -> None:
        if failure:
            sys.stderr.write(end_of(self._output))
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            process.wait(timeout=MAX_START_SECONDS)
        self._watch.close()
        self._listener.close()

    def replace(self, role: str) -> None:
        """Start a successor, wait until it works, and stop the former one, which ends what it has begun."""
        former = self._processes[role]
        works = self._start(role)
        _await(f"a successor of {role}", works)
        former.send_signal(signal.SIGTERM)
        former.wait(timeout=MAX_START_SECONDS)

    def _start(self, role: str) -> Callable[[], object]:
        """Start a process; returns what finds out whether it works."""
        began, known = datetime.now(UTC), set(_workers())
        self._number += 1
        name, files, further = f"{role}{self._number}", list[int](), list[str]()
        if role == "web":
            files = [self._listener.fileno()]
            further = ["--bind", f"fd://{files[0]}"]
        elif role != "beat":
            further = ["--hostname", f"{name}@%h"]
        process = self._processes[role] = subprocess.Popen(
            command(role, *further),
            cwd=settings.BASE_DIR,
            env=os.environ | {"PGAPPNAME": name, "WIREBEAT_LOG_LEVEL": "ERROR"},
            pass_fds=files,
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=subprocess.STDOUT,
        )
        return {
            "web": lambda: len(family([process.pid])) > 1,  # its forks, which follow the loading of all modules
            "retrieval": lambda: set(_workers()) - known,
            "derive": lambda: name in self._watch.active_programs(began),
            "beat": lambda: name in self._watch.standbys(),
        }[role]


class Load:
    """Requests from a thread, until they are ended."""

    def __init__(self, address: str, users: Sequence[requests.VirtualUser], rate: float, chance: random.Random) -> None:
        self._until_end = threading.Event()
        self._answers = people.Answers()
        self._thread = threading.Thread(target=self._send, args=(address, users, rate, chance))
        self._thread.start()

    def _send(self, address: str, users: Sequence[requests.VirtualUser], rate: float, chance: random.Random) -> None:
        while not self._until_end.is_set():
            part = people.load(address, users, (), seconds=5.0, rate=rate, chance=chance, watch=lambda: None)
            found = asyncio.run(part)
            self._answers.errors += found.errors
            for kind, seconds in found.seconds.items():
                self._answers.seconds.setdefault(kind, []).extend(seconds)

    def end(self) -> people.Answers:
        self._until_end.set()
        self._thread.join()
        return self._answers


def _spread() -> None:
    """Let checks fall due at any time instead of in waves, between which a pause would not be noticed."""
    execute(
        "UPDATE retrieval_schedule SET due_at = now() + random() * %s * interval '1 second' WHERE due_at > now()", [GAP]
    )
    time.sleep(GAP)


def _workers() -> Iterable[str]:
    return Worker.objects.values_list("name", flat=True)


def _await(what: str, condition: Callable[[], object]) -> None:
    until = time.monotonic() + MAX_START_SECONDS
    while not condition():
        if time.monotonic() > until:
            raise CommandError(f"After {MAX_START_SECONDS:.0f} s there is not: {what}.")
        time.sleep(0.2)
