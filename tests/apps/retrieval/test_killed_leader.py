"""A leading beat is killed between the commit of its claims and their messages: the next one publishes them."""

import multiprocessing
import os
import signal
import time
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from celery import Celery
from django.db import connection

from apps.retrieval.actions import adopt_sources
from apps.retrieval.models import Retrieval, Schedule, UnmatchedClaims
from apps.retrieval.scheduler.beat import RetrievalScheduler
from apps.retrieval.scheduler.claims import Claim
from apps.retrieval.scheduler.queues import retrieval_queues
from apps.retrieval.worker.engine import Engine
from apps.sources.actions.editing import add_sources
from apps.sources.models import Source
from lab.worlds.synthetic import make_feeds
from tests.apps.retrieval.queues import app_with
from tests.web import replaying

QUEUES = 5
FEEDS = 10

pytestmark = pytest.mark.django_db(transaction=True)


class KilledBetweenCommitAndPublish(RetrievalScheduler):
    def _publish_all(self, due) -> None:
        if due:
            os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture
def app(settings):
    settings.RETRIEVAL_QUEUES = QUEUES
    settings.RETRIEVAL_HOST_GAP = 0
    return app_with(QUEUES)


def lead_and_be_killed(app: Celery) -> None:
    beat = KilledBetweenCommitAndPublish(app=app, lazy=True)
    while True:
        beat._must_republish = False
        beat.tick()


def messages_of(app: Celery, wanted: int, tick) -> list[list[Claim]]:
    """Messages in all queues until so many sources have one."""
    found: list[list[Claim]] = []

    def note(body, message) -> None:
        found.append([Claim(*claim) for claim in body[0][0]])
        message.ack()

    with app.connection_for_read() as broker:
        queues = [app.amqp.queues[name].bind(broker.default_channel) for name in retrieval_queues(QUEUES)]
        until = time.monotonic() + 60  # far less than the lease, after which they would be due again, too
        with broker.Consumer(queues, callbacks=[note], accept=["json"]):
            while sum(map(len, found)) < wanted and time.monotonic() < until:
                tick()
                with suppress(TimeoutError):
                    broker.drain_events(timeout=0.2)
    return found


def test_claims_of_a_leader_that_was_killed_before_it_published_them_are_begun(app):
    now = time.time()
    with replaying(make_feeds(FEEDS, seed=5, begin=now - 86_400, end=now)) as replay:
        add_sources([Source(url=replay.feed_url(feed.number), always_retrieved=True) for feed in replay.feeds])
        adopt_sources(now=datetime.now(UTC))
        connection.close()
        leader = multiprocessing.get_context("fork").Process(target=lead_and_be_killed, args=(app,))
        leader.start()
        leader.join(60)
        assert leader.exitcode == -signal.SIGKILL
        assert Schedule.objects.filter(dispatched_at__isnull=False, sequence=1).count() == FEEDS

        successor, worker = RetrievalScheduler(app=app, lazy=True), Engine()
        try:
            for claims in messages_of(app, FEEDS, successor.tick):
                worker.retrieve(claims, worker="worker")
        finally:
            successor._disconnect()
            worker.stop()
        assert Retrieval.objects.filter(begun_at__isnull=False).count() == FEEDS
        assert not UnmatchedClaims.objects.filter(reason="uncommitted").exists()
        assert all(row.sequence == 3 for row in Schedule.objects.all())  # claimed once, begun once, stored once
