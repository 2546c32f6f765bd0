"""A portal that hubs can call, and a hub beside it."""

import asyncio
import ssl
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine

from apps.retrieval.http.fetching import Fetched, FetchRequest
from apps.retrieval.http.robots import RobotsFetcher
from apps.retrieval.models import Schedule
from apps.sources.algorithms.hubs import discover
from apps.sources.formats import parse
from apps.sources.formats.feed import NotAFeed
from apps.sources.models import Source
from apps.websub.actions import maintain
from apps.websub.models import Subscription
from tests.apps.retrieval.retrieving import NOW, a_scheduled_source
from tests.apps.websub.hub import CERTIFICATE, Hub, serving
from tests.builders import a_schedule, a_source

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


REACHABLE = {
    "PUSH_MODE": "on",
    "PROJECT_URL": "https://portal.example",
    "RETRIEVAL_OPEN_HOSTS": [".push.localhost"],
    "RETRIEVAL_HOST_GAP": 0.0,
}


@pytest.fixture(autouse=True)
def reachable(settings) -> None:
    for name, value in REACHABLE.items():
        setattr(settings, name, value)


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    """It is noon until the test moves the clock."""
    with time_machine.travel(NOW, tick=False) as traveller:
        yield traveller


@pytest.fixture
def hub() -> Iterator[Hub]:
    with serving() as hub:
        yield hub


@pytest.fixture
def safe_hub(monkeypatch) -> Iterator[Hub]:
    """A hub with TLS, whose certificate is trusted."""
    context = ssl.create_default_context(cafile=str(CERTIFICATE))
    monkeypatch.setattr("apps.retrieval.http.guard._tls_context", lambda: context)
    with serving(safely=True) as hub:
        yield hub


def fetch(url: str) -> Fetched:
    async def request() -> Fetched:
        async with RobotsFetcher() as fetcher:
            return await fetcher.fetch_allowed(FetchRequest(url), {})

    return asyncio.run(request())


def a_source_at(url: str) -> Source:
    """A source at an address, with the hub that a retrieval of it names."""
    source = a_scheduled_source(url=url)
    fetched = fetch(url)
    try:
        feed = parse(fetched.body, content_type=fetched.headers.get("content-type", ""), url=fetched.url)
    except NotAFeed:
        feed = None
    found = discover(fetched.headers.get("link", ""), feed, fetched.body, fetched.url)
    Schedule.objects.filter(pk=source.pk).update(hub_url=found.hub_url, topic_url=found.topic_url)
    return source


def a_named_source(hub_url: str, topic_url: str = "https://news.example/feed", **values: Any) -> Source:
    """A source whose responses name this hub."""
    source = a_source(always_retrieved=True, **values)
    a_schedule(source, hub_url=hub_url, topic_url=topic_url, due_at=NOW + HOUR)
    return source


def subscribed(source: Source, hub: Hub, client, *, lease: int = 864_000) -> Subscription:
    """A subscription that was requested at noon and that the hub has confirmed."""
    maintain(now=NOW)
    assert hub.verify(client, lease_seconds=str(lease)).status_code == 200
    return Subscription.objects.get(source=source)
