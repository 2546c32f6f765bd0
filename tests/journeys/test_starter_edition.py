"""A new portal has news before any user follows a feed."""

import re
from datetime import timedelta

from apps.retrieval.actions import adopt_sources
from apps.sources.actions.editing import retrieve_starter_edition
from apps.sources.formats.opml import OpmlDocument, Subscription
from lab.worlds.feed import make_feed
from tests.builders import a_source
from tests.web import replaying


def an_edition(address: str) -> OpmlDocument:
    return OpmlDocument(subscriptions=(Subscription(address, folders=(("World",), ("Starter edition",))),))


def titles_of_cards(page: str) -> list[str]:
    return re.findall(r'id="card-\d+"[^>]*>([^<]*)<', page)


def test_a_new_portal_shows_the_news_of_its_starter_edition(portal, client):
    published = portal.now - timedelta(minutes=5)
    feeds = [make_feed(number, [(published, f"News of {number}")], title=f"Paper {number}") for number in (1, 2)]
    with replaying(feeds, clock=portal.clock) as replay:
        for number in (1, 2):
            a_source(url=replay.feed_url(number), listed=True, category="World")
        assert "arrive within a minute" not in client.get("/").text  # nothing is checked
        retrieve_starter_edition(an_edition(replay.feed_url(1)), retrieved=True)
        adopt_sources(now=portal.now)
        page = client.get("/").text
        assert "The first articles arrive within a minute." in page
        assert 'hx-trigger="load delay:2s"' in page
        portal.run(timedelta(minutes=1))
    page = client.get("/").text
    assert titles_of_cards(page) == ["News of 1"]
    assert "News of 2" not in page
    assert "hx-trigger" not in page.split('id="news"')[1].split(">")[0]
