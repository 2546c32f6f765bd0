"""What a retrieval teaches about its source, and the next due time."""

from datetime import timedelta

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.retrieval.actions import change_plan, forget_answers, store
from apps.retrieval.actions.timetables import make_timetables
from apps.retrieval.algorithms.calendar import hours_of
from apps.retrieval.http.results import decide
from apps.retrieval.models import Plan, Retrieval, Schedule, WeeklyProfile
from apps.sources.models import Source
from tests.apps.retrieval.retrieving import (
    BUSY,
    DAY,
    HOUR,
    NOW,
    a_feed,
    a_scheduled_source,
    an_answer,
    an_observed_source,
    begin,
    daily,
    fail,
    latest,
    visit,
)

pytestmark = pytest.mark.django_db

MORNINGS = daily(9.5)


def factor(schedule: Schedule) -> float:
    return schedule.activity_seen / schedule.activity_expected


def hourly(source: Source) -> np.ndarray:
    return np.frombuffer(bytes(WeeklyProfile.objects.get(pk=source.pk).hourly), dtype="<f4")


class TestTheFirstSuccess:
    def test_teaches_a_profile_on_the_spot(self):
        source = an_observed_source(MORNINGS)
        by_hour = hourly(source).reshape(7, 24).sum(axis=0)
        assert by_hour.argmax() == 9
        profile = WeeklyProfile.objects.get()
        assert profile.window == 28
        assert 5 < profile.weekly < 9

    def test_plans_the_next_due_times_with_a_reason(self):
        source = an_observed_source(MORNINGS)
        schedule = Schedule.objects.get(pk=source.pk)
        assert NOW + HOUR <= schedule.due_at <= NOW + DAY
        assert schedule.reason.endswith("an earlier check would cost more than it saves")
        assert 0 < len(schedule.ahead) <= 12
        assert schedule.ahead == sorted(schedule.ahead)
        assert schedule.due_at < schedule.ahead[0]
        assert (schedule.observed_at, schedule.earliest_at, schedule.worth) == (NOW, NOW, 1.0)

    def test_of_a_feed_without_postings_teaches_what_is_usual(self):
        source = an_observed_source([])
        assert (hourly(source) > 0).all()
        assert NOW + HOUR <= Schedule.objects.get().due_at <= NOW + DAY

    def test_of_a_source_with_stored_postings_uses_them_though_it_shows_none(self):
        source = an_observed_source(MORNINGS)
        WeeklyProfile.objects.all().delete()
        visit(source, NOW + HOUR)
        assert hourly(source).reshape(7, 24).sum(axis=0).argmax() == 9

    def test_gap_is_shorter_the_more_a_source_publishes(self):
        quiet, busy = an_observed_source(daily(9.5, days=4)), an_observed_source(daily(9.5) + daily(15) + daily(4))
        Plan.objects.update(price=1.0)
        gaps = [visit(source, NOW + HOUR).due_at for source in (quiet, busy)]
        assert gaps[0] > gaps[1]

    def test_comes_after_failures_that_only_politeness_plans(self):
        source = a_scheduled_source()
        schedule = fail(source)
        assert schedule.due_at == schedule.earliest_at == NOW + HOUR
        assert fail(source, NOW + HOUR).due_at == NOW + 3 * HOUR
        assert not WeeklyProfile.objects.exists()


