"""A saved search that watches, seen through a browser."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import AbstractUser
from django.utils import timezone
from playwright.sync_api import Page, expect

from apps.alerts import actions
from apps.alerts.models import Message, Relevance, Rule
from apps.search.models import SavedSearch
from tests.browser.legibility import assert_legible
from tests.builders import a_follow, a_posting, a_retrieval, a_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
with_and_without_scripts = pytest.mark.parametrize("page", ["with scripts", "without scripts"], indirect=True)


@pytest.fixture
def signed_in(page: Page, client, live_server):
    user = a_user()
    client.force_login(user)
    page.context.add_cookies(
        [{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}]
    )
    return user


def publish(user: AbstractUser, *titles: str) -> None:
    source = a_follow(user).source
    for number, title in enumerate(titles):
        now = timezone.now() - timedelta(minutes=number)
        a_posting(source, title=title, text=f"{title}, as was said.", language="en", published_at=now)
    actions.match(now=timezone.now())


@with_and_without_scripts
def test_from_a_search_to_what_it_found_with_a_rule(page: Page, signed_in: AbstractUser):
    page.set_viewport_size({"width": 1280, "height": 900})  # with the sidebar
    page.goto("/search/?q=hurricane")
    page.get_by_text("Save search", exact=True).click()
    page.get_by_role("button", name="Save", exact=True).click()
    actions.prepare()
    page.goto("/search/saved/")
    page.get_by_role("link", name="Alerts").click()
    page.get_by_label("Star").check()
    page.get_by_label("Add tag").fill("weather")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("This is now done with what")).to_be_visible()
    publish(signed_in, "A hurricane comes", "Football")
    page.get_by_role("link", name="Results", exact=True).click()
    expect(page.locator("[data-posting]")).to_have_count(1)
    page.get_by_role("link", name="weather").click()
    expect(page.locator("[data-posting]")).to_contain_text("A hurricane comes")
    page.get_by_role("link", name="Starred").click()
    expect(page.locator("[data-posting]")).to_have_count(1)


def test_pages_fit_and_are_legible(page: Page, signed_in: AbstractUser):
    saved = SavedSearch.objects.create(
        user=signed_in, name="Storms", query="hurricane OR typhoon", secret="s", saved_at=timezone.now()
    )
    actions.prepare()
    Rule.objects.create(saved=saved, mail="day", webhook_url="https://example.org/hook", stop_token="t")
    publish(signed_in, "A hurricane comes", "A typhoon goes", "Football")
    source = saved.hits.first().posting.source
    source.interest = 3.5
    source.save()
    saved.percolator_query.counted = 1.0
    saved.percolator_query.save()
    Relevance.objects.create(saved=saved, source=source, value=0.3)
    a_retrieval(source, fetched_at=timezone.now())
    Message.objects.filter(saved=saved).update(state="failed", done_at=timezone.now(), error="It did not answer.")
    of_it = [f"/search/saved/{saved.pk}/{address}/" for address in ("found", "rule", "service")]
    for address in (*of_it, "/search/saved/", "/alerts/", "/alerts/wishes/", "/alerts/stop/t/"):
        assert_legible(page, address, widths=(390, 1280))
