"""The whole path of a posting: from a publisher's bytes to the page of a reader."""

from datetime import timedelta

from django.urls import reverse

from apps.sources.actions.editing import add_source
from apps.sources.models import Source
from lab.worlds.feed import make_feed
from tests.builders import a_follow, a_user
from tests.web import replaying


def test_a_posting_reaches_the_reader_who_follows_its_source(portal, client, settings):
    begin = portal.now
    postings = [(begin - timedelta(hours=1), "An old headline"), (begin + timedelta(minutes=90), "A fresh headline")]
    reader = a_user()
    client.force_login(reader)
    with replaying([make_feed(1, postings, title="The Daily")], clock=portal.clock) as replay:
        source_id = add_source(Source(url=replay.feed_url(1)))
        a_follow(reader, Source.objects.get(pk=source_id), unread_from=begin - timedelta(days=1))
        portal.adopt()

        portal.run(timedelta(minutes=1))
        page = client.get(reverse("river")).content.decode()
        assert "An old headline" in page
        assert "The Daily" in page
        assert "A fresh headline" not in page

        portal.run(timedelta(hours=3))
        assert "A fresh headline" in client.get(reverse("river")).content.decode()
