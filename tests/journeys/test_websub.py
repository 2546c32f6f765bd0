"""The whole path of a posting that a hub sends: from its request to the page of a follower, through a real worker."""

import hmac
import time
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from celery.contrib.testing.worker import start_worker
from django.urls import reverse

from apps.retrieval.models import Retrieval
from apps.sources.models import Source
from apps.websub.models import Delivery, Subscription
from portal.celery import app
from tests.builders import a_follow, a_schedule, a_source, a_user

pytestmark = pytest.mark.django_db(transaction=True)

PATIENCE = 60.0  # s
ENTRY = """<feed xmlns="http://www.w3.org/2005/Atom"><title>The Daily</title><entry><id>{0}</id><title>{0}</title>
<updated>{1}</updated><content>News.</content></entry></feed>"""


@pytest.fixture
def worker() -> Iterator[None]:
    """A Celery worker with threads, as the portal runs it, on a queue of its own."""
    usual, queue = app.conf.task_default_queue, f"push-{time.monotonic_ns()}"
    app.conf.task_default_queue = queue
    try:
        with start_worker(app, pool="threads", concurrency=4, perform_ping_check=False, queues=[queue]):
            yield
    finally:
        app.conf.task_default_queue = usual


def test_a_delivery_of_a_hub_is_on_the_followers_page_long_before_the_next_check(worker, live_server, client):
    now = datetime.now(UTC)
    source = a_source(title="The Daily")
    a_schedule(
        source, due_at=now + timedelta(days=1), observed_at=now - timedelta(hours=1), hub_url="https://hub.example"
    )
    reader = a_user()
    a_follow(reader, source, unread_from=now - timedelta(days=1))
    a_subscription(source, "a-token", secret="tea")
    client.force_login(reader)

    for number in range(5):
        headline = f"Headline {number}"
        began = time.monotonic()
        assert deliver(live_server, ENTRY.format(headline, datetime.now(UTC).isoformat()).encode(), "tea") == 200
        while headline not in client.get(reverse("river")).content.decode():
            assert time.monotonic() - began < PATIENCE, Delivery.objects.values("state", "error", "attempts")
            time.sleep(0.01)
    logged = Retrieval.objects.filter(source=source, outcome="pushed")
    assert sum(row.new for row in logged) == 5


def a_subscription(source: Source, token: str, secret: str) -> Subscription:
    now = datetime.now(UTC)
    return Subscription.objects.create(
        source=source,
        kind="websub",
        hub="https://hub.example",
        topic="https://news.example/feed",
        token=token,
        callback=f"https://portal.example/push/{token}/",
        secret=secret,
        state="active",
        requested_at=now,
        verified_at=now,
        expires_at=now + timedelta(days=10),
        due_at=now + timedelta(days=8),
    )


def deliver(live_server, body: bytes, secret: str) -> int:
    headers = {
        "Content-Type": "application/atom+xml",
        "X-Hub-Signature": f"sha256={hmac.new(secret.encode(), body, 'sha256').hexdigest()}",
    }
    request = urllib.request.Request(f"{live_server}/push/a-token/", body, headers)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.status
