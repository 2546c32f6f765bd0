"""What staff see of the plan of retrievals, and what readers see of it."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from django.db import connection
from django.template.loader import render_to_string
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.dashboard.pages.plan import plan_page
from apps.dashboard.pages.source_plan import source_plan_page
from apps.dashboard.views import portal as plan_views
from apps.retrieval.models import Plan, Schedule
from apps.retrieval.reports import delays, portal
from apps.retrieval.reports import source as reports
from apps.sources.models import Source
from apps.web.pages.sidebar import sidebar
from tests.builders import NOON, a_follow, a_plan, a_profile, a_retrieval, a_schedule, a_source, a_user

pytestmark = pytest.mark.django_db
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def staff(client) -> User:
    user = a_user(is_staff=True)
    client.force_login(user)
    return user


def a_planned_source(now: datetime = NOON, **values) -> Source:
    """A source checked an hour ago and due in three hours, by its flat profile at 8 posting-hours."""
    source = a_source(**{"always_retrieved": True} | values)
    a_profile(source)
    hour = HOUR / source.clock_rate
    a_schedule(source, due_at=now + 3 * hour, observed_at=now - hour, requested_at=now - hour, earliest_at=now)
    return source


def a_visit(source: Source, at: datetime, **values):
    """A retrieval dispatched a second late and fetched two seconds later."""
    times = {"due_at": at - 3 * HOUR / 3_600, "dispatched_at": at - 2 * HOUR / 3_600, "stored_at": at}
    return a_retrieval(source, fetched_at=at, **times | values)


def of_source(source: Source, now: datetime = NOON):
    return reports.plan_of_source(source, Schedule.objects.get(pk=source.pk), now)


# --- pages cost what they cost ----------------------------------------------------------------------------------------
def queries_of(client, address: str) -> int:
    client.get(address)
    with CaptureQueriesContext(connection) as queries:
        assert client.get(address).status_code == 200
    return len(queries)


def test_the_plan_costs_as_many_queries_with_many_sources(client, staff):
    a_plan(curve=[[1, 2.0], [10, 1.0]])
    costs = []
    for _ in range(2):
        for _ in range(12):
            source = a_planned_source(timezone.now())
            for hours in range(3):
                a_visit(source, timezone.now() - hours * HOUR, dated=1, delay_seconds=60, longest_delay_seconds=60)
        costs.append(queries_of(client, reverse("plan")))
    assert costs[0] == costs[1]


def test_pages_cost_a_fixed_number_of_queries_and_drawing_them_none(django_assert_num_queries, staff):
    a_plan(curve=[[1, 2.0], [10, 1.0]])
    source = a_planned_source()
    for days in range(20):
        a_visit(source, NOON - days * DAY, dated=1, delay_seconds=60, longest_delay_seconds=60)
        a_follow(source=source)
    request = RequestFactory().get("/")
    request.user = staff
    with django_assert_num_queries(11):
        plan = plan_page(words="", sort="", number="1", now=NOON)
    with django_assert_num_queries(7):
        of_one = source_plan_page(staff, source.pk, NOON)
    beside = {"sidebar": sidebar(staff), "now": NOON}
    with django_assert_num_queries(0):
        form = plan_views.PlanForm()
        assert render_to_string("dashboard/plan.html", {"page": plan, "form": form, **beside}, request)
        assert render_to_string("dashboard/source_plan.html", {"page": of_one, **beside}, request)


# --- the plan of all sources ------------------------------------------------------------------------------------------
CHANGED = {"policy": "combined", "budget": "5", "unit": "day", "longest_gap": "48"}


def test_the_page_shows_that_due_times_do_not_yet_follow_a_changed_plan(client, staff):
    a_plan()
    assert "Applied to all feeds" in client.get(reverse("plan")).text
    page = client.post(reverse("plan"), CHANGED, follow=True).text
    assert "rescheduled within a minute" in page
    assert 'id="behind"' in page
    plan = Plan.objects.get()
    assert (plan.policy, plan.budget, plan.unit, plan.longest_gap, plan.revision) == ("combined", 5, "day", 48, 2)


@pytest.mark.parametrize(
    "wrong", [{"budget": "0"}, {"budget": "nan"}, {"policy": "none"}, {"unit": "year"}, {"longest_gap": "0.5"}]
)
def test_a_plan_that_cannot_be_is_not_saved(client, staff, wrong):
    a_plan()
    page = client.post(reverse("plan"), CHANGED | wrong)
    assert 'role="alert"' in page.text
    assert Plan.objects.get().revision == 1


def test_who_is_not_of_the_staff_changes_no_plan(client):
    a_plan()
    client.force_login(a_user())
    assert client.post(reverse("plan"), CHANGED).status_code == 403
    assert "/plan/" not in client.get("/catalogue/").text
    assert Plan.objects.get().revision == 1


def test_the_plan_sets_what_was_used_beside_what_was_meant():
    a_plan(budget=12, curve=[[6, 4.0], [24, 1.0]])
    source = a_planned_source()
    for hours in (1, 2, 30):
        a_visit(source, NOON - hours * HOUR, dated=2, delay_seconds=1_200, longest_delay_seconds=900)
    a_visit(source, NOON - 3 * HOUR, outcome="deferred")
    page = plan_page(words="", sort="", number="1", now=NOON)
    assert (page["budget"], page["used"], page["sources"]) == (12, 2, 1)
    assert page["expected"] == pytest.approx(2 * 3_600)
    assert (page["measured"].mean, page["measured"].longest) == (600, 900)
    assert page["curve"] == ((6, 4 * 3_600), (24, 3_600))
    assert 'class="measured"' in page["curve_picture"]
    assert 'class="level"' in page["hours_picture"]
    assert [(share.retrievals, share.weekly, share.mean_delay) for share in page["shares"]] == [(2, 168, 600)]


def test_a_new_portal_has_a_plan_page_too(client, staff):
    page = client.get(reverse("plan")).text
    assert "not known yet" in page
    assert "No feeds found" in page
    assert not Plan.objects.exists()


def names(**wanted) -> list[str]:
    page = plan_page(**{"words": "", "sort": "", "number": "1", "now": NOON} | wanted)
    return [share.name for share in page["shares"]]


def test_sources_have_the_requested_order():
    often, dear, late = (a_planned_source(title=title) for title in ("Often", "Dear", "Late"))
    Source.objects.filter(pk=dear.pk).update(weight=7)
    Schedule.objects.filter(pk=late.pk).update(due_at=NOON + DAY)
    for minutes in range(3):
        a_visit(often, NOON - minutes * HOUR / 60, dated=1, delay_seconds=10)
    a_visit(late, NOON, dated=1, delay_seconds=99)
    assert names()[0] == names(sort="nonsense")[0] == "Often"
    assert names(sort="worth")[0] == "Dear"
    assert names(sort="delay")[:2] == ["Late", "Often"]
    assert names(sort="next")[-1] == "Late"
    assert names(sort="source") == ["Dear", "Late", "Often"]
    assert len(names(sort="postings")) == 3


def test_sources_are_found_by_words_and_never_by_patterns():
    for title in ("100 % News", "Other News", ""):
        a_planned_source(title=title)
    assert names(words="news 100") == ["100 % News"]
    assert names(words="%") == ["100 % News"]
    assert len(names(words="example")) == 3


def test_many_sources_come_in_pages():
    for number in range(21):
        a_planned_source(title=f"Source {number}")
    pages = [names(sort="source", number=number) for number in ("1", "2", "99")]
    assert [len(page) for page in pages] == [20, 1, 1]
    assert len({*pages[0], *pages[1]}) == 21


def test_a_name_is_only_text(client, staff):
    a_planned_source(timezone.now(), title="<b>bold</b>")
    assert "&lt;b&gt;bold&lt;/b&gt;" in client.get(reverse("plan")).text


# --- figures ----------------------------------------------------------------------------------------------------------
def test_every_day_has_its_mean_and_longest_delay():
    source, other = a_source(), a_source()
    a_visit(source, NOON, dated=2, delay_seconds=30, longest_delay_seconds=20)
    a_visit(source, NOON - HOUR, dated=1, delay_seconds=60, longest_delay_seconds=60)
    a_visit(source, NOON - 2 * HOUR)
    a_visit(other, NOON - 2 * DAY, dated=1, delay_seconds=5, longest_delay_seconds=5)
    a_visit(other, NOON - 3 * DAY, dated=1, delay_seconds=5, longest_delay_seconds=5)
    days = delays.delays_by_day(NOON, 3)
    assert [(day.day.day, day.postings, day.mean, day.longest) for day in days] == [
        (29, 1, 5, 5),
        (30, 0, None, 0),
        (1, 3, 30, 60),
    ]
    assert [day.postings for day in delays.delays_by_day(NOON, 3, source.pk)] == [0, 0, 3]


def test_every_hour_has_its_requests():
    source = a_source()
    for minutes in (0, 30, 59, 61, 130):
        a_visit(source, NOON + 59 * HOUR / 60 - minutes * HOUR / 60)
    a_visit(source, NOON, outcome="refused")
    hours = portal.retrievals_by_hour(NOON + 59 * HOUR / 60, 3)
    assert [(hour.begins_at.hour, hour.retrievals) for hour in hours] == [(10, 1), (11, 1), (12, 3)]


def test_sources_over_the_longest_gap_are_counted_once_they_are_late_or_failing():
    plan = a_plan(longest_gap=24)
    for checked, due, values in [
        (30, -1, {}),  # late
        (30, 1, {"failing_since": NOON}),
        (30, 1, {}),  # waits, as politeness may want it
        (20, -1, {}),
        (30, None, {}),
    ]:
        due_at = None if due is None else NOON + due * HOUR
        a_schedule(requested_at=NOON - checked * HOUR, due_at=due_at, **values)
    fast = a_source(clock_rate=60)
    a_schedule(fast, requested_at=NOON - HOUR, due_at=NOON - HOUR)
    assert portal.trouble(plan, NOON) == portal.Trouble(planned=5, failing=1, overdue=3)


# --- the plan of one source -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("followers", [0, 1, 3])
@pytest.mark.parametrize("shown", [{}, {"listed": True}, {"always_retrieved": True}])
def test_worth_is_weight_times_interest_times_readers(followers, shown):
    source = a_source(weight=3, interest=2, **shown)
    a_schedule(source)
    for _ in range(followers):
        a_follow(source=source)
    plan = of_source(source)
    assert plan.remembered.worth == 6 * plan.readers


def test_a_flat_profile_is_explained():
    a_plan()
    plan = of_source(a_planned_source())
    assert (plan.price, plan.longest, plan.remembered.least) == (8.0, 24.0, 1.0)
    assert plan.expected == pytest.approx(4.0)
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
    source = a_planned_source(timezone.now())
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


def test_a_smaller_weight_leaves_the_others_more():
    a_plan(budget=24, unit=Plan.Unit.DAY)
    effect = reports.effect_of(a_planned_source(), 0.0, NOON)
    assert effect.then.retrievals == pytest.approx(1, rel=0.02)
    assert effect.others_growth < 0


def test_what_takes_more_than_the_budget_has_no_figure_for_the_others(client, staff):
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


# --- what readers see -------------------------------------------------------------------------------------------------
def test_readers_see_how_often_a_source_is_checked(client):
    source = a_source(listed=True)
    now = timezone.now()
    a_schedule(source, due_at=now + timedelta(minutes=12, seconds=30))
    for hours in range(14):
        a_visit(source, now - hours * 4 * HOUR / 1.08, dated=1, delay_seconds=540)
    page = client.get(reverse("river_source", args=[source.pk])).text
    assert "Checked about 7 times a day" in page
    assert "in 12 min" in page
    assert "articles arrive after 9 min on average" in page


def test_readers_see_no_unknown_figures(client, django_assert_num_queries):
    source = a_source(listed=True)
    assert delays.check_rate_of(source.pk, NOON) is None
    a_schedule(source)
    with django_assert_num_queries(1):
        assert delays.check_rate_of(source.pk, NOON) == delays.CheckRate(NOON, None, None)
    assert "Checked about" not in client.get(reverse("river_source", args=[source.pk])).text
    a_visit(source, NOON)
    a_visit(source, NOON, outcome="deferred")
    assert delays.check_rate_of(source.pk, NOON) == delays.CheckRate(NOON, 1.0, None)
