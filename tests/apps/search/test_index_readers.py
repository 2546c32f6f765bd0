"""A reader of the index sees a consistent snapshot during writes, segment building, merges and deletions."""

import random
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import numpy as np
import pytest
from django.db import connection

from apps.jobs.actions import working
from apps.postings.models import Posting
from apps.search.actions.reindexing import begin, consume
from apps.search.actions.segment_building import maintain
from apps.search.algorithms.index import levels
from apps.search.algorithms.models.ranking import best
from apps.search.queries import Snapshot, snapshot
from lab.benchmarks.index.caches import forget_index
from lab.worlds.index import empty, posting_ids
from tests.builders import NOON, a_posting, a_source

pytestmark = pytest.mark.django_db(transaction=True)

WORDS = ("budget", "vote", "storm", "flood")


@pytest.fixture
def small_levels(monkeypatch):
    for name, size in (("SMALLEST", 2), ("MIDDLE", 8), ("LARGEST", 32)):
        monkeypatch.setattr(levels, name, size)


def publish(chance: random.Random, source, count: int) -> None:
    for number in range(count):
        a_posting(
            source,
            title=" ".join(chance.choices(WORDS, k=3)),
            text_hash=chance.randbytes(16),
            language="en",
            published_at=NOON - timedelta(minutes=number),
        )


def edit(chance: random.Random, count: int) -> None:
    for posting in chance.sample(list(Posting.objects.all()), count):
        posting.title, posting.text_hash = " ".join(chance.choices(WORDS, k=3)), chance.randbytes(16)
        posting.save()


def write(chance: random.Random, source) -> None:
    """One of the things that change the index, in a thread and a connection of its own."""

    def work() -> None:
        try:
            match chance.choice(["add", "edit", "delete", "anew", "empty"]):
                case "add":
                    publish(chance, source, 5)
                case "edit":
                    edit(chance, 3)
                case "delete":
                    Posting.objects.filter(pk__in=[Posting.objects.order_by("pk").first().pk]).delete()
                case "anew":
                    working.work("a worker", begin(requested_by="a test"))
                case "empty":
                    empty()
            consume()
            maintain(at_least=chance.randint(1, 4))
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as thread:
        thread.submit(work).result()


def answers(index: Snapshot) -> tuple[object, ...]:
    forget_index()  # so that all of it is read from the database once more
    again = Snapshot(index.state)
    ranked = best(again.blocks(again.numbers(WORDS)), np.array([4.0, 3.0, 2.0, 1.0]), 100)
    return (
        again.documents,
        again.average_length,
        again.document_frequencies(again.numbers(WORDS)).tolist(),
        posting_ids(ranked.documents),
        ranked.scores.tolist(),
        [found.posting_id for found in again.newest(100)],
    )


@pytest.mark.parametrize("seed", range(3))
def test_reader_sees_one_snapshot_during_concurrent_changes(seed, small_levels):
    chance, source = random.Random(seed), a_source(language="en")
    publish(chance, source, 21)
    consume()
    maintain(at_least=2)
    publish(chance, source, 2)
    consume()
    with snapshot() as index:
        before = answers(index)
        for _ in range(5):
            write(chance, source)
            assert answers(index) == before
    with snapshot() as index:
        assert answers(index) != before
