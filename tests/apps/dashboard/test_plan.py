"""What staff see of the plan of retrievals, and what readers see of it."""

from datetime import timedelta

import pytest
from django.db import connection
from django.template.loader import render_to_string
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.dashboard.pages.plan import plan_page, source_plan_page
from apps.dashboard.views import portal as plan_views
from apps.retrieval.models import Plan, Schedule
from apps.retrieval.reports import delays
from apps.sources.models import Source
from apps.web.pages.sidebar import sidebar
from tests.apps.dashboard.planning import DAY, HOUR, a_planned_source, a_visit
from tests.builders import NOON, a_follow, a_plan, a_schedule, a_source, a_user

pytestmark = pytest.mark.django_db


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
    with django_assert_num_queries(9):
        of_one = source_plan_page(staff, source.pk, NOON)
    beside = {"sidebar": sidebar(staff), "now": NOON}
    with django_assert_num_queries(0):
        form = plan_views.PlanForm()
        assert render_to_string("dashboard/plan.html", {"page": plan, "form": form, **beside}, request)
        assert render_to_string("dashboard/source_plan.html", {"page": of_one, **beside}, request)


# --- the plan of all sources ------------------------------------------------------------------------------------------
CHANGED = {"policy": "combined", "budget": "5", "unit": "day", "longest_gap": "48"}


def test_the_page_marks_figures_as_estimates_until_profiles_have_been_learnt(client, staff):
    a_plan()
    assert 'id="estimated"' in client.get(reverse("plan")).text
    a_plan(learned_at=NOON)
    assert 'id="estimated"' not in client.get(reverse("plan")).text


def test_the_page_shows_that_due_times_do_not_yet_follow_a_changed_plan(client, staff):
    a_plan()
    assert "Applied to all feeds" in client.get(reverse("plan")).text
    page = client.post(reverse("plan"), CHANGED, follow=True).text
    assert "rescheduled within a minute" in page
    assert 'id="behind"' in page
    plan = Plan.objects.get()
    assert (plan.policy, plan.budget, plan.unit, plan.longest_gap, plan.revision) == ("combined", 5, "day", 48, 2)


def test_a_budget_may_be_in_kilobytes(client, staff):
    a_plan()
    client.post(reverse("plan"), CHANGED | {"counted": "bytes"})
    assert Plan.objects.get().counted == "bytes"
    client.post(reverse("plan"), CHANGED | {"budget": "7"})  # by a form that does not name it
    assert Plan.objects.get().counted == "bytes"
    page = client.get(reverse("plan")).text
    assert "Kilobytes, 24 h" in page
    assert "Price of a kilobyte" in page


@pytest.mark.parametrize(
    "wrong",
    [
        {"budget": "0"},
        {"budget": "nan"},
        {"policy": "none"},
        {"unit": "year"},
        {"longest_gap": "0.5"},
        {"learning_days": "57"},
        {"counted": "sheep"},
    ],
)
def test_a_plan_that_cannot_be_is_not_saved(client, staff, wrong):
    a_plan()
    page = client.post(reverse("plan"), CHANGED | wrong)
    assert 'role="alert"' in page.text
    assert Plan.objects.get().revision == 1


def test_only_staff_change_the_plan(client):
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
