"""A change moves the due times of waiting sources, and of no others."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import pairwise
from typing import Any

import psycopg
import pytest
from django.db import connection, transaction
from pytest_django import DjangoDbBlocker

from apps.retrieval.actions import (
    change_plan,
    current_plan,
    learn_profiles,
    replan,
    replan_changed,
    request_check,
    start,
)
from apps.retrieval.actions.plan import PLANNING, settled
from apps.retrieval.actions.timetables import make_timetables
from apps.retrieval.models import Plan, Schedule, SourceChange, WeeklyProfile
from apps.retrieval.policies import all_policies
from apps.retrieval.queries import planned_otherwise
from apps.retrieval.scheduler.claims import LEASE, Claim
from apps.sources.actions.editing import edit_source, set_interests
from apps.sources.models import Source
from tests.apps.retrieval.rehearsing import rehearsing_once
from tests.apps.retrieval.retrieving import DAY, HOUR, NOW, a_feed, an_observed_source, daily, fail, visit
from tests.builders import a_follow

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("rehearses_once")]

SOON = NOW + timedelta(minutes=5)


def due(source: Source) -> Any:
    return Schedule.objects.get(pk=source.pk).due_at


def due_times() -> dict[int, Any]:
    return dict(Schedule.objects.values_list("pk", "due_at"))


@contextmanager
def another_connection() -> Iterator[psycopg.Connection[Any]]:
    values = connection.get_connection_params()
    values = {name: value for name, value in values.items() if name not in {"context", "cursor_factory"}}
    with psycopg.connect(**values) as other:
        yield other


@pytest.fixture(scope="class")
def rows_of_fleet(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Sources of several profiles, retrieved about four times a day: there is room in both directions.

    Made once for the tests of a class, each of which rolls back what it changes.
    """
    with django_db_blocker.unblock(), transaction.atomic(), rehearsing_once():
        change_plan(budget=4)
        for number in range(6):
            an_observed_source([*daily(7 + number), *daily(20 - number, days=4 * number + 2)])
        settle()
        yield
        transaction.set_rollback(True)


@pytest.fixture
def fleet(rows_of_fleet: None, db: None) -> list[Source]:
    return list(Source.objects.order_by("pk"))


def settle() -> None:
    """The price is found, all due times follow it, and nothing is left to do."""
    Plan.objects.update(planned_revision=0)
    replan_changed(now=NOW)
    replan(now=NOW)


def make_cheap() -> None:
    """Retrievals cost next to nothing, so that only politeness limits them."""
    Plan.objects.update(price=1e-9)


def test_the_first_profiles_of_a_new_portal_are_priced_by_the_next_run():
    assert replan_changed(now=NOW) == 0
    assert current_plan().price is None  # nothing is known yet
    an_observed_source(daily(9))
    replan_changed(now=SOON)
    assert current_plan().price is not None
    assert current_plan().curve


def test_a_first_follower_counts_as_much_as_a_listed_source():
    source = an_observed_source(daily(9))
    Source.objects.update(always_retrieved=False)
    a_follow(source=source)
    assert planned_otherwise([source.pk]) == []


def test_a_plan_does_nothing_before_anything_is_known():
    assert replan_changed(now=NOW) == 0
    assert Plan.objects.get().price is None


