"""The cost of retrieving and storing: the real worker with feeds on loopback, and the archive's growth."""

import random
import time
from argparse import ArgumentParser
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Any

from celery import current_app
from django.core.management.base import CommandError
from django.db import connection
from rich.console import Console
from rich.progress import Progress, track
from rich.table import Table

from apps.postings import actions as postings
from apps.retrieval.actions import adopt_sources
from apps.retrieval.models import Retrieval, Schedule
from apps.retrieval.scheduler.beat import MESSAGE_SIZE, TASK
from apps.retrieval.scheduler.queues import queue_of
from apps.sources.actions.editing import add_sources
from apps.sources.formats.feed import ParsedEntry
from apps.sources.models import Source
from lab.harness import LabCommand, command, cpu_seconds, running
from lab.worlds.leases import lease
from lab.worlds.server import serving
from lab.worlds.synthetic import make_feeds

DAY = 86_400.0  # s
WORDS = ("market", "vote", "storm", "league", "budget", "river", "engine", "treaty", "museum", "harvest", "signal")
# Rows as a retrieval would have stored them, made by the database itself.
FILL = """
INSERT INTO postings_posting (source_id, identity, link_key, content_hash, text_hash, guid, url, title, author, html,
    text, language, categories, image_url, comments_url, enclosures, published_at, claimed_at, retrieved_at)
SELECT (%(sources)s::bigint[])[1 + n %% cardinality(%(sources)s::bigint[])], decode(md5('i' || n), 'hex'),
    decode(md5('l' || n), 'hex'), decode(md5('c' || n), 'hex'), decode(md5('t' || n), 'hex'), 'guid-' || n,
    'https://news.example/' || n, 'Title number ' || n || ' of what happened', 'An Author',
    '<p>' || repeat(md5('h' || n) || ' ', 8) || '</p>', repeat(md5('h' || n) || ' ', 8), 'en', '{}', '', '', '[]',
    now() - n * interval '1 second', now() - n * interval '1 second', now()
FROM generate_series(%(first)s::int, %(last)s::int) n
"""


