"""Whether so many retrievals an hour can be kept up, sources publishing and failing all the while."""

import time
from argparse import ArgumentParser
from collections import Counter
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from django.core.management.base import BaseCommand, CommandError
from django.db.models import Count
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from apps.database.statements import fetch
from apps.replay.actions import add_feeds
from apps.replay.algorithms.faults import choose_faults
from apps.replay.algorithms.synthetic import make_feeds
from apps.replay.algorithms.timeline import Timeline
from apps.replay.loading import DAY, MADE_UP_ORIGIN
from apps.replay.server import Options, serving
from apps.retrieval.actions import change_plan, control_price, learn_habits, replan_changed
from apps.retrieval.benchmarking import celery, cpu_seconds, require_empty_database, write_figures
from apps.retrieval.models import Plan, Retrieval, Schedule

SPEED = 100.0  # replayed seconds per second: a source may be asked every 36 s
HISTORY = 2 * DAY  # s before the beginning, so that feeds are not empty at first
FAULTY = 0.1  # share of the sources, a slow one among eleven of them
MARGIN = 1.05  # the budget by what is to be made: the price that meets it is not found at once
WORKER = ("worker", "-P", "threads", "-c", "32", "-l", "error", "--without-gossip", "--without-mingle")
BEAT = ("beat", "--pidfile=", "-l", "error")
WATCHED_EVERY = 5.0  # s
ROUNDS = 5  # hours of the sources' own time in which the price is steered to the budget
LONGEST_BEGINNING = 300.0  # s in which all sources must have been asked once
MEGABYTE = 2**20


class Command(BaseCommand):
    help = f"{__doc__} A part of the sources is faulty or slow. Real workers, beat and broker, feeds on loopback."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--per-hour", type=int, default=500_000, help="retrievals (default: %(default)s)")
        parser.add_argument("--minutes", type=float, default=10.0, help="default: %(default)g")
        parser.add_argument("--sources", type=int, default=10_000, help="default: %(default)s")
        parser.add_argument("--workers", type=int, default=1, help="processes (default: %(default)s)")
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--json", metavar="FILE")

    def handle(
        self,
        *args: Any,
        per_hour: int,
        minutes: float,
        sources: int,
        workers: int,
        seed: int,
        json: str | None,
        **options: Any,
    ) -> None:
        require_empty_database()
        if min(per_hour, minutes, sources, workers) <= 0:
            raise CommandError("--per-hour, --minutes, --sources and --workers must be more than 0.")
        console = Console()
        origin = MADE_UP_ORIGIN.timestamp()
        end = origin + (60 * minutes + LONGEST_BEGINNING) * SPEED + DAY
        with console.status(f"making up {sources:,} sources"):
            feeds = make_feeds(sources, seed=seed, begin=origin - HISTORY, end=end)
        replayed = serving(
            feeds,
            timeline=Timeline(origin, time.time(), SPEED),
            faults=choose_faults((feed.number for feed in feeds), FAULTY, seed),
            options=Options(end=end),
            record=_forget,
        )
        with replayed as replay, ExitStack() as stack, Progress(console=console) as progress:
            change_plan(policy=Plan.Policy.OURS, budget=MARGIN * per_hour, unit=Plan.Unit.HOUR)
            add_feeds(replay.feeds, replay.addresses, speed=SPEED, min_gap=None, now=datetime.now(UTC))
            processes = [stack.enter_context(celery(*WORKER, "-n", f"worker{n}@%h")).pid for n in range(workers)]
            processes.append(stack.enter_context(celery(*BEAT)).pid)
            self._begin(progress, sources)
            # Habits and their price, as every night; until then a few sources stood for all.
            learn_habits(now=datetime.now(UTC))
            replan_changed(now=datetime.now(UTC))
            for _round in progress.track(range(ROUNDS), description="steering the price"):
                time.sleep(3_600 / SPEED + 1)
                control_price(now=datetime.now(UTC))
                replan_changed(now=datetime.now(UTC))
            figures = self._watch(progress, processes, 60 * minutes)
        self._print(console, figures, per_hour)
        write_figures(json, figures)

    @staticmethod
    def _begin(progress: Progress, sources: int) -> None:
        """Until nearly all were asked once, and nothing waits that was due before."""
        bar, until = (
            progress.add_task("asking all for the first time", total=sources),
            time.monotonic() + LONGEST_BEGINNING,
        )
        while True:
            asked = Schedule.objects.exclude(asked_at=None).count()
            progress.update(bar, completed=asked)
            late = Schedule.objects.filter(due_at__lt=datetime.now(UTC) - timedelta(seconds=2)).count()
            if asked >= 0.99 * sources and late <= 0.001 * sources:
                return
            if time.monotonic() > until:
                raise CommandError(f"After {LONGEST_BEGINNING:.0f} s {asked:,} sources were asked, {late:,} are late.")
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
            "worker_cpu_share": sum(used[:-1]) / whole,
            "beat_cpu_share": used[-1] / whole,
            **_growth(np.array(memory) / MEGABYTE, whole),
        }

    @staticmethod
    def _print(console: Console, figures: dict[str, float], per_hour: int) -> None:
        table = Table("", "", show_header=False, title=f"{per_hour:,} retrievals an hour")
        for name, value in figures.items():
            table.add_row(name.replace("_", " "), f"{value:,.3g}" if abs(value) < 100 else f"{value:,.0f}")
        console.print(table)


_LATENESS = """
SELECT extract(epoch FROM fetched_at - due_at)::float8 - elapsed_ms / 1000.0 FROM retrieval_retrieval
WHERE due_at >= %s AND due_at < %s
"""


def _figures(began: datetime, ended: datetime) -> dict[str, float]:
    """Of what was due in the time; what is not done at its end counts as late as it is then."""
    done = [late for (late,) in fetch(_LATENESS, [began, ended])]
    waiting = fetch("SELECT due_at FROM retrieval_schedule WHERE due_at >= %s AND due_at < %s", [began, ended])
    late = np.array([*map(float, done), *((ended - due).total_seconds() for (due,) in waiting)])
    made = Retrieval.objects.filter(fetched_at__gte=began, fetched_at__lt=ended)
    outcomes = Counter(dict(made.values_list("outcome").annotate(count=Count("pk"))))
    hours = (ended - began) / timedelta(hours=1)
    p50, p99 = np.percentile(np.maximum(late, 0), [50, 99]).tolist() if late.size else (0.0, 0.0)
    return {
        "retrievals_per_hour": outcomes.total() / hours,
        "lateness_p50_s": p50,
        "lateness_p99_s": p99,
        "lateness_max_s": float(late.max(initial=0.0)),
        **{f"outcome_{name}": float(count) for name, count in sorted(outcomes.items())},
    }


def _growth(memory: NDArray[np.float64], seconds: float) -> dict[str, float]:
    """Memory in MB of all processes together: in the first and in the last fifth of the time, and its trend."""
    whole = memory.sum(axis=1)
    fifth = max(1, whole.size // 5)
    slope = np.polyfit(np.linspace(0, seconds / 3_600, whole.size), whole, 1)[0] if whole.size > 1 else 0.0
    return {
        "memory_first_mb": float(whole[:fifth].mean()),
        "memory_last_mb": float(whole[-fifth:].mean()),
        "memory_mb_per_hour": float(slope),
    }


def resident(pid: int) -> float:
    """Bytes that a process has in memory (Linux)."""
    return float(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * 4096


def _forget(_line: object) -> None:
    """No record is wanted."""
