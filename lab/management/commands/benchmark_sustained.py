"""Whether a rate of retrievals can be sustained while sources publish and fail."""

import time
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from django.core.management.base import CommandError
from django.db import connection
from django.db.models import Count, F
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from apps.database.statements import fetch
from apps.retrieval.actions import change_plan, learn_profiles, replan_changed
from apps.retrieval.models import Plan, Retrieval, Schedule
from apps.retrieval.scheduler.queues import retrieval_queues
from lab.harness import LabCommand, command, cpu_seconds, running
from lab.worlds.actions import add_feeds
from lab.worlds.faults import choose_faults
from lab.worlds.leases import lease
from lab.worlds.loading import DAY, MADE_UP_ORIGIN
from lab.worlds.queries import lateness_of_due, unread_changes
from lab.worlds.responses import Options
from lab.worlds.server import serving
from lab.worlds.synthetic import make_feeds
from lab.worlds.timeline import Timeline

SPEED = 15.0  # replayed seconds per second; most is published at full hours: the faster, the sharper these peaks
HOUR = 3_600 / SPEED  # s, from one of them to the next
MIN_GAP = 600  # replayed seconds between two requests to a source: 40 s
HISTORY = DAY  # s before the beginning, so that feeds are not empty at first
FAULTY = 0.1  # share of the sources, a slow one among eleven of them
MARGIN = 1.03  # of the budget above the target, as the price is found by trial
MAX_CHANGES = 1_000  # that are still to be read when the watch begins
QUEUES = 8  # of retrievals
WATCHED_EVERY = 5.0  # s
SPREAD = 180.0  # s over which first retrievals are spread, to avoid waves
ROUNDS = 2  # full hours, after each of which the price is set by what was made in it
MAX_BEGINNING_SECONDS = 900.0  # s until all sources must have been retrieved once and their postings processed
MEGABYTE = 2**20


class Command(LabCommand):
    help = (
        f"{__doc__} A part of the sources is faulty or slow. Real beat and broker, feeds on loopback, workers for"
        " retrievals, and one for all that follows from them."
    )
    fills_database = True
    seed = 1

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--per-hour", type=int, default=500_000, help="retrievals (default: %(default)s)")
        parser.add_argument("--minutes", type=float, default=10.0, help="default: %(default)g")
        parser.add_argument("--sources", type=int, default=10_000, help="default: %(default)s")
        parser.add_argument("--workers", type=int, default=1, help="for retrievals (default: %(default)s)")

    def measure(
        self, *args: Any, per_hour: int, minutes: float, sources: int, workers: int, seed: int, **options: Any
    ) -> Mapping[str, float]:
        if min(per_hour, minutes, sources, workers) <= 0:
            raise CommandError("--per-hour, --minutes, --sources and --workers must be more than 0.")
        if workers > QUEUES:
            raise CommandError(f"There are {QUEUES} queues, so --workers can be {QUEUES} at most.")
        if per_hour > sources * 3_600 * SPEED / MIN_GAP:
            raise CommandError(
                f"{sources:,} sources may not be fetched so often: each once in {MIN_GAP / SPEED:.0f} s."
            )
        origin = MADE_UP_ORIGIN.timestamp()
        end = origin + (60 * minutes + MAX_BEGINNING_SECONDS) * SPEED + DAY
        with self.console.status(f"making up {sources:,} sources"):
            feeds = make_feeds(sources, seed=seed, begin=origin - HISTORY, end=end)
        replayed = serving(
            feeds,
            timeline=Timeline(origin, time.time(), SPEED),
            faults=choose_faults((feed.number for feed in feeds), FAULTY, seed),
            options=Options(end=end),
            record=_forget,
        )
        with replayed as replay, ExitStack() as stack, Progress(console=self.console) as progress:
            stack.enter_context(lease(replay.addresses.open_host))
            change_plan(policy="ours", budget=MARGIN * per_hour, unit=Plan.Unit.HOUR)
            add_feeds(replay.feeds, replay.addresses, speed=SPEED, min_gap=MIN_GAP, now=datetime.now(UTC))
            _spread()
            environment = {"WIREBEAT_RETRIEVAL_QUEUES": str(QUEUES)}
            started = stack.enter_context(running(_commands(workers), **environment))
            processes = [process.pid for process in started.values()]
            self._begin(progress, sources)
            # Profiles and the price, as every night; until now a sample of sources stood for all.
            learn_profiles(now=datetime.now(UTC))
            replan_changed(now=datetime.now(UTC))
            for _round in progress.track(range(ROUNDS), description="steering the price"):
                time.sleep(HOUR)
                _steer(MARGIN * per_hour)
            figures = self._watch(progress, processes, 60 * minutes)
        self._print(self.console, figures, per_hour)
        return figures

    @staticmethod
    def _begin(progress: Progress, sources: int) -> None:
        """Wait until nearly all sources were retrieved once and nothing is overdue."""
        bar, until = (
            progress.add_task("first retrievals", total=sources),
            time.monotonic() + MAX_BEGINNING_SECONDS,
        )
        while True:
            retrieved = Schedule.objects.exclude(requested_at=None).count()
            progress.update(bar, completed=retrieved)
            late = Schedule.objects.filter(due_at__lt=datetime.now(UTC) - timedelta(seconds=2)).count()
            unread = max(unread_changes().values())
            if retrieved >= 0.99 * sources and late <= 0.001 * sources and unread <= MAX_CHANGES:
                return
            if time.monotonic() > until:
                raise CommandError(
                    f"After {MAX_BEGINNING_SECONDS:.0f} s {retrieved:,} sources were retrieved, {late:,} are late,"
                    f" {unread:,} postings unread."
                )
            time.sleep(1)

    def _watch(self, progress: Progress, processes: list[int], seconds: float) -> dict[str, float]:
        began, clock = datetime.now(UTC), time.monotonic()
        cpu, memory = [cpu_seconds(pid) for pid in processes], list[list[float]]()
        bar = progress.add_task("keeping it up", total=seconds)
        while (passed := time.monotonic() - clock) < seconds:
            memory.append([resident(pid) for pid in processes])
            progress.update(bar, completed=passed)
            time.sleep(min(WATCHED_EVERY, seconds - passed + 0.01))
        ended = datetime.now(UTC)
        used = [cpu_seconds(pid) - before for pid, before in zip(processes, cpu, strict=True)]
        whole = (ended - began).total_seconds()
        return _figures(began, ended) | {
            "retrieving_cpu_share": sum(used[:-2]) / whole,
            "deriving_cpu_share": used[-2] / whole,
            "beat_cpu_share": used[-1] / whole,
            **_growth(np.array(memory) / MEGABYTE, whole),
        }

    @staticmethod
    def _print(console: Console, figures: dict[str, float], per_hour: int) -> None:
        table = Table("", "", show_header=False, title=f"{per_hour:,} retrievals an hour")
        for name, value in figures.items():
            table.add_row(name.replace("_", " "), f"{value:,.3g}" if abs(value) < 100 else f"{value:,.0f}")
        console.print(table)


