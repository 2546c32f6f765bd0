"""Response times of pages: a load test with a year of postings and thousands of sources and virtual users."""

import random
import time
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from django.db import connection, transaction
from rich.console import Console

from apps.accounts.models import User
from apps.following import actions, queries
from apps.following.queries import Scope
from apps.web.pages.sidebar import sidebar
from lab.benchmarks.load_test import population, requests
from lab.benchmarks.load_test.population import Population, vacuum
from lab.benchmarks.load_test.requests import VirtualUser
from lab.harness import LabCommand, postgres_pid, table

SAMPLE = 400  # users whose pages are requested
HEAVY = 500  # sources that a heavy user follows at least
MEASURED = 150  # requests of each page; fewer of a small archive
MIN_MEASURED = 20
COUNTED = 12  # requests of each page, by group of users, whose queries are counted
PLAIN_COUNTS = 60  # users whose unread postings are counted by the plain join, too
HALF_A_YEAR = timedelta(days=182)
LABELS = {
    "river": "river",
    "unread": "  unread only",
    "folder": "folder",
    "feed": "feed",
    "article": "article",
    "mark": "mark read, with all counts",
    "counts": "all counts of a page, without it",
    "unread_counts": "  unread postings by source",
    "plain_counts": "  the same by one plain join",
    "heavy.river": "river of those who follow 500 and more",
    "heavy.folder": "  folder",
    "heavy.counts": "  counts",
    "hoard.river": "river of one who has read nothing of 300",
    "hoard.unread": "  unread only",
    "hoard.folder": "  folder",
    "hoard.feed": "  feed",
    "hoard.article": "  article",
    "hoard.counts": "  counts",
}
_SUMMARY = (
    "{requests_per_s:.1f} requests a second, each from when it was due: p50 {p50_ms:.0f} ms, p95 {p95_ms:.0f} ms,"
    " p99 {p99_ms:.0f} ms; {failures:.0f} failed.",
    "{mark_all_postings:,.0f} postings are marked read in {mark_all_s:.2f} s, unread again in {mark_all_undo_s:.2f} s.",
    "{mark_older_postings:,.0f} older ones: {mark_older_s:.2f} s and {mark_older_undo_s:.2f} s."
    " A row for each posting takes {mark_each_s:.2f} s.",
    "Of {unread_p50:,.0f} unread postings in the median and {unread_most:,.0f} at most, {wrong_counts:.0f} people's"
    " counts were other than by the plain join.",
)
_PLAIN_COUNTS = """
SELECT follow.source_id, count(*)
FROM following_follow AS follow
JOIN postings_posting AS posting ON posting.source_id = follow.source_id
LEFT JOIN following_mark AS mark ON mark.user_id = follow.user_id AND mark.posting_id = posting.id
WHERE follow.user_id = %s AND coalesce(
    NOT mark.read, posting.published_at >= follow.unread_from AND posting.id > follow.read_through)
    AND NOT EXISTS (
        SELECT FROM postings_posting copy
        JOIN following_follow other ON other.source_id = copy.source_id AND other.user_id = follow.user_id
        LEFT JOIN following_mark seen ON seen.posting_id = copy.id AND seen.user_id = follow.user_id
        WHERE copy.first_copy = posting.first_copy AND coalesce(
            seen.read, copy.published_at >= other.unread_from AND copy.id <= other.read_through))
GROUP BY follow.source_id
"""
_MARK_EACH = """
INSERT INTO following_mark (user_id, posting_id, read, changed_at)
SELECT %s, unread.id, true, now() FROM ({unread}) AS unread
ON CONFLICT (user_id, posting_id) DO UPDATE SET read = true
"""


