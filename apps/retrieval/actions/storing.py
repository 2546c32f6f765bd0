"""Store the results of retrievals, what publishers send, and how late retrievals were."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from datetime import datetime
from operator import attrgetter
from typing import Any

from django.db import transaction
from django.db.models import Min

from apps.database.clock import DatabaseClock
from apps.database.statements import copy_rows, execute, query_as, records
from apps.following import queries as following
from apps.postings import actions as postings
from apps.retrieval.actions import pages
from apps.retrieval.actions.due_times import Former, Planned, delays, plan_next
from apps.retrieval.actions.planning import wake_beat
from apps.retrieval.actions.replanning import replan
from apps.retrieval.algorithms.politeness import Memory
from apps.retrieval.http.results import Assignment, FetchResult, bits
from apps.retrieval.models import Retrieval, Schedule
from apps.retrieval.planner.due_times import OBSERVING
from apps.retrieval.planner.state import COLUMNS, HEADERS, TABLES, parameters
from apps.retrieval.queries.lateness import BUCKETS, DELAY, late
from apps.sources import actions as sources
from apps.sources.algorithms.addresses import partition
from apps.sources.algorithms.expiry import unexpired
from apps.sources.models import Source

_CLOCK = DatabaseClock()  # this machine's own may be wrong, and the log is compared with others' entries
PUBLISHER = sources.curating.By("its publisher's answer")


@transaction.atomic
def store(results: Sequence[FetchResult]) -> int:
    """Store postings, schedule states, the log and the next due times. Drops results of claims that were superseded.

    Returns how many results were stored.
    """
    current = _lock([result.assignment for result in results])
    results = [result for result in results if result.assignment.source_id in current]
    with_feed = [result for result in results if result.read.feed is not None]
    new = postings.store([_document(result) for result in with_feed])
    stored = {result.assignment.source_id: each for result, each in zip(with_feed, new, strict=True)}
    stored |= pages.find(results, now=_CLOCK.now())
    for result in results:
        _change_source(result)
    planned = plan_next(results, current, stored)
    execute(_WRITE, [records(map(_schedule_row, planned))])
    now = _CLOCK.now()
    logged = [_log(each, now) for each in planned]
    copy_rows(_COPY, _TYPES, map(_LOGGED, logged))
    wake_beat([each.due_at for each in planned if each.due_at], now)
    count_lateness(logged, [delay for each in planned for delay in each.delays])
    return len(results)


def _lock(assignments: Sequence[Assignment]) -> dict[int, Former]:
    """Lock the schedules whose sequence still matches, in one order for all callers, and return their state."""
    formers = query_as(
        Former.of,
        f"""
        SELECT {COLUMNS}, (
            SELECT min(fetched_at) FROM retrieval_retrieval retrieval
            WHERE retrieval.source_id = source.id AND retrieval.outcome = ANY(%(observing)s)) AS first_observed_at
        FROM {TABLES} JOIN unnest(%(ids)s::bigint[], %(sequences)s::int[]) result(source_id, sequence)
            ON result.source_id = schedule.source_id AND result.sequence = schedule.sequence
        ORDER BY schedule.source_id FOR UPDATE OF schedule
        """,
        parameters(
            ids=[each.source_id for each in assignments],
            sequences=[each.sequence for each in assignments],
            observing=list(OBSERVING),
        ),
    )
    return {former.state.source_id: former for former in formers}


def _document(result: FetchResult) -> postings.Document:
    assert result.read.feed is not None
    return postings.Document(
        source_id=result.assignment.source_id,
        # Expired entries that the document still shows would be stored again after each deletion.
        entries=unexpired(result.read.feed.entries, result.assignment.expiry_days, result.fetched.received_at),
        address=result.fetched.url,
        feed_link=result.read.feed.link,
        language=result.read.feed.language,
        received_at=result.fetched.received_at,
    )


def _change_source(result: FetchResult) -> None:
    """Store what a response says of the source itself: its title, its new address, its end."""
    source_id = result.assignment.source_id
    if result.verdict.gone:
        sources.editing.set_state([source_id], Source.State.GONE, by=PUBLISHER)
    if result.verdict.new_url and sources.editing.move(source_id, result.verdict.new_url):
        Schedule.objects.filter(pk=source_id).update(partition=partition(result.verdict.new_url))
    about = result.read.index.about if result.read.index else result.read.feed
    if result.assignment.nameless and about is not None:
        sources.editing.learn_from(source_id, about)


_PLANNED = (
    *("due_at", "reason", "first_due_at", "observed_at", "activity_seen", "activity_expected", "etag"),
    *("last_modified", "body_hash", "not_before", "failing_since", *(field.name for field in fields(Memory)), "ttl"),
    *("skip_hours", "skip_days"),
)
_IF_KNOWN = ("earliest_at", "ahead", "hub_url", "topic_url")  # null: as before
LATEST = 16  # responses over which the mean cost is taken
_WRITE = f"""
UPDATE retrieval_schedule schedule SET sequence = schedule.sequence + 1, worker = '', attempts = 0,
    {", ".join(f"{name} = planned.{name}" for name in _PLANNED)},
    {", ".join(f"{name} = coalesce(planned.{name}, schedule.{name})" for name in _IF_KNOWN)},
    answer_bytes = coalesce(schedule.answer_bytes + (planned.answer_bytes - schedule.answer_bytes) / {LATEST},
        planned.answer_bytes, schedule.answer_bytes)
