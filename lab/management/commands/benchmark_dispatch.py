"""How late sources are dispatched by a real beat and a real broker; or, end to end, how late they are fetched."""

import contextlib
import time
from argparse import ArgumentParser
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from celery import current_app
from django.core.management.base import CommandError
from django.db import connection
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from apps.retrieval.models import Schedule
from apps.retrieval.scheduler.queues import queue_of
from apps.sources.algorithms.partitions import PARTITIONS
from apps.sources.models import Source
from lab.benchmarks.bursts import (
    add_and_fetch,
    add_silent,
    burst,
    print_bursts,
    settle,
    wait_until_idle,
    without_derived_work,
)
from lab.benchmarks.lateness import figures as figures_of
from lab.harness import LabCommand, command, cpu_seconds, running, workers
from lab.worlds.server_process import fetch_all, serving_apart

# A day's plan has one retrieval per source, so `schedules`/86400 are due each second; on top of that comes the burst.
PLAN = """
WITH numbered AS (SELECT source_id, row_number() OVER (ORDER BY source_id) n FROM retrieval_schedule)
UPDATE retrieval_schedule schedule SET due_at = to_timestamp(
    CASE WHEN n <= %(burst)s THEN %(start)s + %(seconds)s / 2.0 + random()
         ELSE %(start)s + random() * 86400 END)
FROM numbered WHERE numbered.source_id = schedule.source_id
"""


