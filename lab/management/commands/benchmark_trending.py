"""The costs of trending, and how fast its page is, over four weeks of postings that end now.

The stream is that of `evaluate_trending`. It is counted, counted once more with workers that die half-way, and the
slices must be the same; then lists are made and the page is requested, in this process, with random terms.
"""

import hashlib
import random
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from django.core.management.base import CommandError
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse
from rich.console import Console
from rich.progress import track

from apps.postings.models import Posting
from apps.sources.actions.editing import add_sources
from apps.sources.models import Source
from apps.trending import actions
from apps.trending.algorithms.scoring import HORIZONS
from apps.trending.models import OutboxRow, Slice, Trend
from apps.trending.queries.slices import active_places
from lab.evaluations.trending.stream import LENGTH, Headline, Stream, make_stream
from lab.harness import LabCommand
from lab.management.commands.evaluate_trending import read_headlines

CATEGORIES = ("business", "science", "culture", "health")
DEATH = 0.2  # share of transactions that end as those of a killed worker, the second time


class Killed(Exception):
    """A worker was ended in the middle of its transaction."""


class Command(LabCommand):
    help = (
        "Measure counting, listing and the page of trends over four weeks of postings; check that repeats are harmless."
    )
    fills_database = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--stories", metavar="FILE", type=Path, required=True, help="CSV: TITLE, PUBLISHER, STORY")
        parser.add_argument("--requests", type=int, default=300)

    def measure(self, *, stories: Path, requests: int, **_: Any) -> Mapping[str, float]:
        now = datetime.now(UTC).replace(microsecond=0)
        postings = _fill(read_headlines(stories), now, self.console)
        figures = _counting(postings, self.console) | _listing(now, self.console) | _pages(requests, self.console)
        self.show(f"Trending, {postings:,} postings of {LENGTH} days", figures, "{:,.4g}")
        return figures


# --- postings ---------------------------------------------------------------------------------------------------------
def _fill(headlines: list[Headline], now: datetime, console: Console) -> int:
    stream = make_stream(headlines, seed=1, spam=True)
    publishers = sorted({item.publisher for item in stream.items})
    ids = add_sources(
        [
            Source(url=f"https://source{number}.example/feed", title=name, category=CATEGORIES[number % 4], listed=True)
            for number, name in enumerate(publishers)
        ]
    )
    source_ids = dict(zip(publishers, ids, strict=True))
    rows = list(_rows(stream, source_ids, now))
    for first in track(range(0, len(rows), 2_000), "Filling", console=console):
        Posting.objects.bulk_create(rows[first : first + 2_000])
    return len(rows)


def _rows(stream: Stream, source_ids: dict[str, int], now: datetime) -> Iterator[Posting]:
    for number, item in enumerate(stream.items):
        name = number.to_bytes(16, "big")
        at = now - timedelta(hours=LENGTH * 24 - item.at)
        blank = dict.fromkeys(("author", "html", "text", "image_url", "comments_url"), "")
        yield Posting(
            source_id=source_ids[item.publisher],
            identity=name,
            link_key=b"",
            content_hash=name,
            text_hash=hashlib.blake2b(item.title.encode(), digest_size=16).digest(),
            guid=str(number),
            url=f"https://news.example/{number}",
            title=item.title,
            language="en",
            categories=[],
            enclosures=[],
            published_at=at,
            retrieved_at=at,
            **blank,
        )


# --- counting ---------------------------------------------------------------------------------------------------------
def _counting(postings: int, console: Console) -> dict[str, float]:
    begin = time.perf_counter()
    for _ in track(range(-(-postings // actions.COUNTED_AT_ONCE)), "Counting", console=console):
        actions.count()
    counted = time.perf_counter()
    while actions.slice_stale():
        pass
    sliced = time.perf_counter()
    before = _digest()
    OutboxRow.objects.bulk_create(OutboxRow(posting_id=id) for id in Posting.objects.values_list("pk", flat=True))
    Slice.objects.all().delete()
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO trending_stale (language, category, hour) SELECT language, category, hour"
            " FROM trending_counted WHERE posting_id % 2 = 0"
        )
        cursor.execute("DELETE FROM trending_counted WHERE posting_id % 2 = 1")
    generator = random.Random(1)
    _dying(lambda: actions.count(700), generator)
    _dying(lambda: actions.slice_stale(), generator)
    bytes_used = _size("trending_counted") + _size("trending_slice")
    return {
        "postings_per_s": postings / (counted - begin),
        "slicing_s": sliced - counted,
        "same_after_kills": float(_digest() == before),
        "bytes_per_posting": bytes_used / postings,
    }


def _dying(work: Callable[[], int | None], generator: random.Random) -> None:
    """Work until nothing is left, some transactions ending before they are committed."""
    while True:
        try:
            with transaction.atomic():
                done = work()
                if generator.random() < DEATH:
                    raise Killed
        except Killed:
            continue
        if not done:
            return


def _digest() -> str:
    values = Slice.objects.order_by("step", "language", "category", "begins_at").values_list(
        "step", "language", "category", "begins_at", "documents", "terms", "counts"
    )
    digest = hashlib.sha256()
    for row in values.iterator():
        digest.update(repr([bytes(each) if isinstance(each, memoryview) else each for each in row]).encode())
    return digest.hexdigest()


def _size(table: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_total_relation_size(%s)", [table])
        return int(cursor.fetchone()[0])


# --- lists and pages --------------------------------------------------------------------------------------------------
def _listing(now: datetime, console: Console) -> dict[str, float]:
    spans = []
    for language, category in active_places(now - timedelta(days=LENGTH)):
        for horizon in track(tuple(HORIZONS), f"Listing {language} {category}", console=console):
            begin = time.perf_counter()
            actions.list_terms(language, category, horizon, now)
            spans.append(time.perf_counter() - begin)
    return {"list_p50_ms": 1_000 * float(np.median(spans)), "list_max_ms": 1_000 * max(spans)}


def _pages(requests: int, console: Console) -> dict[str, float]:
    """The page with what people choose: a category, a period, a score, up to five terms of any list."""
    client, generator = Client(SERVER_NAME="localhost"), random.Random(1)
    terms = list(Trend.objects.filter(category="").order_by("pk").values_list("term", flat=True))
    spans, used = [], []
    for number in track(range(requests + 10), "Requesting the page", console=console):
        parameters = {
            "language": "en",
            "category": generator.choice(("", "", *CATEGORIES)),
            "period": generator.choice(("hours", "days", "months")),
            "method": generator.choice(("ours", "ours", "yioop")),
            "term": generator.sample(terms, generator.randint(0, 5)),
        }
        begin, before = time.perf_counter(), time.process_time()
        response = client.get(reverse("trends"), parameters)
        if number >= 10:  # the first ones compile templates
            spans.append(time.perf_counter() - begin)
            used.append(time.process_time() - before)
        if response.status_code != 200:
            raise CommandError(f"the page of trends answered {response.status_code}")
    p50, p95 = (1_000 * float(np.percentile(spans, share)) for share in (50, 95))
    cpu_p50, cpu_p95 = (1_000 * float(np.percentile(used, share)) for share in (50, 95))
    return {"page_p50_ms": p50, "page_p95_ms": p95, "page_cpu_p50_ms": cpu_p50, "page_cpu_p95_ms": cpu_p95}