FROM json_populate_recordset(NULL::retrieval_schedule, %s) planned WHERE schedule.source_id = planned.source_id
"""


def _schedule_row(planned: Planned) -> dict[str, Any]:
    result, assignment, memory = planned.result, planned.result.assignment, planned.result.verdict.memory
    failing_since = assignment.failing_since or result.fetched.received_at
    of_result = {
        "source_id": assignment.source_id,
        # A deferred retrieval has not begun, so it keeps its first due time.
        "first_due_at": assignment.due_at if result.deferred and planned.due_at else None,
        "body_hash": result.read.body_hash,
        "not_before": result.verdict.not_before if result.read.outcome == Retrieval.Outcome.THROTTLED else None,
        "failing_since": failing_since if memory.consecutive_failures else None,
        "answer_bytes": HEADERS + result.fetched.wire_bytes if result.fetched.begun_at else None,
        "ttl": result.hints.ttl,
        "skip_hours": bits(result.hints.skip_hours),
        "skip_days": bits(result.hints.skip_days),
        "hub_url": result.announcer and result.announcer.hub_url,
        "topic_url": result.announcer and result.announcer.topic_url,
    }
    return planned.columns | asdict(result.validators) | asdict(memory) | of_result


_COPY = """
COPY retrieval_retrieval (source_id, due_at, dispatched_at, begun_at, fetched_at, stored_at, outcome, origin, message,
    status, new, edited, dated, wire_bytes, elapsed_ms, delay_seconds, longest_delay_seconds)