class TestActivity:
    def test_grows_with_more_postings_than_expected_and_shrinks_with_fewer(self):
        eager, silent = an_observed_source(MORNINGS), an_observed_source(MORNINGS)
        later = NOW + 6 * HOUR
        new = [NOW + timedelta(minutes=20 * number) for number in range(1, 11)]
        busy, calm = visit(eager, later, a_feed(new, first=100)), visit(silent, later)
        assert factor(busy) > 1.5
        assert factor(calm) < 1
        assert busy.due_at < calm.due_at
        assert busy.observed_at == calm.observed_at == later

    def test_counts_postings_since_the_latest_observation_and_none_older(self):
        source = an_observed_source(MORNINGS)
        before = Schedule.objects.get().activity_seen
        late = a_feed([NOW - HOUR, NOW - DAY, NOW + HOUR], first=100)
        assert visit(source, NOW + 2 * HOUR, late).activity_seen == pytest.approx(before + 1, abs=0.05)

    def test_counts_new_postings_without_a_date(self):
        source = an_observed_source(MORNINGS)
        before = Schedule.objects.get().activity_seen
        schedule = visit(source, NOW + 2 * HOUR, a_feed([None, None, None], first=100))
        assert schedule.activity_seen == pytest.approx(before + 3, abs=0.05)
        again = visit(source, NOW + 4 * HOUR, a_feed([None, None, None], first=100, channel="<ttl>1</ttl>"))
        assert again.activity_seen == pytest.approx(before + 3, abs=0.1)

    def test_stays_when_the_source_does_not_answer(self):
        source = an_observed_source(MORNINGS)
        before = Schedule.objects.get()
        after = fail(source, NOW + 3 * HOUR)
        assert (after.activity_seen, after.activity_expected) == (before.activity_seen, before.activity_expected)
        assert after.observed_at == NOW
        assert after.due_at >= after.earliest_at == NOW + 4 * HOUR

    def test_starts_from_scratch_at_a_new_address(self):
        source = an_observed_source(MORNINGS)
        visit(source, NOW + 6 * HOUR)
        forget_answers(source.pk, now=NOW)
        schedule = visit(source, NOW + 7 * HOUR, a_feed(MORNINGS, channel="<ttl>1</ttl>"))
        assert factor(schedule) == 1


class TestPoliteness:
    def test_decides_if_the_plan_is_earlier_and_is_the_reason(self):
        Plan.objects.create(pk=1, price=1e-9)
        source = a_scheduled_source()
        schedule = visit(source, NOW, a_feed([]), headers={"etag": '"1"', "cache-control": "max-age=14400"})
        assert schedule.due_at == schedule.earliest_at == NOW + 4 * HOUR
        assert schedule.reason == "it can be cached for 14400 s (Cache-Control)"

    def test_applies_to_the_feeds_own_minimum(self):
        Plan.objects.create(pk=1, price=1e-9)
        source = a_scheduled_source()
        schedule = visit(source, NOW, a_feed([], channel="<ttl>300</ttl>"))
        assert schedule.due_at == schedule.earliest_at == NOW + 5 * HOUR
        assert schedule.reason == "the feed asks for no check within 18000 s (ttl)"

    def test_keeps_out_of_the_hours_that_the_feed_names_and_says_so(self):
        skipped = "".join(f"<hour>{hour}</hour>" for hour in range(24) if hour != 3)
        schedule = visit(a_scheduled_source(), NOW, a_feed([], channel=f"<skipHours>{skipped}</skipHours>"))
        assert schedule.due_at.hour == 3
        assert schedule.reason == "the feed asks for no check before that time (skipHours, skipDays)"

    def test_defers_without_forgetting_the_plan(self):
        source = an_observed_source(MORNINGS)
        before = Schedule.objects.get()
        after = fail(source, NOW + 3 * HOUR, BUSY)
        assert after.due_at == NOW + 3 * HOUR + timedelta(seconds=90)
        kept = (
            "earliest_at",
            "ahead",
            "observed_at",
            "worth",
            "activity_seen",
            "activity_expected",
            "consecutive_failures",
        )
        assert [getattr(after, name) for name in kept] == [getattr(before, name) for name in kept]


def test_no_source_waits_longer_than_the_longest_gap_however_little_it_is_worth():
    change_plan(longest_gap=30)
    source = an_observed_source(MORNINGS, weight=0)
    schedule = Schedule.objects.get(pk=source.pk)
    assert schedule.due_at == NOW + 30 * HOUR
    assert schedule.reason.startswith("the 30-hour limit")


