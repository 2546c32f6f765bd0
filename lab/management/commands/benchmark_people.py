"""A portal with people in it: page views, marks, searches and synchronizations, while feeds are checked."""

import asyncio
import random
import time
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from django.core.management.base import CommandError

from apps.retrieval.actions import change_plan, learn_profiles, replan_changed
from apps.retrieval.models import Plan, Schedule
from lab.benchmarks.load_test import people, population, requests
from lab.harness import LabCommand, cpu_seconds_of_family, family, postgres_pid, workers
from lab.worlds.actions import add_feeds
from lab.worlds.leases import lease
from lab.worlds.loading import DAY, MADE_UP_ORIGIN
from lab.worlds.queries import lateness_of_due
from lab.worlds.responses import Options
from lab.worlds.server import serving
from lab.worlds.synthetic import make_feeds
from lab.worlds.timeline import Timeline

SPEED = 60.0  # replayed seconds per second
MIN_GAP = 3_600  # replayed seconds between two checks of a feed: a minute
WARM_UP_SECONDS = 600.0  # of load before the measurement, until caches are full
MAX_FIRST_SECONDS = 600.0  # until every feed was checked once
MEGABYTE = 2**20


class Command(LabCommand):
    help = f"{__doc__} All processes of a portal and the load run on this machine."
    fills_database = True
    seed = 11

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--accounts", type=int, default=10_000, help="default: %(default)s")
        parser.add_argument("--active", type=int, default=500, help="of them (default: %(default)s)")
        parser.add_argument("--minutes", type=float, default=30.0, help="default: %(default)g")
        parser.add_argument("--rate", type=float, default=25.0, help="page views a second (default: %(default)g)")
        parser.add_argument("--postings", type=int, default=300_000, help="that are stored (default: %(default)s)")
        parser.add_argument("--sources", type=int, default=2_000, help="that publish them (default: %(default)s)")
        parser.add_argument("--feeds", type=int, default=300, help="that are checked meanwhile (default: %(default)s)")
        parser.add_argument("--warm-up", type=float, default=WARM_UP_SECONDS, help="seconds (default: %(default)g)")

    def measure(
        self,
        *args: Any,
        accounts: int,
        active: int,
        minutes: float,
        rate: float,
        postings: int,
        sources: int,
        feeds: int,
        warm_up: float,
        seed: int,
        **_: Any,
    ) -> Mapping[str, float]:
        if not 0 < active <= accounts or min(minutes, rate, feeds) <= 0:
            raise CommandError("--active must be 1 to --accounts, and --minutes, --rate and --feeds more than 0.")
        chance = random.Random(seed)
        users, programs = self._prepare(postings, sources, accounts, active, chance)
        origin, whole = MADE_UP_ORIGIN.timestamp(), 60 * minutes + warm_up + MAX_FIRST_SECONDS
        made = make_feeds(feeds, seed=seed, begin=origin - DAY, end=origin + SPEED * whole + DAY)
        replayed = serving(
            made,
            timeline=Timeline(origin, time.time(), SPEED),
            faults={},
            options=Options(end=origin + SPEED * whole + DAY),
            record=lambda _line: None,
        )
        with replayed as replay, ExitStack() as stack:
            stack.enter_context(lease(replay.addresses.open_host))
            change_plan(policy="ours", budget=60.0 * feeds / 4, unit=Plan.Unit.HOUR)
            add_feeds(replay.feeds, replay.addresses, speed=SPEED, min_gap=MIN_GAP, now=datetime.now(UTC))
            address, web = stack.enter_context(requests.portal())
            processes = stack.enter_context(workers(WIREBEAT_LOG_LEVEL="ERROR"))
            pids = [web.pid, *(process.pid for process in processes.values())]
            self._await_first(feeds)
            learn_profiles(now=datetime.now(UTC))  # as every night; until now a prior stood for all
            replan_changed(now=datetime.now(UTC))
            self._load(address, users, programs, warm_up, rate, chance, [])
            memory: list[float] = []
            began, servers = datetime.now(UTC), [web.pid, *postgres_pid()]
            before = sum(map(cpu_seconds_of_family, servers))
            answers = self._load(address, users, programs, 60 * minutes, rate, chance, memory, pids)
            used = sum(map(cpu_seconds_of_family, servers)) - before
            late = lateness_of_due(began, datetime.now(UTC))
        figures = {
            "accounts": accounts,
            "active": active,
            **_of_answers(answers, 60 * minutes),
            "request_cpu_ms": 1_000 * used / max(1, sum(map(len, answers.seconds.values()))),
            "retrievals": late.retrievals,
            "begun_p99_s": late.begun.p99,
            "rss_growth_percent": growth(memory),
            "rss_mb": memory[-1] if memory else 0.0,
            "postings": postings,
        }
        self.show(f"{accounts:,} accounts, {active:,} active", figures, "{:,.6g}")
        for error, count in Counter(answers.errors).most_common(10):
            self.say(f"{count} x {error}")
        return figures

    def _prepare(
        self, postings: int, sources: int, accounts: int, active: int, chance: random.Random
    ) -> tuple[list[requests.VirtualUser], list[people.Program]]:
        begun = time.monotonic()
        populated = population.fill(self, sources, postings, accounts, seed=chance.randrange(2**32))
        users = requests.sign_in(chance.sample(populated.user_ids.tolist(), active), chance)
        programs = people.programs(users)
        self.say(f"Prepared in {time.monotonic() - begun:.0f} s.")
        return users, programs

    def _load(
        self,
        address: str,
        users: list[requests.VirtualUser],
        programs: list[people.Program],
        seconds: float,
        rate: float,
        chance: random.Random,
        memory: list[float],
        pids: Sequence[int] = (),
    ) -> people.Answers:
        with self.progress() as progress:
            bar = progress.add_task(f"{rate:g} page views a second", total=seconds)
            begun = time.monotonic()

            def watch() -> None:
                progress.update(bar, completed=time.monotonic() - begun)
                if pids:
                    memory.append(sum(resident(pid) for pid in family(pids)) / MEGABYTE)

            return asyncio.run(
                people.load(address, users, programs, seconds=seconds, rate=rate, chance=chance, watch=watch)
            )

    @staticmethod
    def _await_first(feeds: int) -> None:
        until = time.monotonic() + MAX_FIRST_SECONDS
        while (checked := Schedule.objects.exclude(observed_at=None).count()) < 0.95 * feeds:
            if time.monotonic() > until:
                raise CommandError(f"Only {checked} of {feeds} feeds were checked within {MAX_FIRST_SECONDS:.0f} s.")
            time.sleep(0.5)


def _of_answers(answers: people.Answers, seconds: float) -> dict[str, float]:
    views, syncs = answers.of(syncs=False), answers.of(syncs=True)
    p50, p99 = np.percentile(views, [50, 99]) * 1_000
    figures = {
        "views_per_s": len(views) / seconds,
        "syncs_per_s": len(syncs) / seconds,
        "p50_ms": float(p50),
        "p99_ms": float(p99),
        "errors": len(answers.errors),
    }
    for kind, found in sorted(answers.seconds.items()):
        figures[f"{kind}.p99_ms"] = float(np.percentile(found, 99) * 1_000)
    return figures


def growth(memory: list[float]) -> float:
    """By how many percent the last fifth of the time takes more memory than the first one."""
    if not memory:
        return 0.0
    fifth = max(1, len(memory) // 5)
    return float((np.mean(memory[-fifth:]) / np.mean(memory[:fifth]) - 1) * 100)


def resident(pid: int) -> float:
    """Bytes of a process in memory, shared pages divided among those who map them."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    except OSError:  # it has ended since
        return 0.0
    return 1024.0 * next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))
