"""Staff weigh many sources at once and arrange the front page."""

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from apps.retrieval.models import Plan
from apps.search import actions as search
from apps.sources.models import AuditEntry, Source
from tests.browser.scripts import with_and_without_scripts
from tests.builders import a_plan, a_posting, a_profile, a_schedule, a_source, a_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def staff(page: Page, client, live_server) -> None:
    """The browser is signed in as an admin."""
    client.force_login(a_user("grace", is_staff=True))
    page.context.add_cookies(
        [{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}]
    )


def a_planned_source(title: str) -> Source:
    now = timezone.now()
    source = a_source(always_retrieved=True, title=title)
    a_profile(source)
    times = {"observed_at": now - timedelta(hours=1), "requested_at": now - timedelta(hours=1), "earliest_at": now}
    a_schedule(source, due_at=now + timedelta(hours=3), **times)
    return source


@with_and_without_scripts
def test_the_weights_of_many_sources_are_set_after_a_preview(page: Page, staff):
    a_plan(unit=Plan.Unit.SOURCE_DAY, budget=6)
    for title in ("The Bell", "The Wire", "The Horn"):
        a_planned_source(title)
    page.goto("/dashboard/")
    page.get_by_role("navigation", name="Admin").get_by_role("link", name="Feeds").click()
    for title in ("The Bell", "The Wire"):
        page.get_by_role("checkbox", name=f"Select {title}").check()
    page.get_by_role("button", name="Change selected").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Change 2 feeds")
    page.get_by_label("Weight").fill("4")
    page.get_by_label("Reason").fill("They are first with everything")
    page.get_by_role("button", name="Preview").last.click()
    effect = page.locator("#effect")
    expect(effect.get_by_role("row", name="Checks per day")).to_contain_text("24")  # two sources, 12 each
    expect(effect).to_contain_text("Nothing is saved yet.")
    expect(page.get_by_label("Weight")).to_have_value("4")
    assert not AuditEntry.objects.exists()
    page.get_by_role("button", name="Change").click()
    expect(page.get_by_text("2 feeds changed.")).to_be_visible()
    assert dict(Source.objects.values_list("title", "weight")) == {"The Bell": 4.0, "The Wire": 4.0, "The Horn": 1.0}
    page.get_by_role("navigation", name="Admin").get_by_role("link", name="Changes").click()
    expect(page.get_by_role("row", name="The Wire")).to_contain_text("They are first with everything")
    expect(page.get_by_role("row", name="The Wire")).to_contain_text("grace")


@with_and_without_scripts
def test_a_section_is_added_and_stands_on_the_front_page(page: Page, staff):
    title = "A storm comes over the coast"
    a_posting(a_source(listed=True), title=title, language="en", published_at=timezone.now() - timedelta(hours=1))
    search.reindexing.consume()
    page.goto("/dashboard/sections/")
    page.get_by_role("link", name="Add", exact=True).click()
    page.get_by_label("Title", exact=True).fill("Weather")
    page.get_by_label("Query").fill("storm (coast")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("is not closed")).to_be_visible()
    page.get_by_label("Query").fill("storm")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="View Weather").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Weather")
    expect(page.get_by_role("link", name=title)).to_be_visible()
    page.context.clear_cookies()
    page.goto("/")
    expect(page.get_by_role("region", name="Weather").get_by_role("link", name=title)).to_be_visible()


def test_the_head_of_the_list_chooses_all_that_are_in_sight(page: Page, staff):
    for _ in range(2):
        a_source()
    page.goto("/sources/")
    every = page.get_by_role("checkbox", name="All on this page")
    every.check()
    chosen = page.get_by_role("checkbox", name="Select Source")
    expect(chosen).to_have_count(2)
    for box in chosen.all():
        expect(box).to_be_checked()
    chosen.first.uncheck()
    expect(every).not_to_be_checked()