class TestWhatASourceIsWorth:
    def test_moves_its_due_time_and_those_of_others_that_pay_for_it(self, fleet):
        before = due_times()
        edit_source(fleet[0].pk, weight=20)
        assert replan_changed(now=SOON) == len(fleet)
        after = due_times()
        assert after.pop(fleet[0].pk) < before.pop(fleet[0].pk)
        assert all(after[pk] >= before[pk] for pk in after)
        assert after != before
        assert Schedule.objects.get(pk=fleet[0].pk).worth == 20

    @pytest.mark.parametrize(
        ("mass", "changed", "expected"), [(1.004, 0, True), (1.02, 0, False), (None, 0, False), (1.0, 1, False)]
    )
    def test_is_rehearsed_again_after_a_change_of_a_hundredth_of_all(self, fleet, mass, changed, expected):
        assert settled(Plan(mass=mass, rehearsed_mass=1.0), changed) == expected

    def test_grows_with_its_followers(self, fleet):
        before = due(fleet[1])
        for _ in range(8):
            a_follow(source=fleet[1])
        assert replan_changed(now=SOON)
        assert due(fleet[1]) < before
        assert Schedule.objects.get(pk=fleet[1].pk).worth == 9  # readers, and the portal itself

    def test_is_compared_for_changed_sources_alone(self, fleet):
        edit_source(fleet[0].pk, weight=20)
        SourceChange.objects.all().delete()
        assert replan_changed(now=SOON) == 0
        edit_source(fleet[0].pk, weight=21)
        assert replan_changed(now=SOON)
        assert not SourceChange.objects.exists()

    def test_without_any_reader_ends_its_checks(self, fleet):
        Source.objects.filter(pk=fleet[0].pk).update(always_retrieved=False)
        replan_changed(now=SOON)
        assert due(fleet[0]) is None

    def test_grows_with_what_people_search_for(self, fleet):
        before = due(fleet[2])
        assert set_interests({fleet[2].pk: 12.0}) == 1
        assert set_interests({fleet[2].pk: 12.0}) == 0
        assert replan_changed(now=SOON)
        assert due(fleet[2]) < before

    def test_may_fall_too(self, fleet):
        before = due(fleet[3])
        edit_source(fleet[3].pk, weight=0.01)
        replan_changed(now=SOON)
        assert due(fleet[3]) > before

    def test_must_differ_by_more_than_a_hundredth(self, fleet):
        edit_source(fleet[0].pk, weight=1.005)
        assert replan_changed(now=SOON) == 0

    @pytest.mark.parametrize("value", [-1, 1_001])
    def test_lies_within_bounds(self, value):
        with pytest.raises(ValueError, match=str(value)):
            set_interests({1: value})


class TestThePlan:
    def test_with_a_larger_budget_moves_all_sources_earlier(self, fleet):
        before = due_times()
        change_plan(budget=8)
        assert replan_changed(now=SOON) == len(fleet)
        plan = Plan.objects.get()
        assert plan.price < 1.0
        assert plan.planned_revision == plan.revision
        after = due_times()
        assert all(after[pk] <= before[pk] for pk in before)
        assert sum(after[pk] < before[pk] for pk in before) >= 4
        assert replan_changed(now=SOON) == 0

    def test_with_a_smaller_budget_moves_all_sources_later(self, fleet):
        before = due_times()
        change_plan(budget=1.5)
        replan_changed(now=SOON)
        after = due_times()
        assert all(after[pk] > before[pk] for pk in before)

    def test_computes_the_effect_of_other_budgets(self, fleet):
        change_plan(budget=3)
        replan_changed(now=SOON)
        retrievals, delays = zip(*Plan.objects.get().curve, strict=True)
        assert list(retrievals) == sorted(retrievals)
        assert all(more < 1.02 * less for less, more in pairwise(delays))
        assert retrievals[0] < 3 * len(fleet) < retrievals[-1]
        assert retrievals[4] == pytest.approx(3 * len(fleet), rel=0.06)

    def test_of_another_policy_gives_timetables_and_ours_takes_over_again(self, fleet):
        before = due_times()
        for policy in (policy for policy in all_policies() if policy != "ours"):
            change_plan(policy=policy)
            assert len(make_timetables(Plan.objects.get(), now=SOON)) == len(fleet)
            assert replan(now=SOON) == len(fleet)
            assert due_times() != before
            assert all(NOW + HOUR <= due_at <= SOON + 25 * HOUR for due_at in due_times().values())
        assert not WeeklyProfile.objects.filter(timetable=b"").exists()
        change_plan(policy="ours")
        replan(now=SOON)
        assert due_times() == before

    def test_of_a_paper_that_gives_all_the_same_number_keeps_to_it(self, fleet):
        change_plan(policy="scheduling", budget=3)
        make_timetables(Plan.objects.get(), now=SOON)
        sizes = [len(profile.timetable) / 8 / profile.period * 24 for profile in WeeklyProfile.objects.all()]
        assert sizes == pytest.approx([3] * len(fleet))

    def test_follows_new_profiles(self, fleet):
        learn_profiles(now=NOW + HOUR)
        assert replan_changed(now=NOW + HOUR) == len(fleet)
        assert replan_changed(now=NOW + HOUR) == 0


