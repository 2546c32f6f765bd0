"""Lateness runs from the first due time until begun and until stored, and leaves out nothing that never began."""

import threading
from dataclasses import replace
from datetime import datetime, timedelta
from math import inf

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.retrieval import actions
from apps.retrieval.actions import store, storing
from apps.retrieval.http.results import decide
from apps.retrieval.models import LatenessBucket, Retrieval, Schedule, UnmatchedClaims, Worker
from apps.retrieval.queries import UNREQUESTED
from apps.retrieval.queries.lateness import BUCKETS, DUE, late, overdue_since
from apps.retrieval.reports import lateness
from apps.retrieval.scheduler.claims import LEASE, Claim
from lab.worlds.queries import lateness_of_due
from tests.apps.retrieval.retrieving import BUSY, DAY, NOW, a_scheduled_source, an_answer, latest
from tests.builders import a_retrieval, a_schedule, a_source

pytestmark = pytest.mark.django_db
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
LONG = 24 * MINUTE


def begin(source, *, due_at=NOW - LONG, dispatched_at=NOW - SECOND):
    """Begin a source as if it had been dispatched again a moment ago."""
    schedule = Schedule.objects.get(pk=source.pk)
    claim = Claim(schedule.pk, schedule.sequence, due_at.timestamp(), dispatched_at.timestamp())
    [assignment] = actions.start([claim], worker="one", now=NOW)
    return assignment


def answered(assignment, **values):
    return decide(assignment, an_answer(assignment, NOW, begun_at=NOW, **values), jitter=0.0)


def put_off(assignment):
    return decide(assignment, an_answer(assignment, NOW, status=0, failure=BUSY), jitter=0.0)


def a_claim(since: datetime = NOW - LONG, **values) -> Schedule:
    """What beat has just dispatched again: `due_at` is the end of its lease."""
    given = {"due_at": NOW + LEASE, "first_due_at": since, "dispatched_at": NOW - SECOND}
    return a_schedule(**given | values)


def a_row(begun: float | None, stored: float, **values) -> Retrieval:
    due_at = values.pop("due_at", NOW - LONG)
    begun_at = None if begun is None else due_at + begun * SECOND
    return a_retrieval(
        **{"due_at": due_at, "begun_at": begun_at, "stored_at": due_at + stored * SECOND, "fetched_at": NOW} | values
    )


def recent() -> lateness.Lateness:
    return lateness.lateness(NOW - DAY, NOW)


# --- what it is -------------------------------------------------------------------------------------------------------
def test_a_retrieval_dispatched_again_is_late_since_it_was_first_due():
    source = a_scheduled_source()
    store([answered(begin(source))])
    row = latest(source)
    assert row.dispatched_at - row.due_at > LONG - 2 * SECOND
    assert late(row).begun == LONG.total_seconds()
    assert late(row).stored == (row.stored_at - row.due_at).total_seconds()


def test_one_that_ended_without_a_request_is_as_late_as_its_end():
    assert late(a_row(None, 90, outcome="failed")) == (90, 90)


@pytest.mark.parametrize("outcome", UNREQUESTED)
def test_rows_without_a_request_have_no_lateness(outcome):
    assert late(a_row(1, 90, outcome=outcome)) is None
    assert recent().retrievals == 0


def test_clocks_that_differ_make_nothing_early():
    assert late(a_row(-0.5, -0.1)) == (0, 0)
    assert recent().begun.longest == 0


def test_a_retrieval_that_never_began_is_the_worst_case():
    for _ in range(98):
        a_row(0.5, 1)
    assert recent().begun.longest == 0.5
    a_claim()
    a_schedule(due_at=NOW - 30 * MINUTE)  # not even claimed
    found = recent()
    assert (found.retrievals, found.not_stored) == (100, 2)
    assert (found.begun.p50, found.begun.longest, found.stored.longest) == (0.5, 1800, 1800)
    assert found.begun.p99 > 1_400


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"worker": "one", "dispatched_at": None},
        {"dispatched_at": None, "due_at": NOW + MINUTE},
        {"dispatched_at": None, "due_at": NOW},
        {"dispatched_at": None, "first_due_at": None, "due_at": NOW - LONG},
    ],
)
def test_a_due_source_is_late_since_its_first_due_time_whatever_became_of_it(state):
    schedule = a_claim(**state)
    assert overdue_since(schedule, NOW) == schedule.check_due_at == NOW - LONG
    assert recent().stored.longest == lateness.overdue(NOW).longest == LONG.total_seconds()
    assert lateness.overdue(NOW).count == 1


