"""The page of one source's plan, the effect of another weight, and what readers see of it."""

from datetime import UTC, datetime

import numpy as np
import pytest
from django.urls import reverse
from django.utils import timezone

from apps.dashboard.pages.plan import source_plan_page
from apps.retrieval.models import Plan, Schedule
from apps.retrieval.reports import source as reports
from apps.sources.models import Source
from tests.apps.dashboard.planning import DAY, HOUR, a_planned_source, a_visit
from tests.builders import NOON, a_follow, a_plan, a_profile, a_schedule, a_source

pytestmark = pytest.mark.django_db


def of_source(source: Source, now: datetime = NOON):
    return reports.plan_of_source(source, Schedule.objects.get(pk=source.pk), now)


# --- the plan of one source -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("followers", [0, 1, 3])
@pytest.mark.parametrize("shown", [{}, {"listed": True}, {"always_retrieved": True}])
def test_worth_is_weight_times_interest_times_readers(followers, shown):
    source = a_source(weight=3, interest=2, **shown)
    a_schedule(source)
    for _ in range(followers):
        a_follow(source=source)
    plan = of_source(source)
    assert plan.state.worth == 6 * plan.readers


def test_a_flat_profile_is_explained():
    a_plan()
    plan = of_source(a_planned_source())
    assert (plan.price, plan.longest, plan.state.least) == (8.0, 24.0, 1.0)
    assert [coming.at for coming in plan.coming[:2]] == pytest.approx([NOON + 3 * HOUR, NOON + 7 * HOUR], abs=HOUR / 60)
    assert len(plan.coming) > 3


def test_half_the_delay_of_a_flat_profile_costs_twice_the_retrievals():
    a_plan()
    halving = of_source(a_planned_source()).halving
    assert halving.possible
    assert (halving.now.retrievals, halving.now.mean_delay) == pytest.approx((6, 2 * 3_600), rel=0.02)
    assert (halving.then.retrievals, halving.then.mean_delay) == pytest.approx((12, 3_600), rel=0.02)


def test_a_delay_that_the_shortest_gap_decides_cannot_be_halved():
    a_plan(price=0.6)
    halving = of_source(a_planned_source()).halving
    assert not halving.possible
    assert (halving.then.retrievals, halving.then.mean_delay) == pytest.approx((24, 1_800), rel=0.02)


def test_a_replay_is_checked_more_often_in_real_time():
    a_plan()
    source = a_planned_source(clock_rate=60)
    assert of_source(source).halving.now.retrievals == pytest.approx(360, rel=0.02)


def test_due_times_are_marked_in_the_sources_own_time():
    a_plan()
    source = a_source(always_retrieved=True)
    a_profile(source, utc_offset=120)
    saturday = datetime(2024, 5, 4, 23, 30, tzinfo=UTC)
    a_schedule(source, due_at=saturday, ahead=[saturday + HOUR, saturday + 30 * DAY])
    coming = of_source(source, saturday).coming
    assert [(each.day, each.hours) for each in coming] == [(0, 1.5), (0, 2.5)]


def test_the_busiest_hours_are_named(staff):
    hourly = np.full(168, 0.01)
    hourly[24 + 9] = 3.0  # Monday, as the week begins on Sunday
    source = a_source(always_retrieved=True)
    a_profile(source, hourly, utc_offset=-210)
    a_schedule(source)
    page = source_plan_page(staff, source.pk, NOON)
    assert page["busiest"][0] == "Monday 9:00 (3)"
    assert page["local_time"] == "UTC−3:30"
    assert "Monday 9:00: 3.0" in page["profile_picture"]


def text_of_plan(client, source: Source) -> str:
    return client.get(reverse("source_plan", args=[source.pk])).text


def test_the_page_explains_the_next_check(client, staff):
    a_plan()
    source = a_planned_source(timezone.now(), weight=2)
    Schedule.objects.update(activity_seen=7, activity_expected=5)
    a_visit(source, timezone.now(), dated=1, delay_seconds=600, longest_delay_seconds=600)
    page = text_of_plan(client, source)
    for words in (
        "2 = weight 2 × interest 1 × 1 reader",
        "1.4 times as much as usual",
        "at least 1 h after the last check, at most 1 d",
        "To halve that",
        "one article 4 h, or ten 24 min each",
        "10 min",
    ):
        assert words in page


def test_missing_data_is_explained(client, staff):
    unplanned, without_profile, without_price = a_source(), a_source(), a_planned_source(timezone.now())
    a_schedule(without_profile)
    assert "It is not checked" in text_of_plan(client, unplanned)
    assert "Its publishing rate is not known yet" in text_of_plan(client, without_profile)
    assert "The price of a check is not known yet" in text_of_plan(client, without_price)
    assert client.get(reverse("source_plan", args=[0])).status_code == 404