class Command(LabCommand):
    help = (
        "Measure dispatch lateness: from the time a source is due until its message reaches a worker's queue. With"
        " --end-to-end, workers fetch feeds on loopback: until the feed's server has the request, and until the log"
        " says that the answer is stored."
    )
    fills_database = True
    seed = 1

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--schedules", type=int, default=100_000)
        parser.add_argument(
            "--burst", type=int, default=5_000, help="sources due together (default: %(default)s; also hanging ones)"
        )
        parser.add_argument("--seconds", type=int, default=40)
        parser.add_argument("--end-to-end", action="store_true", help="fetch feeds, and store their postings")
        parser.add_argument("--feeds", type=int, default=300, help="due together, all of which answer")
        parser.add_argument("--rounds", type=int, default=10, help="in which these feeds fall due")
        parser.add_argument("--hanging", type=int, default=500, help="of --burst, hosts that accept and never answer")

    def measure(self, *args: Any, end_to_end: bool, **options: Any) -> Mapping[str, float]:
        if end_to_end:
            if not 0 <= options["hanging"] < options["burst"]:
                raise CommandError("--hanging must be less than --burst.")
            with workers():
                figures = self._end_to_end(options["feeds"], options["rounds"], options["seed"])
                Source.objects.all().delete()
                figures |= self._with_hanging(
                    options["burst"] - options["hanging"], options["hanging"], options["seed"]
                )
        else:
            figures = self._dispatch(options["schedules"], options["burst"], options["seconds"])
        return figures

    # --- end to end ---------------------------------------------------------------------------------------------------
    def _end_to_end(self, feeds: int, rounds: int, seed: int) -> dict[str, float]:
        with serving_apart(feeds, seed=seed, changes=rounds) as server:
            with self.progress() as progress:
                with without_derived_work():
                    numbers = add_and_fetch(server, server.feeds, progress)
                baseline, bursts = fetch_all(server, server.feeds), {}
                for number in progress.track(range(1, rounds + 1), description="Rounds"):
                    server.publish()
                    bursts[f"round {number}"] = burst(server, numbers)
                    settle(numbers)
                    wait_until_idle()
            cpu = server.cpu_seconds()
        print_bursts(self.console, f"{feeds:,} feeds due at once, an article new in each", bursts)
        self._print_baseline(feeds, baseline, cpu)
        return figures_of([*bursts.values()]) | {"baseline_fetch_s": baseline}

    def _with_hanging(self, feeds: int, hanging: int, seed: int) -> dict[str, float]:
        with serving_apart(feeds, seed=seed, changes=1) as server:
            with self.progress() as progress, without_derived_work():
                numbers = add_and_fetch(server, server.feeds, progress)
            silent = add_silent(server, hanging)
            wait_until_idle()
            baseline = fetch_all(server, server.feeds)
            server.publish()
            with self.console.status(f"{feeds + hanging:,} feeds due at once"):
                found = burst(server, numbers, unmeasured=silent)
            cpu = server.cpu_seconds()
        title = f"{feeds + hanging:,} feeds due at once, {hanging:,} of which never answer: the others"
        print_bursts(self.console, title, {"": found})
        self._print_baseline(feeds, baseline, cpu)
        return figures_of([found], "hanging_") | {"hanging_baseline_fetch_s": baseline}

    def _print_baseline(self, feeds: int, seconds: float, cpu: float) -> None:
        self.console.print(
            f"Baseline: a bare client that stores nothing fetches the {feeds:,} feeds within {seconds:.2f} s."
            f" The feeds' server used {cpu:.1f} s of CPU, most of it before the measurement.",
            highlight=False,
        )

    # --- dispatch alone -----------------------------------------------------------------------------------------------
    def _dispatch(self, schedules: int, burst: int, seconds: int) -> dict[str, float]:
        with self.console.status(f"making {schedules:,} schedules"):
            _fill(schedules)
        with running({"beat": command("beat")}) as started:
            began = time.time()
            with self.console.status("starting beat"):
                first = self._await_dispatch()
            start = time.time() + 1
            with connection.cursor() as cursor:
                cursor.execute(PLAN, {"burst": burst, "start": start, "seconds": seconds})
            with Progress(console=self.console) as progress:
                arrivals = self._receive(progress, start, seconds, without=first)
            cpu = cpu_seconds(started["beat"].pid)
        figures = self._figures(arrivals, start + seconds / 2, burst)
        figures["beat_cpu_share"] = cpu / (time.time() - began)
        self._print(self.console, figures, schedules, burst)
        return figures

    @staticmethod
    def _await_dispatch() -> int:
        """Until beat, which loads for some seconds, has dispatched a source that is due; its id."""
        first = Schedule.objects.latest("pk")
        Schedule.objects.filter(pk=first.pk).update(due_at=datetime.now(UTC))
        with current_app.connection_for_read() as broker:
            queue = current_app.amqp.queues[queue_of(0, 1)].bind(broker.default_channel)
            while (message := queue.get(no_ack=True)) is None or not message.headers["task"].endswith(".retrieve"):
                time.sleep(0.05)
        return first.source_id

    def _receive(self, progress: Progress, start: float, seconds: int, without: int) -> list[tuple[float, float]]:
        """Take messages from the queue as a worker would; pairs of due and arrival time.

        No worker begins the claims, so beat publishes or releases them: the first message of each source counts, and
        none of the source that was dispatched before `start`.
        """
        arrivals: dict[int, tuple[float, float]] = {}

        def note(body: Any, message: Any) -> None:
            now = time.time()
            claims = body[0][0] if message.headers["task"].endswith(".retrieve") else []
            for source_id, _, due, _ in claims:
                if due >= start and source_id != without:
                    arrivals.setdefault(source_id, (due, now))
            message.ack()

        bar = progress.add_task("receiving", total=seconds + 2)
        with current_app.connection_for_read() as broker:
            queue = current_app.amqp.queues[queue_of(0, 1)]
            with broker.Consumer(queue.bind(broker.default_channel), callbacks=[note], accept=["json"]):
                while (now := time.time()) < start + seconds + 1:
                    with contextlib.suppress(TimeoutError):
                        broker.drain_events(timeout=0.5)
                    progress.update(bar, completed=now - start + 1)
        return [*arrivals.values()]

    @staticmethod
    def _figures(arrivals: list[tuple[float, float]], burst_at: float, burst: int) -> dict[str, float]:
        due, arrived = np.array(arrivals).T
        late = 1_000 * (arrived - due)  # ms
        in_burst = (due >= burst_at) & (due <= burst_at + 1)
        figures = {"dispatched": float(late.size), "expected_in_burst": float(burst)}
        for name, part in (("", late), ("burst_", late[in_burst]), ("steady_", late[~in_burst])):
            figures[f"{name}lateness_p50_ms"] = float(np.percentile(part, 50)) if part.size else 0.0
            figures[f"{name}lateness_p99_ms"] = float(np.percentile(part, 99)) if part.size else 0.0
        figures["dispatched_in_burst"] = float(in_burst.sum())
        return figures

    @staticmethod
    def _print(console: Console, figures: dict[str, float], schedules: int, burst: int) -> None:
        table = Table(title=f"Dispatch lateness with {schedules:,} schedules and a burst of {burst:,} in one second")
        for column in ("", "p50 ms", "p99 ms"):
            table.add_column(column, justify="right")
        for label, name in (("all", ""), ("burst", "burst_"), ("steady", "steady_")):
            table.add_row(label, *(f"{figures[f'{name}lateness_{p}_ms']:.1f}" for p in ("p50", "p99")))
        console.print(table)
        console.print(
            f"{figures['dispatched']:.0f} dispatched, {figures['dispatched_in_burst']:.0f} of them in the burst's "
            f"second; beat used {100 * figures['beat_cpu_share']:.1f} % of a core"
        )


def _fill(schedules: int) -> None:
    """Add sources that are due in a day, round-robin over the partitions."""
    observed_at = datetime.now(UTC)
    due_at = observed_at + timedelta(days=1)
    urls = (f"http://source{number}.example/feed" for number in range(schedules))
    sources = Source.objects.bulk_create([Source(url=url, always_retrieved=True) for url in urls], batch_size=5_000)
    Schedule.objects.bulk_create(
        [
            Schedule(source=source, partition=source.pk % PARTITIONS, due_at=due_at, observed_at=observed_at)
            for source in sources
        ],
        batch_size=5_000,
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE retrieval_schedule")
