"""Staff change the plan and see what follows from it."""

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from apps.retrieval import actions
from apps.retrieval.models import Plan, Schedule
from apps.sources.models import Source
from tests.browser.scripts import with_and_without_scripts
from tests.builders import a_plan, a_profile, a_schedule, a_source, a_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def source() -> Source:
    """A source checked an hour ago and due in three hours, by its profile and the plan."""
    now = timezone.now()
    a_plan(unit=Plan.Unit.SOURCE_DAY, budget=6, curve=[[3.0, 4.0], [12.0, 1.0]])
    source = a_source(always_retrieved=True, title="The Wire")
    a_profile(source)
    a_schedule(
        source,
        due_at=now + timedelta(hours=3, minutes=1),
        observed_at=now - timedelta(minutes=59),
        requested_at=now - timedelta(minutes=59),
        earliest_at=now,
    )
    return source


@pytest.fixture
def staff(page: Page, client, live_server) -> None:
    """The browser is signed in as an admin."""
    client.force_login(a_user(is_staff=True))
    page.context.add_cookies(
        [{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}]
    )


def due_in() -> timedelta:
    return Schedule.objects.get().due_at - timezone.now()


@with_and_without_scripts
def test_a_weight_is_previewed_and_then_moves_the_due_time(page: Page, source: Source, staff):
    page.goto(f"/sources/{source.pk}/plan/")
    expect(page.locator("#next")).to_contain_text("in 3 h")
    page.get_by_role("link", name="Change weight").click()
    page.get_by_label("Weight").fill("4")
    page.get_by_role("button", name="Preview the effect of this weight").click()
    effect = page.locator("#effect")
    expect(effect.get_by_role("row", name="Checks per day")).to_contain_text("12")
    expect(effect.get_by_role("row", name="Expected mean delay")).to_contain_text("1 h")
    expect(page.get_by_label("Weight")).to_have_value("4")
    assert due_in() > timedelta(hours=2, minutes=50)
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="Plan", exact=True).last.click()
    expect(page.locator("#next")).to_contain_text("in 1 h")
    assert timedelta(minutes=50) < due_in() < timedelta(minutes=65)


@with_and_without_scripts
def test_another_budget_moves_all_due_times(page: Page, source: Source, staff):
    page.goto("/plan/")
    expect(page.get_by_text("Applied to all feeds")).to_be_visible()
    page.get_by_label("Amount").fill("12")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("rescheduled within a minute")).to_be_visible()
    expect(page.get_by_text("Rescheduling")).to_be_visible()
    actions.replan_changed(now=timezone.now())  # as beat has it done three times a minute
    page.reload()
    expect(page.get_by_text("Applied to all feeds")).to_be_visible()
    assert timedelta(minutes=45) < due_in() < timedelta(minutes=70)
    page.get_by_role("link", name="Articles a week").click()
    expect(page.get_by_role("columnheader", name="Articles a week")).to_have_attribute("aria-sort", "descending")
    page.get_by_role("link", name="The Wire").click()
    expect(page.get_by_role("img", name="Articles expected in each hour")).to_be_visible()
