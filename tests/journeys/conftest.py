"""The worker's whole path, from a server's bytes to stored rows, under a clock that the test owns."""

import asyncio
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from apps.retrieval.actions import adopt_sources, release_worker, remember_robots, start, store
from apps.retrieval.http.fetching import FetchRequest
from apps.retrieval.http.results import decide
from apps.retrieval.http.robots import RobotsFetcher
from apps.retrieval.models import Schedule
from apps.retrieval.queries import fresh_robots
from apps.retrieval.scheduler.claims import LEASE, Claim


class Portal:
    """Beat and one worker in a single thread: due sources are claimed, fetched and stored in order."""

    def __init__(self, begin: datetime) -> None:
        self.now = begin
        self.visits = 0
        self._random = random.Random(1)
        self._runner = asyncio.Runner()
        self._fetcher = RobotsFetcher(clock=self.clock)
        self._runner.run(self._fetcher.__aenter__())

    def clock(self) -> datetime:
        return self.now

    def close(self) -> None:
        self._runner.run(self._fetcher.__aexit__(None, None, None))
        self._runner.close()

    def adopt(self) -> None:
        adopt_sources(now=self.now)

    def run(self, duration: timedelta, *, killed_share: float = 0.0) -> None:
        """Let time pass; `killed_share` of the visits end with the worker's death before anything is stored."""
        end = self.now + duration
        while (due_at := self._next_due_at()) is not None and due_at <= end:
            self.now = max(self.now, due_at)
            self._visit_all_due(killed_share)
        self.now = end

    def _next_due_at(self) -> datetime | None:
        return Schedule.objects.filter(due_at__isnull=False).order_by("due_at").values_list("due_at", flat=True).first()

    def _visit_all_due(self, killed_share: float) -> None:
        claims = []
        for schedule in Schedule.objects.filter(due_at__lte=self.now):
            claims.append(Claim(schedule.pk, schedule.sequence + 1, schedule.due_at.timestamp(), self.now.timestamp()))
            Schedule.objects.filter(pk=schedule.pk).update(sequence=schedule.sequence + 1, due_at=self.now + LEASE)
        for assignment in start(claims, worker="worker", now=self.now):
            self.visits += 1
            request = FetchRequest(assignment.url, assignment.validators, assignment.followers)
            robots = fresh_robots([assignment.url], self.now)
            fetched = self._runner.run(self._fetcher.fetch_allowed(request, robots))
            remember_robots(self._fetcher.take_learned_robots(), now=self.now)
            if self._random.random() < killed_share:
                release_worker("worker", now=self.now)
            else:
                store([decide(assignment, fetched, jitter=self._random.random())])


@pytest.fixture
def portal(db, settings) -> Iterator[Portal]:
    settings.RETRIEVAL_HOST_GAP = 0
    portal = Portal(datetime(2026, 3, 2, tzinfo=UTC))
    yield portal
    portal.close()
