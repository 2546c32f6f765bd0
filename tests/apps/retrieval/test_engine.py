"""A worker's engine fetches and stores for many tasks at once, and one bad result does not affect the others."""

import asyncio
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from threading import Barrier
from typing import NoReturn

import pytest
from django.db import OperationalError, connection

from apps.database.statements import fetch_rows
from apps.postings.actions import storing as storing_postings
from apps.postings.models import Posting
from apps.retrieval.actions import adopt_sources, release_worker, start, storing
from apps.retrieval.http.fetching import Fetched
from apps.retrieval.models import Retrieval, Schedule, Worker
from apps.retrieval.scheduler.claims import Claim
from apps.retrieval.worker import engine
from apps.retrieval.worker.engine import Engine, Fetch
from apps.sources.actions.editing import add_sources
from apps.sources.models import Source
from lab.worlds.server import Replay
from lab.worlds.synthetic import make_feeds
from tests.builders import a_source
from tests.web import replaying

pytestmark = pytest.mark.django_db(transaction=True)

FEED = b"<rss version='2.0'><channel><item><guid>1</guid><title>One</title></item></channel></rss>"


@contextmanager
def adopted_feeds(count: int, now: float) -> Iterator[Replay]:
    """Served feeds of three days, as sources that were never retrieved."""
    with replaying(make_feeds(count, seed=5, begin=now - 3 * 86_400, end=now)) as replay:
        add_sources([Source(url=replay.feed_url(feed.number), always_retrieved=True) for feed in replay.feeds])
        adopt_sources(now=datetime.now(UTC))
        yield replay


def claims_of_all() -> list[Claim]:
    now = time.time()
    return [Claim(pk, sequence, now, now) for pk, sequence in Schedule.objects.values_list("pk", "sequence")]


def some_answers(count: int) -> list[Fetch]:
    for _ in range(count):
        a_source(always_retrieved=True)
    now = datetime.now(UTC)
    adopt_sources(now=now)
    loop = asyncio.new_event_loop()
    try:
        return [
            Fetch(each, Fetched(each.url, now, status=200, body=FEED), loop.create_future())
            for each in start(claims_of_all(), worker="worker", now=now)
        ]
    finally:
        loop.close()


def test_a_batch_is_fetched_and_stored_when_retrieve_returns(settings):
    settings.RETRIEVAL_HOST_GAP = 0
    now = time.time()
    with adopted_feeds(30, now) as replay:
        claims = claims_of_all()
        worker = Engine()
        worker.retrieve(claims, worker="worker")
        assert Retrieval.objects.count() == 30
        assert set(Retrieval.objects.values_list("status", flat=True)) == {200}
        assert Posting.objects.count() == sum(min(feed.count_until(now), 50) for feed in replay.feeds)
        worker.retrieve(claims, worker="worker")  # the same message again
        worker.stop()
        assert Retrieval.objects.count() == 30


