"""A saved search that watches, seen through a browser."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import AbstractUser
from django.utils import timezone
from playwright.sync_api import Page, expect

from apps.alerts import actions
from apps.alerts.actions import delivering
from apps.alerts.models import Message
from tests.browser.scripts import with_and_without_scripts
from tests.builders import a_follow, a_posting, a_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


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
    actions.matching.match(now=timezone.now())


@with_and_without_scripts
def test_from_a_search_to_what_it_found_with_a_rule(page: Page, signed_in: AbstractUser):
    page.set_viewport_size({"width": 1280, "height": 900})  # with the sidebar
    page.goto("/search/?q=hurricane")
    page.get_by_title("Save search").click()
    page.get_by_role("button", name="Save", exact=True).click()
    actions.matching.prepare()
    page.goto("/search/saved/")
    page.get_by_role("link", name="Alerts").click()
    page.get_by_label("Star").check()
    page.get_by_label("Add tag").fill("weather")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("This now applies to articles that")).to_be_visible()
    publish(signed_in, "A hurricane comes", "Football")
    page.get_by_role("link", name="Results", exact=True).click()
    expect(page.locator("[data-posting]")).to_have_count(1)
    page.get_by_role("link", name="weather").click()
    expect(page.locator("[data-posting]")).to_contain_text("A hurricane comes")
    page.get_by_role("link", name="Starred").click()
    expect(page.locator("[data-posting]")).to_have_count(1)


def save_with_alert(page: Page, words: str) -> None:
    """In two clicks."""
    page.goto(f"/search/?q={words}")
    page.get_by_title("Save search").click()
    page.get_by_role("button", name="Save with alert").click()


@with_and_without_scripts
def test_an_alert_is_two_clicks_away_from_a_search(page: Page, signed_in: AbstractUser, mailoutbox):
    signed_in.email = "ada@mail.example"
    signed_in.save()
    save_with_alert(page, "hurricane")
    expect(page.get_by_text("You get a mail for each new article")).to_be_visible()
    expect(page.get_by_label("Immediately")).to_be_checked()
    actions.matching.prepare()
    publish(signed_in, "A hurricane comes", "Football")
    for message in Message.objects.all():
        delivering.deliver(message.pk, now=timezone.now())
    assert [mail.subject for mail in mailoutbox] == ["hurricane: A hurricane comes"]


@with_and_without_scripts
def test_an_alert_without_mail_is_two_clicks_away_too_and_shows_in_lists(page: Page, signed_in: AbstractUser):
    save_with_alert(page, "hurricane")
    expect(page.get_by_text("The sidebar counts its new articles")).to_be_visible()
    expect(page.get_by_label("Highlight")).to_be_checked()
    actions.matching.prepare()
    publish(signed_in, "A hurricane comes", "Football")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto("/")
    expect(page.locator(".row-title mark")).to_have_text("hurricane")
    expect(page.locator(".sidebar").get_by_role("link", name="hurricane 1")).to_be_visible()
