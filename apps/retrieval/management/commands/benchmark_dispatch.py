"""How late sources are dispatched: a real beat, a real broker, many schedules and a burst."""

import contextlib
import time
from argparse import ArgumentParser
from typing import Any

import numpy as np
from celery import current_app
from django.core.management.base import BaseCommand
from django.db import connection
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from apps.retrieval.benchmarking import celery, cpu_seconds, require_empty_database, write_figures

FILL = """
INSERT INTO sources_source (url, kind, state, title, site_url, description, language, category, image_url, weight,
    interest, listed, always_retrieved, pace)
SELECT 'http://source' || n || '.example/feed', 'feed', 'active', '', '', '', '', '', '', 1, 1, false, true, 1
FROM generate_series(1, %(schedules)s) n;
INSERT INTO retrieval_schedule (source_id, partition, due_at, sequence, worker, reason, etag, last_modified, body_hash,
    consecutive_failures, slowdown, validated, moved_to, moved_count, skip_hours, skip_days, ahead, worth,
    activity_seen, activity_expected)
SELECT id, id %% 64, now() + interval '1 day', 0, '', '', '', '', '', 0, 1, false, '', 0, 0, 0, '{}', 1, 10, 10
FROM sources_source;
ANALYZE retrieval_schedule;
"""
# A day's plan has one instant per source, so `schedules`/86400 are due each second; on top of that comes the burst.
PLAN = """
WITH numbered AS (SELECT source_id, row_number() OVER (ORDER BY source_id) n FROM retrieval_schedule)
UPDATE retrieval_schedule schedule SET due_at = to_timestamp(
    CASE WHEN n <= %(burst)s THEN %(start)s + %(seconds)s / 2.0 + random()
         ELSE %(start)s + random() * 86400 END)
FROM numbered WHERE numbered.source_id = schedule.source_id
"""


class Command(BaseCommand):
    help = "Measure dispatch lateness: from the instant a source is due until its message reaches a worker's queue."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--schedules", type=int, default=100_000)
        parser.add_argument("--burst", type=int, default=5_000, help="sources due within one second, on top")
        parser.add_argument("--seconds", type=int, default=40)
        parser.add_argument("--json", metavar="FILE")

    def handle(self, *args: Any, schedules: int, burst: int, seconds: int, json: str | None, **options: Any) -> None:
        require_empty_database()
        console = Console()
        with console.status(f"making {schedules:,} schedules"), connection.cursor() as cursor:
            cursor.execute(FILL, {"schedules": schedules})
        with celery("beat", "--pidfile=", "-l", "warning") as beat:
            start = time.time() + 8  # beat loads for some seconds; nothing is due before
            with connection.cursor() as cursor:
                cursor.execute(PLAN, {"burst": burst, "start": start, "seconds": seconds})
            with Progress(console=console) as progress:
                arrivals = self._receive(progress, start, seconds)
            cpu = cpu_seconds(beat.pid)
        figures = self._figures(arrivals, start + seconds / 2, burst)
        figures["beat_cpu_share"] = cpu / (time.time() - start + 8)
        self._print(console, figures, schedules, burst)
        write_figures(json, figures)

    def _receive(self, progress: Progress, start: float, seconds: int) -> list[tuple[float, float]]:
        """Take messages from the queue as a worker would; pairs of due and arrival time."""
        arrivals: list[tuple[float, float]] = []

        def note(body: Any, message: Any) -> None:
            now = time.time()
            claims = body[0][0] if message.headers["task"].endswith(".retrieve") else []
            arrivals.extend((due, now) for _, _, due, _ in claims)
            message.ack()

        bar = progress.add_task("receiving", total=seconds + 8)
        with current_app.connection_for_read() as broker:
            queue = current_app.amqp.queues["celery"]
            with broker.Consumer(queue.bind(broker.default_channel), callbacks=[note], accept=["json"]):
                while (now := time.time()) < start + seconds + 1:
                    with contextlib.suppress(TimeoutError):
                        broker.drain_events(timeout=0.5)
                    progress.update(bar, completed=now - start + 8)
        return arrivals

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
