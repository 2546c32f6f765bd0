"""All postings read again by several workers, while postings come, change and go."""

import random
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import connection, transaction

from apps.jobs import actions as jobs
from apps.jobs.actions import working
from apps.jobs.models import Attempt, Job
from apps.postings.models import Posting
from apps.search import actions
from apps.search.algorithms.index import levels
from apps.search.models import Document, OutboxRow
from apps.search.queries import spans
from lab.benchmarks.archive_jobs import comparing
from lab.chaos.index.checking import Check, check
from tests.builders import NOON, a_posting, a_source

pytestmark = pytest.mark.django_db(transaction=True)

WORDS = ("the", "budget", "vote", "storm", "flood", "中国", "élan")


@pytest.fixture(autouse=True)
def small(monkeypatch):
    for name, size in (("SMALLEST", 2), ("MIDDLE", 8), ("LARGEST", 32)):
        monkeypatch.setattr(levels, name, size)
    monkeypatch.setattr(spans, "MIN_POSTINGS", 5)


def publish(chance: random.Random, source, count: int) -> None:
    for number in range(count):
        text = " ".join(chance.choices(WORDS, k=6))
        a_posting(
            source,
            text=text,
            text_hash=chance.randbytes(16),
            language="en",
            author=chance.choice(["", "Ann Lee"]),
            published_at=NOON - timedelta(minutes=number),
        )


def an_archive(seed: int, count: int = 40) -> random.Random:
    chance = random.Random(seed)
    publish(chance, a_source(language="en"), count)
    settle()
    return chance


def test_a_span_of_postings_is_read_without_a_join_over_all_documents():
    """Which Postgres prefers as soon as there are many, as it expects a large part of all postings in a span."""
    ends = [NOON.isoformat(), 1, NOON.isoformat(), 2]
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_nestloop = off")
        cursor.execute(f"EXPLAIN {spans.IN_POSTINGS}", ends)
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert "Join" not in plan


def settle() -> None:
    while actions.reindexing.consume():
        pass
    actions.segment_building.maintain(at_least=3)


def faults() -> list[str]:
    found = Check()
    for _ in check(found):
        pass
    return found.faults


def cut() -> int:
    job_id = actions.reindexing.begin(requested_by="a test")
    working.advance(job_id)
    return job_id


def at_once(workers: int, job_id: int) -> None:
    def work(number: int) -> None:
        try:
            working.work(f"worker {number}", job_id)
        finally:
            connection.close()

    with ThreadPoolExecutor(workers) as threads:
        list(threads.map(work, range(workers)))
    working.advance(job_id)  # as beat does: each worker may have seen the last split of another one unfinished


def test_concurrent_workers_rebuild_the_same_index():
    an_archive(1)
    before, first = comparing.of_documents(), comparing.next_document()
    job_id = cut()
    assert Job.objects.get(pk=job_id).splits.count() == 8
    at_once(3, job_id)
    assert comparing.of_documents(first) == before  # all of them are new, and say the same
    assert faults() == []
    assert Job.objects.get(pk=job_id).result["postings"] == 40


def test_postings_changed_during_a_span_are_left_to_the_outbox():
    chance = an_archive(2)
    job_id = cut()
    claim = jobs.claiming.claim("a worker", job_id)
    again = actions.reindexing.analyse_span(claim.parameters, lambda: None)
    edited, deleted = sorted(again.documents)[:2]
    Posting.objects.filter(pk=edited).update(text="flood flood", text_hash=chance.randbytes(16))
    Posting.objects.filter(pk=deleted).delete()
    jobs.claiming.commit(claim.attempt_id, lambda: actions.reindexing.replace_span(again))
    assert jobs.claiming.claim("a worker", job_id)
    assert Document.objects.filter(posting_id__in=again.documents, dead=False).count() >= 5
    settle()
    working.work("a worker", job_id)
    assert faults() == []
    assert not Document.objects.filter(posting_id=deleted, dead=False).exists()
    assert comparing.of_documents().keys() == set(Posting.objects.values_list("pk", flat=True))


def test_postings_consumed_after_the_cut_are_not_read_again():
    chance = an_archive(3)
    job_id = cut()
    publish(chance, a_source(language="en"), 5)
    posting_id = Posting.objects.order_by("pk").values_list("pk", flat=True)[0]
    Posting.objects.filter(pk=posting_id).update(text="flood", text_hash=chance.randbytes(16))
    settle()
    working.work("a worker", job_id)
    assert Job.objects.get(pk=job_id).result["postings"] == 39
    assert faults() == []


def test_emptying_the_index_cancels_unfinished_jobs():
    an_archive(4)
    before, former = comparing.of_documents(), cut()
    working.work_on_one("a worker", former)
    job_id = actions.reindexing.begin(from_nothing=True, requested_by="a test")
    assert not Document.objects.exists()
    assert Job.objects.get(pk=former).state == Job.State.CANCELLED
    at_once(2, job_id)
    assert comparing.of_documents() == before
    assert faults() == []


def test_documents_of_postings_that_are_gone_end(capsys):
    an_archive(5, count=12)
    Posting.objects.filter(pk__in=Posting.objects.values_list("pk")[:3]).delete()
    OutboxRow.objects.all().delete()  # as if the trigger had missed it
    call_command("reindex")
    assert "9 postings were read." in capsys.readouterr().out
    assert (Document.objects.filter(dead=False).count(), faults()) == (9, [])


def test_a_reading_that_was_stopped_is_finished_by_the_next_command(capsys):
    an_archive(6)
    job_id = cut()
    working.work_on_one("a worker", job_id)
    jobs.claiming.pause(job_id)
    call_command("reindex")
    assert Job.objects.get().state == Job.State.DONE
    assert "40 postings were read." in capsys.readouterr().out
    assert Attempt.objects.filter(outcome="done").count() == 9  # eight spans, and the end
