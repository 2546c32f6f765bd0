"""Lateness stands on the pages, in the interface for programs and in the metrics, always from the first due time."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from apps.dashboard.pages import sources
from apps.retrieval import actions
from apps.retrieval.actions import forget_old_retrievals
from apps.retrieval.actions.storing import count_lateness
from apps.retrieval.models import Schedule, UnmatchedClaims
from apps.retrieval.queries.lateness import BUCKETS
from apps.retrieval.scheduler.claims import LEASE
from tests.apps.api.programs import Program
from tests.builders import a_retrieval, a_schedule, a_source, a_user

pytestmark = pytest.mark.django_db
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
LONG = 24 * MINUTE + SECOND


@pytest.fixture
def staff(client):
    user = a_user(is_staff=True)
    client.force_login(user)
    return user


@pytest.fixture
def feed():
    return a_source(listed=True, title="Late News")


def dispatched_again(feed) -> Schedule:
    """First due 24 minutes ago, dispatched a second ago, as beat leaves it."""
    now = timezone.now()
    return a_schedule(feed, due_at=now + LEASE, first_due_at=now - LONG, dispatched_at=now - SECOND)


def a_check(feed, late=LONG, **values):
    """First due so long ago, dispatched a second ago, begun and stored now."""
    now = timezone.now()
    times = {"due_at": now - late, "dispatched_at": now - SECOND, "begun_at": now, "stored_at": now, "fetched_at": now}
    return a_retrieval(feed, **times | values)


def words(client, name: str, *arguments) -> str:
    return " ".join(client.get(reverse(name, args=arguments)).text.split())


def part(page: str, identity: str) -> str:
    return page.split(f'id="{identity}"')[1].split("</section>")[0][:1_000]


def families(client):
    return {family.name: family for family in text_string_to_metric_families(client.get("/metrics").text)}


def number(client, name: str) -> float:
    [sample] = families(client)[f"wirebeat_{name}"].samples
    return sample.value


def buckets(client, stage: str) -> dict[float, float]:
    samples = families(client)["wirebeat_retrieval_lateness_seconds"].samples
    mine = [sample for sample in samples if sample.labels["stage"] == stage]
    return {float(each.labels["le"]): each.value for each in mine if each.name.endswith("_bucket")}


# --- 24 minutes are shown as 24 minutes -------------------------------------------------------------------------------
def test_a_feed_dispatched_again_a_second_ago_is_overdue_since_it_was_first_due(client, staff, feed):
    schedule = dispatched_again(feed)
    page = words(client, "source", feed.pk)
    assert "24 min ago" in page
    assert f"since {schedule.first_due_at:%-d %B %Y, %H:%M:%S}" in part(page, "overdue")
    assert "started within 24 min, stored within 24 min" in part(page, "lateness")
    assert "24 min ago" in words(client, "source_plan", feed.pk)
    assert "24 min ago" in words(client, "sources")
    plan = words(client, "plan")
    assert "1 check is overdue, for 24 min." in plan
    assert "1 over 3 s" in re.sub("<.*?>", "", part(plan, "late-checks"))
    assert "99 in 100 began within 24 min of being due and were stored within 24 min." in plan
    overview = words(client, "dashboard")
    assert "1 check is overdue, for 24 min." in part(overview, "late")
    assert "started 24 min late (median), 24 min (99th percentile), 24 min (longest)" in part(overview, "lateness")
    assert number(client, "retrievals_overdue") == 1
    assert number(client, "retrieval_overdue_seconds_max") == pytest.approx(LONG.total_seconds(), abs=30)
    assert number(client, "retrieval_late_seconds_last_hour_max") == pytest.approx(LONG.total_seconds(), abs=30)
    data = Program(staff).get(f"sources/{feed.pk}").json()
    assert data["health"]["next_at"] == schedule.first_due_at.isoformat()


def test_a_check_that_began_24_minutes_late_is_shown_as_that(client, staff, feed):
    a_schedule(feed, due_at=timezone.now() + 60 * MINUTE, requested_at=timezone.now())
    count_lateness([a_check(feed)])
    page = words(client, "source", feed.pk)
    assert "checked 24 min late" in page
    assert page.count('<td class="number">24 min</td>') == 2
    assert 'id="overdue"' not in page
    assert "1 over 3 s" in re.sub("<.*?>", "", part(words(client, "plan"), "late-checks"))
    overview = words(client, "dashboard")
    assert "In the last 24 hours, one check in a hundred was late by more than 24 min." in part(overview, "late")
    assert "No check is overdue." in part(overview, "lateness")
    assert number(client, "retrieval_late_seconds_last_hour_max") == pytest.approx(LONG.total_seconds())
    for stage in ("begun", "stored"):
        assert (buckets(client, stage)[600], buckets(client, stage)[1_800]) == (0, 1)
    [visit] = Program(staff).get(f"sources/{feed.pk}").json()["retrievals"]
    assert visit["lateness_seconds"] == LONG.total_seconds()
    assert visit["begun_at"] is not None


def test_an_overdue_feed_is_the_next_one_in_lists(client, staff, feed):
    a_schedule(a_source(title="Soon"), due_at=timezone.now() + MINUTE)
    dispatched_again(feed)
    page = client.get(reverse("sources"), {"sort": "next"}).text
    assert page.index("Late News") < page.index("Soon")
    assert page.count('<span class="badge bad">late</span>') == 1
    assert client.get(reverse("plan"), {"sort": "next"}).text.count("24 min ago") == 1


# --- the feed's page --------------------------------------------------------------------------------------------------
def test_the_log_shows_lateness_to_begun_and_to_stored_and_all_times(client, staff, feed):
    now = timezone.now()
    a_check(feed, begun_at=now - LONG + 0.178 * SECOND, stored_at=now - LONG + 12 * SECOND)
    page = words(client, "source", feed.pk)
    assert '<td class="number">0.18 s</td><td class="number">12 s</td>' in page.replace("</td> <td", "</td><td")
    times = page.split('title="due ')[1].split('"')[0]
    assert [word for word in times.split() if word.isalpha()] == ["dispatched", "started", "fetched", "stored"]


def test_rows_without_a_request_have_no_lateness_and_are_not_the_latest_check(client, staff, feed):
    a_check(feed, late=3 * SECOND)
    a_check(feed, outcome="deferred", begun_at=None)
    page = sources.source_page(staff, feed.pk, timezone.now())
    assert [row["late"] is None for row in page["retrievals"]] == [True, False]
    assert page["latest"]["late"].begun == 3
    assert "started –" in words(client, "source", feed.pk)
    data = Program(staff).get(f"sources/{feed.pk}").json()["retrievals"]
    assert [row["lateness_seconds"] for row in data] == [None, 3]


def test_a_feed_that_was_never_checked_has_a_page_too(client, staff, feed):
    assert 'id="lateness"' not in words(client, "source", feed.pk)
    a_schedule(feed, due_at=timezone.now() + MINUTE)
    page = words(client, "source", feed.pk)
    assert 'id="lateness"' not in page
    assert 'id="overdue"' not in page


def test_the_feeds_page_costs_as_many_queries_with_many_checks(client, staff, feed):
    costs = []
    for _ in range(2):
        a_check(feed)
        with CaptureQueriesContext(connection) as queries:
            words(client, "source", feed.pk)
        costs.append(len(queries))
    assert costs[0] == costs[1]


# --- the dashboard ----------------------------------------------------------------------------------------------------
def test_a_portal_in_time_warns_of_nothing(client, staff, feed):
    a_check(feed, late=2 * SECOND)
    page = words(client, "dashboard")
    assert 'id="late"' not in page
    assert "started 2 s late (median), 2 s (99th percentile), 2 s (longest)" in part(page, "lateness")
    assert "No check is overdue." in part(page, "lateness")


@pytest.mark.parametrize(
    ("state", "cause"),
    [
        ({"first_due_at": None, "dispatched_at": None, "due_at": -LONG}, "1 not claimed: beat is not running"),
        ({}, "1 claimed but not started"),
        ({"worker": "one", "dispatched_at": None}, "1 started but not stored"),
        ({"dispatched_at": None}, "1 postponed: too many feeds share a host"),
    ],
)
def test_the_warning_names_what_overdue_checks_wait_for(client, staff, feed, state, cause):
    schedule = dispatched_again(feed)
    actions.heartbeat("one")
    given = {name: timezone.now() + value if name == "due_at" else value for name, value in state.items()}
    Schedule.objects.filter(pk=schedule.pk).update(**given)
    warning = part(words(client, "dashboard"), "late")
    assert cause in warning
    assert warning.count(" 1 ") <= 1


def test_the_warning_names_missing_workers_and_messages_that_were_too_early(client, staff, feed):
    dispatched_again(feed)
    actions.heartbeat("one")
    assert "No retrieval worker is running." not in words(client, "dashboard")
    UnmatchedClaims.objects.create(reason="uncommitted", count=1, latest_at=timezone.now())
    actions.release_worker("one", now=timezone.now())
    warning = part(words(client, "dashboard"), "late")
    assert "No retrieval worker is running." in warning
    assert "cannot keep up" not in warning
    assert "Messages were published before their claims were committed." in warning


# --- metrics ----------------------------------------------------------------------------------------------------------
def test_the_histogram_is_cumulative_and_grows_though_the_log_is_deleted(client, feed):
    count_lateness([a_check(feed, late=seconds * SECOND) for seconds in (0, 0.7, 45, 10_000)])
    assert list(buckets(client, "begun")) == list(BUCKETS)
    assert list(buckets(client, "begun").values()) == [1, *[2] * 6, *[3] * 7, *[4] * 4]
    before = families(client)["wirebeat_retrieval_lateness_seconds"]
    assert before.type == "histogram"
    assert {sample.name.rpartition("_")[2]: sample.value for sample in before.samples[-2:]} == {
        "count": 4,
        "sum": pytest.approx(10_045.7),
    }
    forget_old_retrievals(now=timezone.now() + timedelta(days=1_000))
    assert families(client)["wirebeat_retrieval_lateness_seconds"].samples == before.samples
    count_lateness([a_check(feed, late=45 * SECOND)])
    assert list(buckets(client, "stored").values()) == [1, *[2] * 6, *[4] * 7, *[5] * 4]


def test_new_metrics_keep_the_rules_of_prometheus(client):
    UnmatchedClaims.objects.create(reason="begun", count=7, latest_at=timezone.now())
    actions.heartbeat("one")
    text = client.get("/metrics").text
    assert "# TYPE wirebeat_unmatched_claims_total counter" in text
    assert "# TYPE wirebeat_retrieval_lateness_seconds histogram" in text
    found = families(client)
    counts = {each.labels["reason"]: each.value for each in found["wirebeat_unmatched_claims"].samples}
    assert counts == {"begun": 7, "deleted": 0, "paused": 0, "superseded": 0, "uncommitted": 0}
    assert number(client, "retrieval_workers_alive") == 1
    assert number(client, "retrievals_overdue") == number(client, "retrieval_overdue_seconds_max") == 0
    assert all(family.documentation for family in found.values())