def test_a_timetable_is_named(client, staff):
    a_plan(policy="uniform")
    # Due at nine: the first time after a check shortly before three or fifteen would be moved by the shortest gap.
    source = a_planned_source(timezone.now().replace(hour=6, minute=0, second=0, microsecond=0))
    source.weekly_profile.timetable, source.weekly_profile.period = np.array([3.0, 15.0]).tobytes(), 24.0
    source.weekly_profile.save()
    page = text_of_plan(client, source)
    assert "uses a timetable with 2 checks per day" in page
    coming = of_source(source, timezone.now()).coming[1:]
    assert {each.hours for each in coming} == {3.0, 15.0}


def test_a_source_worth_nothing_waits_for_the_longest_gap(client, staff):
    a_plan()
    assert "Its priority is 0" in text_of_plan(client, a_planned_source(timezone.now(), weight=0))


# --- another weight ---------------------------------------------------------------------------------------------------
def form_of(source: Source, **values) -> dict[str, object]:
    return {"url": source.url, "title": source.title, "always_retrieved": "on", "weight": 1, "min_gap": ""} | values


def test_four_times_the_weight_is_checked_twice_as_often_at_the_others_cost():
    a_plan(budget=24, unit=Plan.Unit.DAY)
    effect = reports.effect_of(a_planned_source(), 4.0, NOON)
    assert (effect.now.retrievals, effect.then.retrievals) == pytest.approx((6, 12), rel=0.02)
    assert (effect.now.mean_delay, effect.then.mean_delay) == pytest.approx((7_200, 3_600), rel=0.02)
    assert effect.others_growth == pytest.approx(100 * (24 / (24 - effect.extra) - 1))


def test_the_effect_is_that_of_the_price_at_which_the_others_pay():
    """Two like sources with six checks each: one gets eight of them with four times the weight, the other four."""
    a_plan(mass=2.0)
    source, _ = a_planned_source(), a_planned_source()
    effect = reports.effect_of(source, 4.0, NOON)
    assert (effect.now.retrievals, effect.then.retrievals) == pytest.approx((6, 8), rel=0.02)


def test_a_smaller_weight_leaves_the_others_more():
    a_plan(budget=24, unit=Plan.Unit.DAY)
    effect = reports.effect_of(a_planned_source(), 0.0, NOON)
    assert effect.then.retrievals == pytest.approx(1, rel=0.02)
    assert effect.others_growth < 0


def test_a_weight_that_exceeds_the_budget_has_no_effect_on_others_to_show(client, staff):
    a_plan(budget=2, unit=Plan.Unit.DAY)
    source = a_planned_source(timezone.now())
    page = client.post(reverse("edit_source", args=[source.pk]), form_of(source, weight=100, effect=1)).text
    assert "more than the budget of 2 checks" in page


def test_the_effect_is_shown_before_anything_is_saved(client, staff):
    a_plan()
    source = a_planned_source(timezone.now())
    address = reverse("edit_source", args=[source.pk])
    whole = client.post(address, form_of(source, weight=4, effect=1, title="Typed")).text
    part = client.post(address, form_of(source, weight=4, effect=1), headers={"hx-request": "true"}).text
    assert "<html" in whole
    assert 'value="Typed"' in whole
    assert "<html" not in part
    for page in (whole, part):
        assert "With weight 4 instead of 1" in page
        assert "Nothing is saved yet" in page
    source.refresh_from_db()
    assert (source.weight, source.title == "Typed") == (1, False)


@pytest.mark.parametrize(("weight", "words"), [("-1", "weight is not possible"), ("", "weight is not possible")])
def test_a_weight_that_cannot_be_has_no_effect(client, staff, weight, words):
    a_plan()
    source = a_planned_source(timezone.now())
    assert words in client.post(reverse("edit_source", args=[source.pk]), form_of(source, weight=weight, effect=1)).text


def test_without_profile_or_price_or_with_timetables_the_effect_is_unknown():
    a_plan()
    stranger = a_source(always_retrieved=True)
    a_schedule(stranger)
    assert reports.effect_of(stranger, 4.0, NOON) is None
    assert reports.effect_of(a_source(), 4.0, NOON) is None
    source = a_planned_source()
    for values in ({"price": None}, {"policy": "combined"}):
        a_plan(**values)
        assert reports.effect_of(source, 4.0, NOON) is None


def test_saving_a_weight_moves_the_due_time_at_once(client, staff):
    a_plan()
    source = a_planned_source(timezone.now())
    observed_at = Schedule.objects.get().observed_at
    client.post(reverse("edit_source", args=[source.pk]), form_of(source, weight=4))
    assert Schedule.objects.get().due_at == pytest.approx(observed_at + 2 * HOUR, abs=HOUR / 60)