class Command(LabCommand):
    help = "Measure retrievals per second, CPU per retrieval, and the speed of storing in a small and a large archive."
    fills_database = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--sources", type=int, default=1_000, help="feeds on loopback, each a host of its own")
        parser.add_argument("--small", type=int, default=10_000, help="stored postings of the small archive")
        parser.add_argument("--large", type=int, default=2_000_000)
        parser.add_argument("--batches", type=int, default=200, help="documents of 50 new postings stored in each")

    def measure(self, *args: Any, sources: int, small: int, large: int, batches: int, **_: Any) -> Mapping[str, float]:
        now = time.time()
        feeds = make_feeds(sources, seed=7, begin=now - 7 * DAY, end=now)  # nothing new comes while we measure
        with (
            serving(feeds) as replay,
            lease(replay.addresses.open_host),
            running({"retrieval": command("retrieval")}, WIREBEAT_HOST_GAP="0") as started,
        ):
            addresses = [replay.feed_url(feed.number) for feed in feeds]
            figures = self._retrieve(addresses, started["retrieval"].pid, self.console)
        figures |= self._store(small, large, batches, self.console)
        self._print(self.console, figures, small, large)
        return figures

    def _retrieve(self, addresses: list[str], worker: int, console: Console) -> dict[str, float]:
        """Three rounds over all sources: everything new, nothing new (304), and known postings in new bytes."""
        ids = add_sources([Source(url=address, always_retrieved=True) for address in addresses])
        adopt_sources(now=datetime.now(UTC))
        figures: dict[str, float] = {}
        with Progress(console=console) as progress:
            for name in ("first", "nothing_new", "known"):
                if name == "known":
                    Schedule.objects.update(etag="", last_modified="", body_hash=b"")
                elapsed, cpu = self._round(ids, worker, progress, name)
                figures[f"{name}_retrievals_per_s"] = len(ids) / elapsed
                figures[f"{name}_cpu_ms_per_retrieval"] = 1_000 * cpu / len(ids)
        figures["retrievals_per_s"] = figures["nothing_new_retrievals_per_s"]
        figures["cpu_ms_per_retrieval"] = figures["nothing_new_cpu_ms_per_retrieval"]
        return figures

    def _round(self, ids: list[int], worker: int, progress: Progress, name: str) -> tuple[float, float]:
        """Dispatch every source once, as beat would, and wait until all are stored; wall and CPU seconds."""
        bar = progress.add_task(name.replace("_", " "), total=len(ids))
        done = Retrieval.objects.count()
        begin, cpu = time.monotonic(), cpu_seconds(worker)
        claims = list(Schedule.objects.filter(pk__in=ids).values_list("pk", "sequence"))
        now = time.time()
        for start in range(0, len(claims), MESSAGE_SIZE):
            message = [(source_id, sequence, now, now) for source_id, sequence in claims[start : start + MESSAGE_SIZE]]
            current_app.send_task(TASK, args=[message], ignore_result=True, queue=queue_of(0, 1))
        while (stored := Retrieval.objects.count() - done) < len(ids):
            if time.monotonic() > begin + 600:
                raise CommandError(f"only {stored} of {len(ids)} retrievals were stored in ten minutes")
            progress.update(bar, completed=stored)
            time.sleep(0.05)
        progress.update(bar, completed=len(ids))
        return time.monotonic() - begin, cpu_seconds(worker) - cpu

    def _store(self, small: int, large: int, batches: int, console: Console) -> dict[str, float]:
        """Store new postings when few and when many are stored already."""
        ids = add_sources([Source(url=f"https://archive{n}.example/feed") for n in range(1_000)])
        generator = random.Random(7)
        figures: dict[str, float] = {}
        filled = 0
        for name, size in (("small", small), ("large", large)):
            for first in track(
                range(filled + 1, size + 1, 50_000), f"filling up to {size:,} postings", console=console
            ):
                with connection.cursor() as cursor:
                    cursor.execute(FILL, {"sources": ids, "first": first, "last": min(first + 49_999, size)})
            filled = size
            with connection.cursor() as cursor:
                cursor.execute("VACUUM ANALYZE postings_posting")
                cursor.execute("CHECKPOINT")
            rates = [
                self._store_one(generator, ids, f"{name}-{n}")
                for n in track(range(batches), f"storing into {size:,} postings", console=console)
            ]
            figures[f"postings_per_s_{name}"] = median(rates)
        figures["postings_ratio"] = figures["postings_per_s_large"] / figures["postings_per_s_small"]
        return figures

    @staticmethod
    def _store_one(generator: random.Random, ids: list[int], label: str) -> float:
        """Postings per second of one document with 50 new postings."""
        now = datetime.now(UTC)
        entries = [
            ParsedEntry(
                guid=f"{label}-{n}",
                link=f"https://news.example/{label}/{n}",
                title=" ".join(generator.choices(WORDS, k=8)),
                content=f"<p>{' '.join(generator.choices(WORDS, k=80))}</p>",
                published=now - timedelta(minutes=n),
            )
            for n in range(50)
        ]
        document = postings.Document(generator.choice(ids), entries, "https://news.example/", "", "en", now)
        begin = time.perf_counter()
        [stored] = postings.store([document])
        if stored.new != len(entries):
            raise CommandError(f"{stored.new} of {len(entries)} new postings were stored")
        return len(entries) / (time.perf_counter() - begin)

    @staticmethod
    def _print(console: Console, figures: dict[str, float], small: int, large: int) -> None:
        table = Table(title="Retrieving, one worker process")
        for column in ("round", "retrievals/s", "CPU ms each"):
            table.add_column(column, justify="right")
        for name, label in (
            ("first", "all new"),
            ("nothing_new", "nothing new (304)"),
            ("known", "known postings (200)"),
        ):
            rate, cpu = figures[f"{name}_retrievals_per_s"], figures[f"{name}_cpu_ms_per_retrieval"]
            table.add_row(label, f"{rate:.0f}", f"{cpu:.2f}")
        console.print(table)
        console.print(
            f"Storing documents of 50 new postings: {figures['postings_per_s_small']:,.0f} postings/s with {small:,} "
            f"stored, {figures['postings_per_s_large']:,.0f} with {large:,}: ratio {figures['postings_ratio']:.2f}"
        )