@pytest.mark.parametrize("state", [{"due_at": NOW + MINUTE}, {"due_at": None}])
def test_a_source_that_waits_is_not_late(state):
    schedule = a_schedule(**state)
    assert overdue_since(schedule, NOW) is None
    assert schedule.check_due_at == schedule.due_at
    assert (recent().retrievals, lateness.overdue(NOW).count) == (0, 0)


def test_a_retrieval_that_was_put_off_counts_once():
    source = a_scheduled_source()
    store([put_off(begin(source))])
    assert latest(source).outcome == "deferred"
    assert (recent().retrievals, recent().not_stored, recent().begun.longest) == (1, 1, LONG.total_seconds())
    store([answered(begin(source))])
    assert (recent().retrievals, recent().not_stored, recent().begun.longest) == (1, 0, LONG.total_seconds())


def test_only_the_window_and_the_source_count():
    mine, other = a_source(), a_source()
    a_row(1, 2, source=mine)
    a_row(5, 6, source=mine, fetched_at=NOW - DAY - SECOND)
    a_row(7, 8, source=other)
    a_claim(source=other)
    assert lateness.lateness_of_source(mine.pk, NOW - DAY, NOW).stored == lateness.Spread(2, 2, 2, 2)
    assert lateness.lateness_of_source(other.pk, NOW - DAY, NOW).retrievals == 2
    assert recent().retrievals == 3


def test_a_benchmark_counts_what_fell_due_in_it():
    a_row(1, 2, due_at=NOW - MINUTE, fetched_at=NOW + DAY)
    a_row(1, 2, due_at=NOW - LONG)
    a_claim(NOW - MINUTE)
    a_claim(NOW - LONG)
    found = lateness_of_due(NOW - 2 * MINUTE, NOW)
    assert (found.retrievals, found.not_stored, found.begun.longest) == (2, 1, 60)


# --- the same, slowly -------------------------------------------------------------------------------------------------
seconds = st.integers(-2, 100_000)
rows = st.tuples(st.sampled_from(Retrieval.Outcome.values), seconds, st.none() | seconds, seconds)
schedules = st.tuples(st.none() | seconds, st.none() | seconds)  # before now: first due, due


def slow_lateness(made: list[Retrieval], due: list[Schedule]) -> list[tuple[float, float]]:
    found = []
    for row in made:
        if row.outcome not in ("deferred", "refused", "pushed") and NOW - DAY < row.fetched_at <= NOW:
            ends = (row.begun_at or row.stored_at, row.stored_at)
            found.append(tuple(max(0.0, (end - row.due_at).total_seconds()) for end in ends))
    for each in due:
        if each.due_at and (each.first_due_at or each.due_at <= NOW):
            waited = max(0.0, (NOW - (each.first_due_at or each.due_at)).total_seconds())
            found.append((waited, waited))
    return found


def slow_percentile(values: list[float], share: float) -> float:
    return next(value for value in sorted(values) if sum(each <= value for each in values) >= share * len(values))


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(rows, max_size=8), st.lists(schedules, max_size=8))
def test_the_query_agrees_with_a_slow_count(made, due):
    Retrieval.objects.all().delete()
    Schedule.objects.all().delete()
    source = a_source()
    logged = [
        a_row(begun, stored, source=source, outcome=outcome, due_at=NOW - ago * SECOND, fetched_at=NOW - ago * SECOND)
        for outcome, ago, begun, stored in made
    ]
    waiting = [
        a_schedule(
            first_due_at=None if first is None else NOW - first * SECOND,
            due_at=None if at is None else NOW - at * SECOND,
        )
        for first, at in due
    ]
    expected, found = slow_lateness(logged, waiting), recent()
    assert found.retrievals == len(expected)
    for stage, spread in enumerate((found.begun, found.stored)):
        if values := [row[stage] for row in expected]:
            summary = (slow_percentile(values, 0.5), slow_percentile(values, 0.99), max(values), sum(values))
            assert (spread.p50, spread.p99, spread.longest, spread.total) == pytest.approx(summary)
    assert lateness.overdue(NOW).longest == max(slow_lateness([], waiting), default=(0.0, 0.0))[0]


