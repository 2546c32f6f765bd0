"""A reader opens a story, sees the reasons of its rank, and hides one, with scripts and without."""

import pytest
from playwright.sync_api import Page, expect

from apps.stories.models import Story
from tests.apps.reading.test_stories_pages import BUDGET, STORM, publish, pull
from tests.browser.scripts import with_and_without_scripts
from tests.builders import a_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@with_and_without_scripts
def test_a_story_is_read_explained_and_hidden(page: Page, client, live_server):
    publish(*STORM)
    publish(*BUDGET)
    pull()
    client.force_login(a_user())
    page.context.add_cookies(
        [{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}]
    )
    page.goto("/stories/")
    story = page.get_by_role("article", name=STORM[0])
    story.get_by_text("Why here").click()
    expect(story.get_by_role("row", name="Freshness of its latest article")).to_be_visible()
    story.get_by_role("link", name="3 articles from 3 feeds").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(STORM[0])
    page.get_by_text("1 copy, identical or nearly so").click()
    expect(page.get_by_role("link", name=STORM[2]).last).to_be_visible()
    page.goto("/stories/")
    story.get_by_role("button", name="Hide").click()
    expect(story).to_have_count(0)
    expect(page.get_by_role("article", name=BUDGET[0])).to_be_visible()
    assert Story.objects.filter(sources__gt=1).count() == 2
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