class Command(LabCommand):
    help = (
        "Load test of the pages, with the web server as it is deployed, in a database of its own: first sequential"
        " requests, then many at once."
    )
    fills_database = True
    seed = 7

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--postings", type=int, default=1_000_000)
        parser.add_argument("--sources", type=int, default=5_000)
        parser.add_argument("--people", type=int, default=2_000)
        parser.add_argument("--seconds", type=int, default=60, help="that requests are sent in at a steady rate")
        parser.add_argument("--rate", type=float, default=80.0, help="requests a second (default: %(default)s)")

    def measure(
        self, *args: Any, postings: int, sources: int, people: int, seconds: int, rate: float, seed: int, **_: Any
    ) -> Mapping[str, float]:
        self.console, self.seed, self.chance = Console(), seed, random.Random(seed)
        self.measured = min(MEASURED, max(MIN_MEASURED, postings // 1_000))
        population = self._fill(postings, sources, people)
        figures: dict[str, float] = {"postings": postings, "sources": sources, "people": people}
        figures |= self._count(population)
        users = requests.sign_in(self._chosen(population), self.chance)
        heavy = requests.sign_in(_heavy(population), self.chance)
        hoarder = requests.sign_in([population.hoarder], self.chance)
        figures |= self._queries(users, heavy)
        with requests.portal() as (address, web):
            figures |= self._sequential(address, web.pid, users, heavy, hoarder)
            figures |= self._at_rate(address, users, seconds, rate)
        figures |= self._mark_all(population)
        self._print(figures)
        return figures

    # --- setup --------------------------------------------------------------------------------------------------------
    def _fill(self, postings: int, sources: int, users: int) -> Population:
        now = datetime.now(UTC)
        source_ids = population.add_sources(sources, now)
        with self.progress() as progress:
            task = progress.add_task("Postings", total=postings)
            for stored in population.add_postings(source_ids, postings, now, seed=self.seed):
                progress.advance(task, stored)
        population.add_copies()
        vacuum()
        self.console.print(
            f"{postings:,} postings of {sources:,} sources; people follow and read them", highlight=False
        )
        added = population.add_users(source_ids, users, now, seed=self.seed)
        vacuum()
        return added

    # --- measurements -------------------------------------------------------------------------------------------------
    def _count(self, population: Population) -> dict[str, float]:
        """Time the unread counts of every page, for random users and for those who follow most."""
        users = list(
            User.objects.filter(
                pk__in=self.chance.sample(population.user_ids.tolist(), min(SAMPLE, population.user_ids.size))
            )
        )
        heavy = list(
            User.objects.filter(
                pk__in=population.user_ids[population.follows >= min(HEAVY, population.follows.max())].tolist()
            )
        )
        figures = self._timed("counts", sidebar, users) | self._timed("unread_counts", queries.unread_counts, users)
        figures |= self._timed("heavy.counts", sidebar, heavy)
        hoarder = User.objects.get(pk=population.hoarder)
        figures |= self._timed("hoard.counts", sidebar, [hoarder] * MIN_MEASURED)
        figures["hoard.postings"] = sum(queries.unread_counts(hoarder).values())
        figures |= self._timed("plain_counts", _plain_counts, users[:PLAIN_COUNTS])
        wrong = sum(_plain_counts(user) != queries.unread_counts(user) for user in users[:PLAIN_COUNTS])
        unread = [sum(queries.unread_counts(user).values()) for user in users]
        return figures | {"wrong_counts": wrong, "unread.p50": float(np.median(unread)), "unread.most": max(unread)}

    def _chosen(self, population: Population) -> list[int]:
        return self.chance.sample(population.user_ids.tolist(), min(SAMPLE, population.user_ids.size))

    def _timed(self, name: str, do: Callable[[User], object], users: Sequence[User]) -> dict[str, float]:
        seconds = []
        for user in self.track(users, name):
            begin = time.perf_counter()
            do(user)
            seconds.append(time.perf_counter() - begin)
        return requests.percentiles(name, seconds)

    def _queries(self, users: Sequence[VirtualUser], heavy: Sequence[VirtualUser]) -> dict[str, float]:
        figures: dict[str, float] = {}
        for page in ("river", "unread", "folder", "feed", "article"):
            drawn = [
                request
                for some in (users, heavy)
                for request in requests.draw_requests(some, COUNTED, self.chance, page)
            ]
            requests.count_queries(drawn)  # opening a posting for the first time marks it read
            figures[f"{page}.queries"] = max(requests.count_queries(drawn))
        return figures

    def _sequential(
        self,
        address: str,
        web: int,
        users: Sequence[VirtualUser],
        heavy: Sequence[VirtualUser],
        hoarder: Sequence[VirtualUser],
    ) -> dict[str, float]:
        """Response times, and the CPU that the web server and Postgres use for a request."""
        requests.send_sequentially(address, requests.draw_requests(users, self.measured, self.chance))
        figures: dict[str, float] = {}
        wanted = [(page, page, users) for page in (*requests.PAGES, "unread")]
        wanted += [(f"heavy.{page}", page, heavy) for page in ("river", "folder")]
        wanted += [(f"hoard.{page}", page, hoarder) for page in ("river", "unread", "folder", "feed", "article")]
        servers = [web, *postgres_pid()]
        for name, page, users in self.track(wanted, "Pages"):
            drawn = requests.draw_requests(users, self.measured, self.chance, page)
            figures |= requests.measure(name, address, drawn, servers)
        return figures

    def _at_rate(self, address: str, users: Sequence[VirtualUser], seconds: int, rate: float) -> dict[str, float]:
        drawn = requests.draw_requests(users, int(rate * seconds), self.chance)
        with self.progress() as progress:
            task = progress.add_task(f"{rate:.0f} requests a second", total=len(drawn))
            found = requests.send_at_rate(address, drawn, rate, done=lambda: progress.advance(task))
        p50, p95, p99 = np.percentile(np.array(found.seconds) * 1_000, [50, 95, 99]).tolist()
        return {
            "requests_per_s": found.rate,
            "p50_ms": p50,
            "p95_ms": p95,
            "p99_ms": p99,
            "failures": found.failures,
        }

    def _mark_all(self, population: Population) -> dict[str, float]:
        """Mark a tenth of all postings read for one user, and those older than half a year."""
        user = User.objects.get(pk=population.collector)
        now = datetime.now(UTC)
        figures: dict[str, float] = {}
        for name, before in (("mark_all", None), ("mark_older", now - HALF_A_YEAR)):
            begin = time.perf_counter()
            marked = actions.marking.mark_all_read(user, Scope("all"), shown_at=now, now=now, before=before)
            middle = time.perf_counter()
            assert marked.undo is not None
            undone = actions.marking.undo_mark_all(user, marked.undo, now=now)
            figures[f"{name}.s"] = middle - begin
            figures[f"{name}.undo_s"] = time.perf_counter() - middle
            figures[f"{name}.postings"] = marked.count
            assert undone == marked.count
        figures["mark_each.s"] = _mark_each(user)
        return figures

    def _print(self, figures: dict[str, float]) -> None:
        shown = table(
            f"{figures['postings']:,.0f} postings, {figures['people']:,.0f} people: server time",
            "",
            "p50 ms",
            "p95 ms",
            "p99 ms",
            "CPU ms",
            "queries",
        )
        for name, label in LABELS.items():
            values = [f"{figures[f'{name}.{part}_ms']:.1f}" for part in ("p50", "p95", "p99")]
            cpu, queries = figures.get(f"{name}.cpu_ms"), figures.get(f"{name}.queries")
            values.append("" if cpu is None else f"{cpu:.1f}")
            shown.add_row(label, *values, "" if queries is None else f"{queries:.0f}")
        self.console.print(shown)
        for line in _SUMMARY:
            self.console.print(line.format(**{name.replace(".", "_"): value for name, value in figures.items()}))


def _heavy(population: Population) -> list[int]:
    return list(population.user_ids[population.follows >= min(HEAVY, population.follows.max())].tolist())


def _plain_counts(user: User) -> dict[int, int]:
    with connection.cursor() as cursor:
        cursor.execute(_PLAIN_COUNTS, [user.pk])
        return dict(cursor.fetchall())


def _mark_each(user: User) -> float:
    """Seconds to insert a row for each unread posting; rolled back."""
    shown = queries.unread(queries.postings_in(user, Scope("all")), user)
    sql, parameters = shown.order_by("id").values("id").query.sql_with_params()
    with transaction.atomic(), connection.cursor() as cursor:
        begin = time.perf_counter()
        cursor.execute(_MARK_EACH.format(unread=sql), [user.pk, *parameters])
        taken = time.perf_counter() - begin
        transaction.set_rollback(True)
    return taken
