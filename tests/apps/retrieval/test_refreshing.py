"""Readers have feeds checked before their time, as far as politeness and the budget allow, and share each fetch."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest
from django.db import connection

from apps.retrieval import queries
from apps.retrieval.actions import change_plan, refresh, refreshing
from apps.retrieval.models import Retrieval, Schedule
from apps.retrieval.scheduler.beat import CLAIM
from apps.retrieval.scheduler.claims import LEASE, Claim
from apps.sources.models import Source
from lab.worlds.feed import make_feed
from lab.worlds.queries import requests_made
from tests.apps.retrieval.retrieving import HOUR, NOW
from tests.builders import a_plan, a_profile, a_retrieval, a_schedule, a_source, a_user
from tests.web import replaying

LATER = NOW + 5 * HOUR
PLANNED = {"due_at": LATER, "reason": "as planned", "requested_at": NOW - 3 * HOUR, "observed_at": NOW - 3 * HOUR}


def waiting(count: int = 1, **values) -> list[int]:
    """Sources whose next check is planned for later."""
    sources = [a_source(always_retrieved=True) for _ in range(count)]
    return [a_schedule(source, **PLANNED | values).pk for source in sources]


def claims() -> list[Claim]:
    """What beat sends to workers."""
    with connection.cursor() as cursor:
        cursor.execute(CLAIM, [100, LEASE])
        return [Claim(row[0], row[1], row[3], row[4]) for row in cursor.fetchall()]


@pytest.mark.django_db
class TestARefresh:
    def test_makes_waiting_sources_due(self):
        sources = waiting(2)
        refreshed = refresh(a_user(), sources, now=NOW)
        assert (sorted(refreshed.checking), refreshed.next, refreshed.limit) == (sources, None, "")
        assert set(Schedule.objects.values_list("due_at", "reason")) == {(NOW, queries.USER_REQUEST)}

    @pytest.mark.parametrize(
        ("values", "again"),
        [
            ({"requested_at": NOW - HOUR / 2}, HOUR / 2),
            ({"not_before": NOW + 2 * HOUR}, 2 * HOUR),
            ({"earliest_at": NOW + 4 * HOUR}, 4 * HOUR),
            ({"skip_hours": 1 << NOW.hour}, timedelta(0)),
            ({"skip_days": 1 << NOW.weekday()}, timedelta(0)),
        ],
    )
    def test_waits_for_politeness_and_changes_nothing(self, values, again):
        [source] = waiting(**values)
        refused = refresh(a_user(), [source], now=NOW)
        assert (refused.checking, refused.next.due_at, refused.next.reason) == ([], LATER, "as planned")
        assert refused.again_at == NOW + again
        assert Schedule.objects.get().due_at == LATER

    def test_checks_no_paused_source(self):
        [source] = waiting()
        Source.objects.update(state=Source.State.PAUSED)
        assert refresh(a_user(), [source], now=NOW).checking == []

    @pytest.mark.parametrize("values", [{"worker": "one"}, {"dispatched_at": NOW}, {"due_at": NOW}])
    def test_joins_a_check_that_is_due_or_under_way(self, values):
        [source] = waiting(**values)
        before = Schedule.objects.values().get()
        assert refresh(a_user(), [source], now=NOW).checking == [source]
        assert Schedule.objects.values().get() == before

    def test_of_many_sources_checks_those_that_expect_more_postings(self):
        sources = waiting(refreshing.MAX_AT_ONCE + 2)
        for number, source in enumerate(sources):
            a_profile(Source.objects.get(pk=source), weekly=float(number))
        first = refresh(a_user(), sources, now=NOW)
        assert sorted(first.checking) == sources[2:]
        assert first.next.pk in sources[:2]
        assert sorted(refresh(a_user(), sources, now=NOW).checking) == sources

    def test_is_limited_per_reader(self, monkeypatch):
        monkeypatch.setattr(refreshing, "MAX_CHECKS", 2)
        sources, keen = waiting(3), a_user()
        first = refresh(keen, sources, now=NOW)
        assert (len(first.checking), first.limit) == (2, "reader")
        assert len(refresh(keen, sources, now=NOW).checking) == 2
        assert len(refresh(a_user(), sources, now=NOW).checking) == 3

    def test_leaves_three_quarters_of_the_budget_to_the_plan(self):
        change_plan(unit="day", budget=8)
        sources = waiting(3)
        for _ in range(2):
            last = refresh(a_user(), sources, now=NOW)
            assert (len(last.checking), last.limit) == (2, "budget")

    def test_takes_from_the_budget_like_any_other(self):
        a_plan(budget=1, unit="day")
        source = a_source(always_retrieved=True)
        for origin in Retrieval.Origin:
            a_retrieval(source, origin=origin, fetched_at=NOW)
        assert requests_made(NOW - HOUR, NOW) == 2


@pytest.mark.django_db(transaction=True)
def test_readers_who_refresh_at_the_same_time_share_one_fetch(engine):
    now = datetime.now(UTC)
    with replaying([make_feed(1, [(now - HOUR, "A headline")])]) as replay:
        source = a_source(url=replay.feed_url(1), always_retrieved=True)
        a_schedule(source, due_at=now + HOUR)
        readers, together = [a_user(), a_user()], Barrier(2)

        def press(reader) -> list[int]:
            together.wait()
            try:
                return refresh(reader, [source.pk], now=datetime.now(UTC)).checking
            finally:
                connection.close()

        with ThreadPoolExecutor(2) as pool:
            assert list(pool.map(press, readers)) == [[source.pk]] * 2
        claimed = claims()
        assert [claim.source_id for claim in claimed] == [source.pk]
        assert refresh(readers[0], [source.pk], now=datetime.now(UTC)).checking == [source.pk]
        engine.retrieve(claimed, worker="one")
        assert refresh(readers[1], [source.pk], now=datetime.now(UTC)).checking == []
        assert claims() == []
        made = Retrieval.objects.get()
        assert (made.origin, made.new, made.status) == (Retrieval.Origin.READER, 1, 200)
        assert requests_made(now, datetime.now(UTC)) == 1
        assert queries.results_since([source.pk], now) == queries.Results(waiting=0, failed=0, new=1)
        assert queries.results_since([source.pk], datetime.now(UTC)).waiting == 1
        assert Schedule.objects.get().reason != queries.USER_REQUEST
