"""The tabs of the admin pages."""

import re

import pytest
from django.urls import reverse

from tests.builders import a_follow, a_source, a_user

pytestmark = pytest.mark.django_db
PAGES = {
    "Overview": ["dashboard"],
    "Feeds": ["sources", "add_source", "test_source"],
    "Failing": ["dashboard_failing"],
    "Plan": ["plan"],
    "Queues": ["dashboard_queues", "dead_letters"],
    "Users": ["dashboard_users"],
    "Storage": ["dashboard_storage"],
    "Sections": ["sections", "add_section"],
    "Changes": ["audit"],
    "Jobs": ["jobs"],
}
OF_A_SOURCE = ["source", "source_plan", "source_pages", "edit_source", "merge_source", "delete_source", "keen_tags"]


def current_tab(page: str) -> list[str]:
    [tabs] = re.findall(r'<nav class="section-tabs dashboard-tabs".*?</nav>', page, re.DOTALL)
    return re.findall(r'aria-current="page">([^<]+)<', tabs)


@pytest.fixture
def staff(client):
    user = a_user(is_staff=True, is_superuser=True)
    client.force_login(user)
    return user


@pytest.mark.parametrize(("tab", "name"), [(tab, name) for tab, names in PAGES.items() for name in names])
def test_every_page_has_the_tabs_with_its_own_as_the_current_one(client, staff, tab, name):
    assert current_tab(client.get(reverse(name)).text) == [tab]


@pytest.mark.parametrize("name", OF_A_SOURCE)
def test_pages_of_a_feed_belong_to_the_feeds(client, staff, name):
    source = a_source(kind="site", listed=True)
    assert current_tab(client.get(reverse(name, args=[source.pk])).text) == ["Feeds"]


def test_followers_see_the_page_of_a_feed_without_the_tabs(client):
    follow = a_follow()
    client.force_login(follow.user)
    page = client.get(reverse("source", args=[follow.source_id]))
    assert page.status_code == 200
    assert "dashboard-tabs" not in page.text


@pytest.mark.parametrize("name", ["plan", "dashboard_users", "sources", "merge_source", "source_pages"])
def test_words_that_postgres_cannot_store_filter_a_list(client, staff, name):
    source = a_source(listed=True)
    arguments = [source.pk] if name in ("merge_source", "source_pages") else []
    assert client.get(reverse(name, args=arguments), {"words": "a\0"}).status_code == 200