class TestReplanning:
    def test_gives_what_the_visit_itself_planned(self, fleet):
        for number, source in enumerate(fleet):
            visit(source, SOON + HOUR, a_feed([NOW + HOUR] * number, first=100, channel="<ttl>1</ttl>"))
        before = due_times()
        assert replan(now=SOON + HOUR) == len(fleet)
        after = due_times()
        assert all(abs(after[pk] - before[pk]) < timedelta(seconds=1) for pk in before)

    def test_twice_changes_nothing_also_of_what_is_overdue(self, fleet):
        make_cheap()
        late = NOW + 5 * HOUR
        replan(now=late)
        once = due_times()
        assert min(once.values()) < late + timedelta(minutes=5)
        replan(now=late + timedelta(seconds=30))
        assert due_times() == once

    def test_is_never_earlier_than_politeness_allows(self, fleet):
        make_cheap()
        replan(now=SOON)
        assert all(NOW + HOUR <= due_at <= NOW + 1.5 * HOUR for due_at in due_times().values())
        assert NOW + HOUR in due_times().values()

    def test_spreads_overdue_sources_over_minutes(self, fleet):
        make_cheap()
        late = NOW + 3 * HOUR
        Schedule.objects.update(due_at=late + DAY)
        replan(now=late)
        times = set(due_times().values())
        assert len(times) == len(fleet)
        assert all(late <= due_at < late + timedelta(minutes=5) for due_at in times)

    def test_leaves_failing_sources_to_their_back_off(self, fleet):
        backed_off = fail(fleet[0], SOON).due_at
        replan(now=SOON)
        assert due(fleet[0]) == backed_off

    def test_leaves_dispatched_and_begun_sources(self, fleet):
        waiting, begun = fleet[:2]
        Schedule.objects.filter(pk=waiting.pk).update(first_due_at=SOON, dispatched_at=SOON, due_at=SOON + LEASE)
        start([Claim(begun.pk, Schedule.objects.get(pk=begun.pk).sequence, 0.0, 0.0)], worker="one", now=SOON)
        before = due_times()
        make_cheap()
        assert replan(now=SOON) == len(fleet) - 2
        after = due_times()
        assert [after[pk] for pk in (waiting.pk, begun.pk)] == [before[pk] for pk in (waiting.pk, begun.pk)]

    def test_leaves_a_manual_check(self, fleet):
        request_check(fleet[0].pk, now=SOON)
        assert replan(now=SOON) == len(fleet) - 1
        assert due(fleet[0]) == NOW + HOUR

    def test_leaves_unwanted_sources(self, fleet):
        Schedule.objects.filter(pk=fleet[0].pk).update(due_at=None)
        replan(now=SOON)
        assert due(fleet[0]) is None

    def test_keeps_out_of_skipped_hours(self, fleet):
        source = an_observed_source(daily(9.5), title="")
        skipped = "".join(f"<hour>{hour}</hour>" for hour in range(24) if hour != 3)
        visit(source, NOW + HOUR, a_feed([], channel=f"<skipHours>{skipped}</skipHours>"))
        replan(now=SOON + HOUR)
        assert due(source).hour == 3

    def test_is_done_by_one_process_at_a_time(self, fleet):
        edit_source(fleet[0].pk, weight=2)
        with another_connection() as other:
            other.execute("SELECT pg_advisory_lock(%s)", [PLANNING])
            assert replan_changed(now=SOON) == 0
            other.execute("SELECT pg_advisory_unlock_all()")
            assert replan_changed(now=SOON)

    def test_of_some_sources_moves_no_others(self, fleet):
        make_cheap()
        before = due_times()
        assert replan([fleet[4].pk], now=SOON) == 1
        after = due_times()
        assert {pk for pk in before if after[pk] != before[pk]} == {fleet[4].pk}

    def test_takes_as_many_queries_for_many_sources_as_for_few(self, fleet, django_assert_max_num_queries):
        with django_assert_max_num_queries(8):
            replan(now=SOON)


@pytest.mark.django_db(transaction=True)
def test_a_row_that_is_held_is_left_out_and_the_others_are_planned():
    sources = [an_observed_source(daily(9)) for _ in range(3)]
    current_plan()
    make_cheap()
    with another_connection() as other:
        other.execute("SELECT 1 FROM retrieval_schedule WHERE source_id = %s FOR UPDATE", [sources[0].pk])
        before = due(sources[0])
        assert replan(now=SOON) == 2
        assert due(sources[0]) == before
    assert replan(now=SOON) == 3