def test_a_policy_of_a_paper_follows_its_timetable():
    source = an_observed_source(MORNINGS)
    plan = change_plan(policy="uniform", budget=4, unit="source_day")
    assert len(make_timetables(plan, now=NOW)) == 1
    schedule = visit(source, NOW + 2 * HOUR)
    gaps = np.diff([at.timestamp() for at in [schedule.due_at, *schedule.ahead]])
    assert gaps == pytest.approx(6 * 3_600)
    assert schedule.reason == "the next time in its timetable"
    assert schedule.due_at >= NOW + 3 * HOUR


class TestDelays:
    def test_are_measured_from_publication_to_our_answer(self):
        source = an_observed_source(MORNINGS)
        visit(source, NOW + 3 * HOUR, a_feed([NOW + HOUR, NOW + 2 * HOUR], first=100))
        log = latest(source)
        assert (log.new, log.dated, log.delay_seconds, log.longest_delay_seconds) == (2, 2, 3 * 3_600, 2 * 3_600)

    def test_leave_out_what_was_there_before_us_and_what_has_no_date(self):
        source = an_observed_source(MORNINGS)
        assert latest(source).dated == 0
        visit(source, NOW + 3 * HOUR, a_feed([NOW - 40 * DAY, None], first=100))
        assert (latest(source).new, latest(source).dated) == (2, 0)

    def test_begin_with_our_former_look_for_what_was_not_shown_then(self):
        source = an_observed_source(MORNINGS)
        visit(source, NOW + 5 * HOUR)
        visit(source, NOW + 7 * HOUR, a_feed([NOW + HOUR], first=100))
        assert latest(source).delay_seconds == 2 * 3_600

    def test_of_a_replay_are_in_its_own_time(self):
        source = an_observed_source([NOW - HOUR], clock_rate=60)
        visit(source, NOW + timedelta(minutes=3), a_feed([NOW + timedelta(minutes=1)], first=100))
        assert latest(source).delay_seconds == 2 * 60 * 60


def test_a_replay_is_planned_like_life_itself_but_faster():
    """The same week at clock rates of 1 and of 60; due times agree in the sources' own hours."""
    gaps = {}
    for clock_rate in (1, 60):
        shift = (
            hours_of(NOW.timestamp()) - hours_of(NOW.timestamp(), clock_rate)
        ) % 168  # own hours to the same weekday
        at = NOW + timedelta(hours=shift) / clock_rate
        dates = [at - (NOW - date) / clock_rate for date in [*MORNINGS, *daily(17)]]
        source = an_observed_source(dates, at=at, clock_rate=clock_rate)
        later = visit(source, at + 3 * HOUR / clock_rate, a_feed([at + HOUR / clock_rate], first=100))
        due_times = [later.due_at, *later.ahead]
        gaps[clock_rate] = [(due_at - at) * clock_rate / HOUR for due_at in due_times]
    assert gaps[60] == pytest.approx(gaps[1], abs=0.02)


def counted(captured: CaptureQueriesContext) -> int:
    """Queries without those of the database's clock, which is read every ten seconds."""
    return sum("clock_timestamp" not in (query["sql"] or "") for query in captured)  # none for COPY


def test_storing_takes_as_many_queries_for_many_visits_as_for_few():
    def queries_of(count: int) -> int:
        sources = [an_observed_source(MORNINGS, site_url="https://news.example/") for _ in range(count)]
        later = NOW + 2 * HOUR
        begun = [begin(source, later) for source in sources]
        visits = [decide(each, an_answer(each, later, a_feed([NOW], first=100)), jitter=0.0) for each in begun]
        with CaptureQueriesContext(connection) as captured:
            store(visits)
        return counted(captured)

    assert queries_of(12) == queries_of(2)


def test_first_successes_take_as_many_queries_for_many_as_for_few():
    def queries_of(count: int) -> int:
        begun = [begin(a_scheduled_source(site_url="https://news.example/")) for _ in range(count)]
        visits = [decide(each, an_answer(each, NOW, a_feed(MORNINGS)), jitter=0.0) for each in begun]
        with CaptureQueriesContext(connection) as captured:
            store(visits)
        return counted(captured)

    queries_of(1)  # makes the plan
    assert queries_of(12) == queries_of(2)
    assert Retrieval.objects.count() == 15