@pytest.fixture
def silent_server():
    """Accepts connections and never answers; its port."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        yield listener.getsockname()[1]


def wait_until(is_so, within: float = 30.0) -> None:
    until = time.monotonic() + within
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_submitted_sources_are_stored_although_others_never_answer(monkeypatch, settings, silent_server):
    settings.RETRIEVAL_HOST_GAP = 0
    settings.RETRIEVAL_OPEN_HOSTS = [".localhost"]
    now = time.time()
    with replaying(make_feeds(10, seed=5, begin=now - 3 * 86_400, end=now)) as replay:
        silent = [f"http://silent{number}.localhost:{silent_server}/feed" for number in range(10)]
        urls = [*silent, *(replay.feed_url(feed.number) for feed in replay.feeds)]
        add_sources([Source(url=url, always_retrieved=True) for url in urls])
        adopt_sources(now=datetime.now(UTC))
        worker = Engine()
        worker.submit(claims_of_all(), worker="worker", first=True)
        wait_until(lambda: Retrieval.objects.count() == 10)
        assert set(Retrieval.objects.values_list("source__url", flat=True)) == set(urls[10:])
        assert all(begun is not None for begun in Retrieval.objects.values_list("begun_at", flat=True))
        assert Worker.objects.get().name == "worker"
        monkeypatch.setattr(engine, "DRAIN_SECONDS", 0.05)
        worker.stop()
        assert release_worker("worker", now=datetime.now(UTC), graceful=True) == 10


def test_storing_leaves_the_processor_to_sending_but_not_for_first_documents(monkeypatch, settings):
    settings.RETRIEVAL_HOST_GAP = 0
    with adopted_feeds(10, time.time()):
        worker = Engine()
        with monkeypatch.context() as patched:
            patched.setattr(engine, "MAX_WAITING", -1)  # as if many requests waited for connections all the time
            worker.submit(claims_of_all(), worker="worker", first=True)
            wait_until(lambda: Retrieval.objects.count() == 10)
            worker.submit(claims_of_all(), worker="worker", first=False)
            wait_until(lambda: worker._fetches.qsize() == 10 - engine.STORING_THREADS)
            assert Retrieval.objects.count() == 10
        wait_until(lambda: Retrieval.objects.count() == 20)
        worker.stop()


def sessions() -> int:
    return int(fetch_rows("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")[0].count)


def test_threads_that_store_rarely_keep_no_sessions(monkeypatch, settings):
    settings.RETRIEVAL_HOST_GAP = 0
    monkeypatch.setattr(engine, "RARE_SECONDS", 0.2)
    with adopted_feeds(10, time.time()):
        before, worker = sessions(), Engine()
        worker.submit(claims_of_all(), worker="worker", first=False)
        wait_until(lambda: Retrieval.objects.count() == 10)
        wait_until(lambda: sessions() == before + 1)  # of the heartbeats
        worker.stop()


@pytest.mark.parametrize("steps", range(5))
def test_storing_ends_although_a_result_has_just_arrived(monkeypatch, steps):
    monkeypatch.setattr(engine, "store", lambda batch, robots: None)
    worker = Engine()
    [fetch] = some_answers(1)

    async def end_while_it_arrives() -> None:
        worker._fetches.put_nowait(replace(fetch, stored=asyncio.get_running_loop().create_future()))
        for _ in range(steps):
            await asyncio.sleep(0)
        await worker._end_tasks()

    asyncio.run_coroutine_threadsafe(end_while_it_arrives(), worker._loop).result(20)
    worker.stop()


def test_a_worker_that_is_full_leaves_claims_to_a_later_message(monkeypatch, settings, silent_server, caplog):
    settings.RETRIEVAL_OPEN_HOSTS = [".localhost"]
    for name, value in {"MAX_IN_FLIGHT": 1, "WAIT_FOR_ROOM": 0.05, "DRAIN_SECONDS": 0.05}.items():
        monkeypatch.setattr(engine, name, value)
    urls = [f"http://silent{number}.localhost:{silent_server}/feed" for number in range(2)]
    add_sources([Source(url=url, always_retrieved=True) for url in urls])
    adopt_sources(now=datetime.now(UTC))
    one, other = claims_of_all()
    worker = Engine()
    for claim in (one, other):
        worker.submit([claim], worker="worker", first=True)
    worker.stop()
    assert set(Schedule.objects.filter(worker="worker").values_list("pk", flat=True)) == {one.source_id}
    assert Schedule.objects.get(pk=other.source_id).sequence == other.sequence
    assert "too many sources are under way" in caplog.text


def test_an_answer_that_cannot_be_stored_spoils_no_other(caplog):
    answers = some_answers(5)
    poisoned = replace(answers[2].fetched, headers={"etag": "no database takes a \0"})
    answers[2] = replace(answers[2], fetched=poisoned)
    engine.store(answers)
    assert Retrieval.objects.count() == 4
    assert not Retrieval.objects.filter(source=answers[2].assignment.source_id).exists()
    assert "could not store the result of" in caplog.text
    schedule = Schedule.objects.get(pk=answers[2].assignment.source_id)
    assert schedule.due_at > datetime.now(UTC)  # it is due again, and not at once


def end_session() -> None:
    """As a restart of Postgres does."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        [pid] = cursor.fetchone()
    other = connection.copy()
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
    other.close()


def at_first(monkeypatch, owner, name: str, *, before=None, after=None) -> None:
    """Have the first call of a function do something else, too."""
    original, todo = getattr(owner, name), [(before, after)]

    def changed(*args, **options):
        begin, end = todo.pop() if todo else (None, None)
        if begin is not None:
            begin()
        result = original(*args, **options)
        if end is not None:
            end()
        return result

    monkeypatch.setattr(owner, name, changed)


def lose_answer() -> NoReturn:
    """As when Postgres is killed between a commit and the answer to it."""
    raise OperationalError("the connection was lost")


def test_storing_begins_again_when_the_connection_was_lost():
    answers = some_answers(3)
    end_session()
    engine.store(answers)
    assert Retrieval.objects.count() == 3


@pytest.mark.parametrize("writer", [storing_postings, storing])
def test_a_result_is_stored_although_the_connection_is_lost_while_its_rows_are_copied(monkeypatch, writer, caplog):
    [answer] = some_answers(1)
    at_first(monkeypatch, writer, "copy_rows", before=end_session)
    engine.store([answer])
    assert (Retrieval.objects.count(), Posting.objects.count()) == (1, 1)
    assert "could not store" not in caplog.text


@pytest.mark.parametrize(
    ("owner", "name", "what"),
    [
        (engine.actions, "start", {"after": lose_answer}),
        (engine.queries, "fresh_robots", {"before": end_session}),
    ],
)
def test_begun_sources_are_retrieved_although_the_connection_is_lost(monkeypatch, settings, owner, name, what):
    settings.RETRIEVAL_HOST_GAP = 0
    with adopted_feeds(3, time.time()):
        worker = Engine()
        at_first(monkeypatch, owner, name, **what)
        worker.retrieve(claims_of_all(), worker="worker")
        worker.stop()
    assert Retrieval.objects.count() == 3


def test_results_are_stored_while_the_cache_is_away(settings, caplog):
    answers = some_answers(2)
    settings.CACHES = {"default": settings.CACHES["default"] | {"LOCATION": "redis://127.0.0.1:1/0"}}
    engine.store(answers)
    assert (Retrieval.objects.count(), Posting.objects.count()) == (2, 2)
    assert "could not store" not in caplog.text


def test_tasks_that_begin_at_the_same_time_share_one_engine():
    together = Barrier(16)

    def begin(_: int) -> Engine:
        together.wait(10)
        return engine.current()

    try:
        with ThreadPoolExecutor(16) as threads:
            assert len(set(threads.map(begin, range(16)))) == 1
    finally:
        engine.stop()
