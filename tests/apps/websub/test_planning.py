"""Sources with an active subscription are checked once a day and leave the rest of the budget to the others."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import transaction
from pytest_django import DjangoDbBlocker
from time_machine import travel

from apps.retrieval.actions import change_plan, current_plan, replan, set_push_lease
from apps.retrieval.actions.plan import draw_curve, rehearse_price, scale_price
from apps.retrieval.actions.timetables import make_timetables
from apps.retrieval.models import Plan, Schedule
from apps.retrieval.planner.due_times import SAFETY
from apps.retrieval.queries import announced, budget_left
from apps.retrieval.reports.source import effect_of, plan_of_source
from apps.sources.models import Source
from apps.websub.actions import maintain, receive, work
from apps.websub.models import Subscription
from lab.worlds.queries import requests_made
from tests.apps.retrieval.retrieving import NOW, a_feed, an_observed_source, fail, visit
from tests.apps.websub.conftest import DAY, HOUR, subscribed

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)
BUSY = sorted((NOW - 20 * MINUTE * number for number in range(1, 500)), reverse=True)


@pytest.fixture(autouse=True)
def at_noon(clock):
    return clock


@pytest.fixture(scope="class")
def busy_source(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[int]:
    """Three postings an hour; checked each hour without a subscription.

    Made once for the tests of a class, each of which rolls back what it changes.
    """
    with django_db_blocker.unblock(), transaction.atomic():
        with travel(NOW, tick=False):
            source = an_observed_source(BUSY)
            Plan.objects.update_or_create(pk=1, defaults={"price": 0.1, "priced_at": NOW, "planned_revision": 1})
            replan(now=NOW)
        yield source.pk
        transaction.set_rollback(True)


@pytest.fixture
def source(busy_source, db) -> Source:
    return Source.objects.get(pk=busy_source)


def due(source: Source):
    return Schedule.objects.get(pk=source.pk).due_at


class TestDueTime:
    def test_is_a_day_after_the_latest_check_during_a_lease(self, source):
        assert due(source) <= NOW + 2 * HOUR
        set_push_lease(source.pk, NOW + 9 * DAY, now=NOW)
        assert (due(source), Schedule.objects.get().reason) == (NOW + DAY, SAFETY)
        schedule = visit(source, NOW + DAY)
        assert (schedule.due_at, schedule.reason) == (NOW + 2 * DAY, SAFETY)
        assert schedule.ahead[0] == NOW + 3 * DAY

    def test_is_as_usual_after_the_lease(self, source):
        usual = due(source)
        set_push_lease(source.pk, NOW + 9 * DAY, now=NOW)
        set_push_lease(source.pk, None, now=NOW + MINUTE)
        assert due(source) == usual

    def test_after_a_retrieval_beyond_the_lease_is_as_usual(self, source):
        set_push_lease(source.pk, NOW + 9 * DAY, now=NOW)
        schedule = visit(source, NOW + 10 * DAY)
        assert schedule.due_at < NOW + 10 * DAY + 3 * HOUR
        assert schedule.reason != SAFETY

    def test_after_a_failure_is_a_day_later(self, source):
        set_push_lease(source.pk, NOW + 9 * DAY, now=NOW)
        assert fail(source, NOW + DAY).due_at == NOW + 2 * DAY

    def test_does_not_move_when_a_lease_is_renewed(self, source):
        set_push_lease(source.pk, NOW + 9 * DAY, now=NOW)
        Schedule.objects.update(due_at=NOW + 5 * HOUR)
        set_push_lease(source.pk, NOW + 12 * DAY, now=NOW + HOUR)
        assert due(source) == NOW + 5 * HOUR

    def test_follows_no_timetable(self, source):
        change_plan(policy="uniform", budget=24)
        make_timetables(current_plan(), now=NOW)
        set_push_lease(source.pk, NOW + 9 * DAY, now=NOW)
        assert due(source) == NOW + DAY
        assert visit(source, NOW + DAY).due_at == NOW + 2 * DAY
        set_push_lease(source.pk, None, now=NOW + DAY)
        assert due(source) <= NOW + DAY + 3 * HOUR

    def test_is_back_to_normal_within_a_minute_of_the_leases_end(self, source, hub, client):
        usual = due(source)
        Schedule.objects.update(hub_url=hub.url("/hub"), topic_url="https://news.example/feed")
        subscribed(source, hub, client, lease=3_000)
        assert due(source) == NOW + DAY
        maintain(now=NOW + timedelta(seconds=3_000))
        assert due(source) == usual


def test_a_day_is_that_of_a_quick_sources_own_hours():
    source = an_observed_source(clock_rate=24)
    Plan.objects.update(price=0.1)
    set_push_lease(source.pk, NOW + DAY, now=NOW)
    assert due(source) == NOW + HOUR


class TestActivity:
    def test_counts_deliveries_since_the_latest_retrieval(self, source, hub, client):
        """Or a retrieval that finds nothing new would count as silence."""
        Schedule.objects.update(hub_url=hub.url("/hub"), topic_url="https://news.example/feed")
        subscribed(source, hub, client)
        usual = visit(source, NOW, a_feed(BUSY[:10])).activity_seen
        dates = [NOW + 20 * MINUTE * number for number in range(1, 72)]
        subscription = Subscription.objects.get()
        headers = {"content_type": "", "content_encoding": "", "signature": ""}
        for start in range(0, 71, 10):
            sent = dates[start : start + 10]
            body = a_feed(sent, first=1_000 + start)
            work(receive(subscription.pk, body, now=sent[-1], **headers).pk, now=sent[-1])
        schedule = visit(source, NOW + DAY)
        assert schedule.activity_seen == pytest.approx(10 + (usual - 10) * 0.5 ** (24 / 72) + 71)
        assert schedule.activity_seen / schedule.activity_expected == pytest.approx(1.0, abs=0.25)

    def test_counts_nothing_twice(self, source):
        set_push_lease(source.pk, NOW + 9 * DAY, now=NOW)
        seen = visit(source, NOW + DAY, a_feed([NOW + HOUR], first=1_000)).activity_seen
        assert seen == pytest.approx(11, abs=0.01)


class TestTheBudget:
    @pytest.fixture
    def fleet(self) -> list[Source]:
        sources = [an_observed_source([NOW - number * HOUR for number in range(1, 200)]) for _ in range(6)]
        change_plan(budget=3)
        return sources

    def test_goes_to_sources_without_subscriptions(self, fleet):
        """What-ifs include the daily safety checks at any price, and no delay of deliveries."""
        change_plan(budget=2)
        for source in fleet[:3]:
            set_push_lease(source.pk, NOW + 9 * DAY, now=NOW)
        assert 24 * budget_left(current_plan(), announced(NOW)) == pytest.approx(6 * 2 - 3)  # 3 each
        scale_price(now=NOW)
        rehearse_price(now=NOW)
        draw_curve(now=NOW)
        retrievals, delay = Plan.objects.get().curve[0]  # at a price at which all are checked once a day
        assert retrievals == pytest.approx(6, rel=0.05)
        assert delay == pytest.approx(12 / 2, rel=0.05)  # h, of the half without subscriptions

    def test_of_timetables_is_shared_by_sources_without_subscriptions(self, fleet):
        change_plan(policy="uniform")
        Plan.objects.update(price=1.0)
        assert len(make_timetables(current_plan(), now=NOW)) == 6
        for source in fleet[:3]:
            set_push_lease(source.pk, NOW + 9 * DAY, now=NOW)
        assert len(make_timetables(current_plan(), now=NOW)) == 3
        plans = [plan_of_source(source, Schedule.objects.get(pk=source.pk), NOW) for source in (fleet[0], fleet[5])]
        assert [plan.by_timetable for plan in plans] == [3, 5]

    def test_pays_for_no_delivery(self, hub, client):
        source = an_observed_source(BUSY[:9])
        Schedule.objects.update(hub_url=hub.url("/hub"), topic_url="https://news.example/feed")
        subscribed(source, hub, client)
        made = requests_made(NOW - HOUR, NOW + HOUR)
        values = {"content_type": "", "content_encoding": "", "signature": ""}
        work(receive(Subscription.objects.get().pk, a_feed([NOW], first=999), now=NOW, **values).pk, now=NOW)
        assert requests_made(NOW - HOUR, NOW + HOUR) == made


class TestThePlanOfASource:
    def test_shows_a_daily_check_and_no_price(self, source):
        set_push_lease(source.pk, NOW + 9 * DAY, now=NOW)
        plan = plan_of_source(source, Schedule.objects.get(), NOW)
        assert plan.announced
        assert (plan.least, plan.longest, plan.halving) == (24, 24, None)
        assert [coming.at for coming in plan.coming][:2] == [NOW + DAY, NOW + 2 * DAY]
        assert effect_of(source, 5.0, NOW) is None