FROM STDIN (FORMAT BINARY)
"""
_TYPES = ["int8", *["timestamptz"] * 5, *["text"] * 3, "int2", *["int4"] * 5, *["float8"] * 2]
_LOGGED = attrgetter(
    *("source_id", "due_at", "dispatched_at", "begun_at", "fetched_at", "stored_at", "outcome", "origin", "message"),
    *("status", "new", "edited", "dated", "wire_bytes", "elapsed_ms", "delay_seconds", "longest_delay_seconds"),
)


def _log(planned: Planned, now: datetime) -> Retrieval:
    result, stored = planned.result, planned.stored
    return Retrieval(
        source_id=result.assignment.source_id,
        due_at=result.assignment.due_at,
        dispatched_at=result.assignment.dispatched_at,
        begun_at=result.fetched.begun_at,
        fetched_at=result.fetched.received_at,
        stored_at=now,
        outcome=Retrieval.Outcome.NEW if stored and stored.new else result.read.outcome,
        origin=result.assignment.origin,
        status=result.fetched.status,
        new=stored.new if stored else 0,
        edited=stored.edited if stored else 0,
        dated=len(planned.delays),
        delay_seconds=sum(planned.delays),
        longest_delay_seconds=max(planned.delays, default=0.0),
        wire_bytes=result.fetched.wire_bytes,
        elapsed_ms=round(1_000 * result.fetched.elapsed),
        message=result.read.message[:500],
    )


# --- pushed by publishers ---------------------------------------------------------------------------------------------
def set_push_lease(source_id: int, until: datetime | None, *, now: datetime) -> None:
    """Store until when a source's publisher pushes its updates; None: no longer.

    Until then the source is checked once a day, afterwards by the plan again.
    """
    with transaction.atomic():
        row = Schedule.objects.select_for_update().filter(pk=source_id).first()
        if row is None or row.pushed_until == until:
            return
        Schedule.objects.filter(pk=source_id).update(pushed_until=until)
    goes_on = until is not None and row.pushed_until is not None and now < min(until, row.pushed_until)
    if not goes_on:
        replan([source_id], now=now)


@transaction.atomic
def store_sent(document: postings.Document, *, size: int) -> postings.Stored | None:
    """Store delivered postings (of a document of `size` bytes); None if the source is not checked.

    The document may be a part of the feed, so validators and the time of the latest observation stay: the next
    retrieval counts what was delivered in the meantime.
    """
    schedule = (
        Schedule.objects.select_related("source")
        .select_for_update(of=("self",))
        .filter(pk=document.source_id, due_at__isnull=False)
        .first()
    )
    if schedule is None:
        return None
    [stored] = postings.store([document])
    if schedule.source.full_text or following.wants_pages(document.source_id):
        pages.add_teasers(document.source_id, document.received_at, now=_CLOCK.now())
    observations = Retrieval.objects.filter(source_id=document.source_id, outcome__in=OBSERVING)
    first = observations.aggregate(first=Min("fetched_at"))["first"]
    at = document.received_at
    waited = delays(stored, at, schedule.source.clock_rate, observed_at=schedule.observed_at, first=first)
    Retrieval.objects.create(
        source_id=document.source_id,
        due_at=at,
        dispatched_at=at,
        fetched_at=at,
        stored_at=_CLOCK.now(),
        outcome=Retrieval.Outcome.PUSHED,
        new=stored.new,
        edited=stored.edited,
        dated=len(waited),
        delay_seconds=sum(waited),
        longest_delay_seconds=max(waited, default=0.0),
        wire_bytes=size,
    )
    count_lateness([], waited)
    return stored


# --- lateness ---------------------------------------------------------------------------------------------------------
SHARDS = 8

_COUNT = """
INSERT INTO retrieval_latenessbucket AS known (stage, upper_seconds, shard, count, seconds)
SELECT stage, upper_seconds, pg_backend_pid() %% %s, count, seconds
FROM unnest(%s::text[], %s::float8[], %s::bigint[], %s::float8[]) new(stage, upper_seconds, count, seconds)
ORDER BY stage, upper_seconds
ON CONFLICT (stage, upper_seconds, shard)
DO UPDATE SET count = known.count + excluded.count, seconds = known.seconds + excluded.seconds
"""


def count_lateness(retrievals: Iterable[Retrieval], delays: Iterable[float] = ()) -> None:
    """Count retrievals and delays of postings into the histograms; call it last in the transaction that stores them.

    All batches update the same few rows and keep them locked until they commit: called last, that is the time of a
    commit. Connections of different shards update different rows; those of one shard lock them in one order.
    """
    found: dict[tuple[str, float], list[float]] = defaultdict(list)
    for retrieval in retrievals:
        if (seconds := late(retrieval)) is not None:
            for stage, value in seconds._asdict().items():
                found[stage, BUCKETS[bisect_left(BUCKETS, value)]].append(value)
    for delay in delays:
        found[DELAY, BUCKETS[bisect_left(BUCKETS, delay)]].append(delay)
    if found:
        stages, bounds = zip(*found, strict=True)
        counts, sums = [len(values) for values in found.values()], [sum(values) for values in found.values()]
        execute(_COUNT, [SHARDS, list(stages), list(bounds), counts, sums])
