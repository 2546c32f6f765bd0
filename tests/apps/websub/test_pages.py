"""People see on a source's page what its hub does."""

import pytest
from django.urls import reverse

from apps.sources.models import Source
from apps.websub.actions import maintain, work
from apps.websub.models import Delivery
from tests.apps.retrieval.retrieving import NOW, a_feed
from tests.apps.websub.conftest import DAY, a_named_source, subscribed
from tests.apps.websub.hub import Answer
from tests.builders import a_user

pytestmark = pytest.mark.django_db


def page(client, source) -> str:
    client.force_login(a_user(is_staff=True))
    return " ".join(client.get(reverse("source", args=[source.pk])).content.decode().split())


def test_a_source_shows_its_hub_its_promise_and_what_was_sent(client, hub, clock):
    source = a_named_source(hub.url("/hub"))
    subscribed(source, hub, client)
    hub.deliver(client, a_feed([NOW, NOW]))
    work(Delivery.objects.get().pk, now=NOW)
    Source.objects.update(listed=True)
    shown = page(client, source)
    assert f"WebSub, {hub.url('/hub')}" in shown
    assert "https://news.example/feed" in shown
    assert f"Active, confirmed until {NOW + 10 * DAY:11 March 2026, 12:00} UTC" in shown
    assert '<td class="words">Stored</td> <td class="number">2</td>' in shown
    assert "Sent by the publisher" in shown


def test_problems_are_shown(client, hub, clock):
    hub.answers["/hub"] = Answer(503)
    source = a_named_source(hub.url("/hub"))
    maintain(now=NOW)
    assert "Requested, not confirmed yet" in page(client, source)
    maintain(now=NOW + DAY)
    assert "The hub answered with status 503. (2 requests in a row)" in page(client, source)


def test_a_source_without_a_hub_shows_nothing_of_it(client, clock):
    assert "pushed by the publisher" not in page(client, a_named_source(""))


def test_the_plan_of_a_source_says_that_its_news_do_not_wait(client, hub, clock):
    source = a_named_source(hub.url("/hub"))
    subscribed(source, hub, client)
    client.force_login(a_user(is_staff=True))
    assert client.get(reverse("source_plan", args=[source.pk])).status_code == 200