# --- overdue ----------------------------------------------------------------------------------------------------------
def test_overdue_retrievals_are_grouped_by_what_they_wait_for():
    Worker.objects.create(name="gone", seen_at=NOW - DAY)
    a_schedule(due_at=NOW - 2 * MINUTE)
    for _ in range(2):
        a_claim()
    for _ in range(3):
        a_claim(worker="one", dispatched_at=None)
    for _ in range(4):
        a_claim(dispatched_at=None, due_at=NOW + MINUTE)
    a_claim(NOW - 59 * SECOND)  # late, and not overdue
    found = lateness.overdue(NOW)
    assert found == lateness.Overdue(10, LONG.total_seconds(), 1, 2, 3, 4, workers=0)
    actions.heartbeat("one")
    assert lateness.overdue(NOW).workers == 1


def test_due_sources_are_found_by_indexes():
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE retrieval_schedule")  # other tests have left statistics of rows that are gone
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {DUE}", {"now": NOW})
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert "schedule_first_due" in plan
    assert "schedule_due" in plan.replace("schedule_first_due", "")


def test_claims_that_matched_no_row_are_counted_by_reason():
    assert set(lateness.unmatched_claims().values()) == {0}
    UnmatchedClaims.objects.create(reason="uncommitted", count=3, latest_at=NOW)
    assert lateness.unmatched_claims()["uncommitted"] == 3
    assert lateness.uncommitted_since(NOW - SECOND)
    assert not lateness.uncommitted_since(NOW)


# --- the histogram ----------------------------------------------------------------------------------------------------
def counts(stage: str = "begun") -> list[int]:
    return [count for _, count in lateness.histograms()[stage].buckets]


def test_a_new_portal_has_empty_histograms():
    assert counts("begun") == counts("stored") == [0] * len(BUCKETS)


def test_stored_retrievals_are_counted_into_their_bucket_and_all_greater_ones():
    for seconds in (10.0, 10.001, 5_000):
        store([answered(begin(a_scheduled_source(), due_at=NOW - seconds * SECOND))])
    found = dict(zip(BUCKETS, counts(), strict=True))
    assert [found[upper] for upper in (5, 10, 15, 3_600, inf)] == [0, 1, 2, 2, 3]
    assert lateness.histograms()["begun"].seconds == pytest.approx(5_020.001)
    assert counts("stored")[-1] == 3


def test_postponed_and_outdated_retrievals_are_not_counted():
    source = a_scheduled_source()
    store([put_off(begin(source))])
    assignment = begin(source)
    store([answered(replace(assignment, sequence=assignment.sequence - 1))])
    assert counts()[-1] == 0
    store([answered(assignment)])
    assert counts()[-1] == 1


def test_rolled_back_retrievals_are_not_counted():
    visit = answered(begin(a_scheduled_source()))

    def store_and_fail() -> None:
        with transaction.atomic():
            store([visit])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        store_and_fail()
    assert counts()[-1] == 0
    store([visit])
    assert counts()[-1] == 1


def test_the_histogram_keeps_what_the_log_forgets():
    store([answered(begin(a_scheduled_source()))])
    before = counts(), counts("stored")
    assert actions.forget_old_retrievals(now=NOW + 1_000 * DAY)
    assert not Retrieval.objects.exists()
    assert (counts(), counts("stored")) == before
    store([answered(begin(a_scheduled_source()))])
    assert all(new >= old for new, old in zip(counts(), before[0], strict=True))
    assert counts()[-1] == 2


@pytest.mark.django_db(transaction=True)
def test_many_connections_that_count_at_once_lose_nothing(monkeypatch):
    monkeypatch.setattr(storing, "SHARDS", 1)
    source = a_source()
    batch = [a_row(seconds, 2 * seconds, source=source) for seconds in (1, 100, 3, 5_000)]
    failed = []

    def count(rows: list[Retrieval]) -> None:
        try:
            for _ in range(20):
                with transaction.atomic():
                    storing.count_lateness(rows)
        except Exception as error:
            failed.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=count, args=[rows]) for rows in (batch, batch[::-1], batch, batch[::-1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert counts()[-1] == counts("stored")[-1] == 4 * 20 * 4
    assert LatenessBucket.objects.count() == 8
