"""Profiles are learned from stored postings, however odd their dates."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from apps.retrieval.actions import change_plan, histories, learn_if_due, learn_profiles, replan, replan_changed
from apps.retrieval.actions.plan import LEARNING
from apps.retrieval.algorithms.calendar import hours_of
from apps.retrieval.algorithms.planner.activity import Activity
from apps.retrieval.algorithms.weekly_profiles.learning import pack_hourly
from apps.retrieval.models import Plan, Schedule, WeeklyProfile
from apps.sources.models import Source
from tests.apps.retrieval.retrieving import (
    DAY,
    HOUR,
    NOW,
    a_dated_posting,
    a_feed,
    a_scheduled_source,
    an_observed_source,
    daily,
    visit,
)
from tests.apps.retrieval.test_replanning import another_connection
from tests.builders import a_posting, a_retrieval

pytestmark = pytest.mark.django_db


def by_hour(source: Source) -> np.ndarray:
    """Postings expected in each hour of the day, local time."""
    return np.frombuffer(bytes(WeeklyProfile.objects.get(pk=source.pk).hourly), dtype="<f4").reshape(7, 24).sum(axis=0)


def hours_read(source: Source, *, clock_rate: float = 1.0, now: datetime = NOW) -> list[float]:
    return np.mod(histories.read([source.pk], clock_rate=clock_rate, weeks=8, now=now).times, 24).round(3).tolist()


class TestLearning:
    def test_takes_all_sources_that_have_answered_and_are_wanted(self):
        early, late = an_observed_source(daily(5.5)), an_observed_source(daily(22.5))
        a_scheduled_source()
        an_observed_source(daily(3), weight=2)
        Source.objects.filter(weight=2).update(state=Source.State.PAUSED)
        assert learn_profiles(now=NOW) == 2
        assert (by_hour(early).argmax(), by_hour(late).argmax()) == (5, 22)
        plan = Plan.objects.get()
        assert plan.learned_at == NOW
        assert plan.priors

    def test_follows_a_changed_publishing_time(self):
        source = an_observed_source(daily(9))
        for date in daily(17.5, until=NOW + 30 * DAY) * 3:
            a_dated_posting(source, date)
        learn_profiles(now=NOW + 30 * DAY)
        assert by_hour(source).argmax() == 17

    def test_resets_activity_and_keeps_the_window(self):
        source = an_observed_source(daily(9))
        visit(source, NOW + 8 * HOUR, a_feed([NOW + HOUR] * 9, first=100))
        learn_profiles(now=NOW + 9 * HOUR)
        schedule = Schedule.objects.get()
        assert (schedule.activity_seen, schedule.activity_expected) == Activity()
        assert WeeklyProfile.objects.get().window == 9

    def test_uses_eight_weeks_of_the_time_of_a_source(self):
        slow, quick = an_observed_source([]), an_observed_source([], clock_rate=60)
        for source in (slow, quick):
            for days in (0.5, 2, 50, 60):
                a_dated_posting(source, NOW - days * DAY)
        assert len(hours_read(slow)) == 3
        assert len(hours_read(quick, clock_rate=60)) == 1

    def test_serves_sources_of_all_clock_rates_together(self):
        sources = [
            an_observed_source([NOW - n * 7 * HOUR / clock_rate for n in range(20)], clock_rate=clock_rate)
            for clock_rate in (1, 7, 60)
        ]
        assert learn_profiles(now=NOW) == 3
        weekly = [WeeklyProfile.objects.get(pk=source.pk).weekly for source in sources]
        assert 18 < weekly[0] < 25
        assert weekly == pytest.approx([weekly[0]] * 3)

    def test_is_done_once_a_day(self):
        an_observed_source(daily(9))
        assert learn_if_due(now=NOW) == 1
        assert learn_if_due(now=NOW + 23 * HOUR) == 0
        assert learn_if_due(now=NOW + 25 * HOUR) == 1

    def test_is_done_once_a_day_of_a_replays_own_time(self):
        an_observed_source([NOW - HOUR], clock_rate=60)
        assert learn_if_due(now=NOW) == 1
        assert learn_if_due(now=NOW + timedelta(minutes=20)) == 0
        assert learn_if_due(now=NOW + timedelta(minutes=30)) == 1

    def test_waits_until_there_is_something_to_learn(self):
        a_scheduled_source()
        assert learn_if_due(now=NOW) == 0
        assert Plan.objects.get().learned_at is None

    def test_is_done_by_one_process_at_a_time(self):
        an_observed_source(daily(9))
        with another_connection() as other:
            other.execute("SELECT pg_advisory_lock(%s)", [LEARNING])
            assert learn_profiles(now=NOW) == 0
            other.execute("SELECT pg_advisory_unlock_all()")
            assert learn_profiles(now=NOW) == 1

    def test_is_followed_by_a_price_and_new_due_times(self):
        source = an_observed_source(daily(9))
        change_plan(budget=2)
        learn_profiles(now=NOW)
        assert replan_changed(now=NOW) == 1
        assert Plan.objects.get().price > 0
        assert Schedule.objects.get(pk=source.pk).due_at >= NOW + HOUR

    def test_of_a_new_source_leans_on_what_is_usual_among_the_others(self):
        for _ in range(12):
            an_observed_source(daily(9.5) + daily(9.7))
        learn_profiles(now=NOW)
        stranger = an_observed_source([NOW - 3 * HOUR])
        assert by_hour(stranger).argmax() == 9


class TestLocalTime:
    def test_is_that_of_each_posting_so_that_summer_time_moves_no_profile(self):
        source = an_observed_source([])
        now = datetime(2026, 4, 12, tzinfo=UTC)
        change = datetime(2026, 3, 29, 1, tzinfo=UTC)  # central European summer time
        for day in range(50):
            midnight = now - (day + 1) * DAY
            offset = 60 if midnight < change else 120
            a_dated_posting(source, midnight + 9.5 * HOUR - timedelta(minutes=offset), utc_offset=offset)
        assert set(hours_read(source, now=now)) == {9.5}
        learn_profiles(now=now)
        profile = WeeklyProfile.objects.get(pk=source.pk)
        assert profile.utc_offset == 120
        assert by_hour(source).argmax() == 9

    def test_of_dates_without_one_is_the_latest_known_one(self):
        source = an_observed_source([])
        a_dated_posting(source, NOW - 3 * DAY, utc_offset=-300)
        a_dated_posting(source, NOW - DAY)
        assert hours_read(source) == [7.0, 7.0]
        learn_profiles(now=NOW)
        assert WeeklyProfile.objects.get().utc_offset == -300

    def test_is_utc_if_no_date_has_one(self):
        source = an_observed_source([])
        a_dated_posting(source, NOW - DAY)
        assert hours_read(source) == [12.0]

    def test_does_not_change_the_planned_times(self):
        due_times = []
        for offset in (0, 330):
            source = an_observed_source([])
            for date in daily(9.5):
                a_dated_posting(source, date, utc_offset=offset)
            learn_profiles(now=NOW)
            Plan.objects.update(price=0.5)
            replan(now=NOW)
            due_times.append(Schedule.objects.get(pk=source.pk).due_at)
            Source.objects.all().delete()
            Plan.objects.all().delete()
        assert abs(due_times[0] - due_times[1]) < timedelta(hours=2.5)


class TestPostingsWithoutADateToTrust:
    def test_lie_between_two_retrievals_where_the_profile_expects_them(self):
        source = an_observed_source(daily(9.5))
        hourly = np.full((7, 24), 1e-6)
        hourly[:, 18] = 1.0
        WeeklyProfile.objects.update(hourly=pack_hourly(hourly.ravel()), minutes=b"")
        a_retrieval(source, fetched_at=NOW + 12 * HOUR, outcome="unchanged")
        for _ in range(3):
            a_posting(source, published_at=NOW + DAY, retrieved_at=NOW + DAY)
        for _ in range(2):
            a_posting(source, published_at=NOW + 6 * HOUR, retrieved_at=NOW + 12 * HOUR)
        spread = [hour for hour in hours_read(source, now=NOW + 2 * DAY) if hour != 9.5]
        evening = [hour for hour in spread if 17.4 < hour < 19.6]
        assert len(spread) == 5
        assert len(evening) == 2
        assert hours_read(source, now=NOW + 2 * DAY) == hours_read(source, now=NOW + 2 * DAY)

    @pytest.mark.parametrize(
        "claimed_at",
        [None, datetime(1970, 1, 1, tzinfo=UTC), datetime(2038, 1, 1, tzinfo=UTC)],
        ids=["no date", "an unset clock", "the future"],
    )
    def test_are_taken_to_be_so_whatever_they_claim(self, claimed_at):
        source = an_observed_source([])
        a_posting(source, published_at=NOW + 4 * HOUR, retrieved_at=NOW + 4 * HOUR, claimed_at=claimed_at)
        [time] = histories.read([source.pk], clock_rate=1.0, weeks=8, now=NOW + DAY).times.tolist()
        assert NOW < NOW + (time - hours_of(NOW.timestamp())) * HOUR < NOW + 4 * HOUR

    def test_of_the_first_retrieval_are_ignored(self):
        source = an_observed_source([None] * 5)
        assert hours_read(source) == []

    def test_a_failed_retrieval_showed_nothing(self):
        source = an_observed_source([])
        a_retrieval(source, fetched_at=NOW + 9 * HOUR, outcome="failed")
        a_posting(source, published_at=NOW + 10 * HOUR, retrieved_at=NOW + 10 * HOUR)
        [time] = hours_read(source, now=NOW + DAY)
        assert time < 21