def _spread() -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE retrieval_schedule SET due_at = now() + random() * make_interval(secs => %s)", [SPREAD])


def _steer(per_hour: float) -> None:
    """Steer the price as the portal does, but within minutes; there it moves little in a day, to resist noise."""
    now = datetime.now(UTC)
    made = Retrieval.objects.filter(fetched_at__gte=now - timedelta(seconds=HOUR)).count()
    wrong = max(made, 1) / (per_hour * HOUR / 3_600)
    Plan.objects.filter(pk=1).update(price=F("price") * min(max(wrong**2, 0.2), 5.0), priced_at=now)


def _commands(workers: int) -> dict[str, list[str]]:
    """The workers for retrievals, each with its share of the queues; the one for the rest; the beat."""
    queues = retrieval_queues(QUEUES)
    lines = {}
    for number in range(workers):
        name = f"retrieval{number}"
        share = [queue for queue in queues if int(queue.rpartition("-")[2]) % workers == number]
        lines[name] = command("retrieval", "--hostname", f"{name}@%h", "--queues", ",".join(share))
    return lines | {"derive": command("derive"), "beat": command("beat")}


_MAX_DUE = """
SELECT coalesce(max(count), 0)::float8 FROM (
    SELECT count(*) FROM retrieval_retrieval WHERE due_at >= %s AND due_at < %s GROUP BY date_trunc('second', due_at)
) of_second
"""


def _figures(began: datetime, ended: datetime) -> dict[str, float]:
    """Figures of retrievals that fell due in the time; one not stored at its end counts with its lateness so far."""
    late, [(max_due,)] = lateness_of_due(began, ended), fetch(_MAX_DUE, [began, ended])
    made = Retrieval.objects.filter(fetched_at__gte=began, fetched_at__lt=ended)
    outcomes = Counter(dict(made.values_list("outcome").annotate(count=Count("pk"))))
    hours = (ended - began) / timedelta(hours=1)
    return {
        "retrievals_per_hour": outcomes.total() / hours,
        "lateness_p50_s": late.begun.p50,
        "lateness_p99_s": late.begun.p99,
        "lateness_max_s": late.begun.longest,
        "stored_p50_s": late.stored.p50,
        "stored_p99_s": late.stored.p99,
        "stored_max_s": late.stored.longest,
        "not_stored": late.not_stored,
        "most_due_in_a_second": max_due,
        **{f"outcome_{name}": float(count) for name, count in sorted(outcomes.items())},
    }


def _growth(memory: NDArray[np.float64], seconds: float) -> dict[str, float]:
    """Memory in MB of all processes together: in the first and in the last fifth of the time, and its trend."""
    whole = memory.sum(axis=1)
    fifth = max(1, whole.size // 5)

    def grown(part: NDArray[np.float64]) -> float:
        return float(part[-fifth:].sum(axis=1).mean() - part[:fifth].sum(axis=1).mean())

    slope = np.polyfit(np.linspace(0, seconds / 3_600, whole.size), whole, 1)[0] if whole.size > 1 else 0.0
    return {
        "memory_first_mb": float(whole[:fifth].mean()),
        "memory_last_mb": float(whole[-fifth:].mean()),
        "retrieving_memory_growth_mb": grown(memory[:, :-2]),
        "deriving_memory_growth_mb": grown(memory[:, -2:-1]),
        "beat_memory_growth_mb": grown(memory[:, -1:]),
        "memory_mb_per_hour": float(slope),
    }


def resident(pid: int) -> float:
    """Bytes that a process has in memory (Linux)."""
    return float(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * 4096


def _forget(_line: object) -> None:
    """No record is wanted."""
