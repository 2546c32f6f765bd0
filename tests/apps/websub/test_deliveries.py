"""Deliveries of hubs become postings once, and hostile ones do no harm."""

import gzip
from collections.abc import Iterator
from datetime import timedelta
from io import BytesIO
from random import Random

import pytest
from django.db import connection, transaction
from django.test import Client, override_settings
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoDbBlocker
from time_machine import travel

from apps.postings.models import Edition, Posting
from apps.retrieval.models import Page, Retrieval, Schedule
from apps.sources.models import Source
from apps.websub import queries
from apps.websub.actions import forget_old, receive, work
from apps.websub.models import Delivery, Subscription
from apps.websub.tasks import retry_deliveries
from apps.websub.views import BODY_LIMIT
from tests.apps.retrieval.retrieving import NOW, a_feed, an_observed_source, begin, visit
from tests.apps.websub.conftest import DAY, HOUR, REACHABLE, a_named_source, subscribed
from tests.apps.websub.hub import Hub, serving, signature
from tests.trials import quick_every

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)
TOPIC = "https://news.example/feed"
ITEM = "<rss><channel><title>News</title><item><guid>{}</guid><title>{}</title></item></channel></rss>"
LEVELS = "".join(f'<!ENTITY z{level + 1} "{f"&z{level};" * 10}">' for level in range(9))
BOMB = f"""<!DOCTYPE rss [<!ENTITY z0 "aaaaaaaaaa">{LEVELS}]><rss><channel><title>News</title>
<item><title>&z9;</title></item></channel></rss>"""


@pytest.fixture(autouse=True)
def at_noon(clock):
    return clock


@pytest.fixture(scope="class")
def hub(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Hub]:
    """That of a source which was observed an hour ago and has an active subscription.

    Made once for the tests of a class, each of which rolls back what it changes.
    """
    with serving() as hub, django_db_blocker.unblock(), transaction.atomic():
        with override_settings(**REACHABLE), travel(NOW, tick=False):
            source = an_observed_source([NOW - DAY], at=NOW - HOUR)
            Schedule.objects.update(hub_url=hub.url("/hub"), topic_url=TOPIC)
            subscribed(source, hub, Client())
        yield hub
        transaction.set_rollback(True)


@pytest.fixture
def source(hub, db) -> Source:
    return Source.objects.get()


def send(hub: Hub, client, body: bytes, **headers: str) -> Delivery:
    """Deliver and process it."""
    assert hub.deliver(client, body, **headers).status_code == 200
    return worked(Delivery.objects.latest("pk"))


def worked(delivery: Delivery) -> Delivery:
    work(delivery.pk, now=delivery.received_at)
    delivery.refresh_from_db()
    return delivery


def titles() -> set[str]:
    return set(Posting.objects.values_list("title", flat=True))


class TestADelivery:
    def test_is_stored_as_a_retrieval_would_store_it(self, hub, client, source):
        delivery = send(hub, client, a_feed([NOW - MINUTE], first=7))
        assert (delivery.state, delivery.new, bytes(delivery.body)) == ("stored", 1, b"")
        posting = Posting.objects.get(title="Posting 7")
        assert (posting.source, posting.published_at, posting.retrieved_at) == (source, NOW - MINUTE, NOW)

    def test_is_logged_with_its_delay(self, hub, client, source):
        send(hub, client, a_feed([NOW - 2 * MINUTE, NOW - MINUTE], first=7))
        logged = Retrieval.objects.latest("pk")
        assert (logged.outcome, logged.new, logged.dated, logged.status) == ("pushed", 2, 2, 0)
        assert (logged.delay_seconds, logged.longest_delay_seconds) == (180, 120)
        assert logged.fetched_at == logged.due_at == NOW

    def test_of_the_same_content_is_stored_once(self, hub, client, source):
        for _ in range(3):
            send(hub, client, a_feed([NOW], first=7))
        assert Posting.objects.filter(title="Posting 7").count() == 1
        assert list(Delivery.objects.order_by("pk").values_list("state", "new")) == [
            ("stored", 1), ("stored", 0), ("stored", 0),
        ]  # fmt: skip

    def test_of_what_a_retrieval_shows_too_is_stored_once(self, hub, client, source):
        send(hub, client, a_feed([NOW], first=7))
        visit(source, NOW + HOUR, a_feed([NOW], first=7))
        assert Posting.objects.filter(title="Posting 7").count() == 1

    @pytest.mark.parametrize("seed", quick_every(2, range(4)))
    def test_in_any_parts_and_any_order_with_retrievals_between_makes_the_same_postings(
        self, hub, client, source, seed, at_noon
    ):
        random = Random(seed)
        for _ in range(12):
            at_noon.shift(61)
            part = sorted(random.sample(range(20), random.randint(1, 8)))
            items = "".join(f"<item><guid>n{number}</guid><title>Number {number}</title></item>" for number in part)
            body = f"<rss><channel><title>News</title>{items}</channel></rss>".encode()
            if random.random() < 0.3:
                visit(source, NOW + timedelta(seconds=random.randrange(700)), body)
            else:
                send(hub, client, body)
        body = "".join(f"<item><guid>n{number}</guid><title>Number {number}</title></item>" for number in range(20))
        visit(source, NOW + HOUR, f"<rss><channel><title>News</title>{body}</channel></rss>".encode())
        wanted = ["Posting 0", *(f"Number {number}" for number in range(20))]
        assert sorted(Posting.objects.values_list("title", flat=True)) == sorted(wanted)

    def test_edits_what_is_known(self, hub, client, source):
        send(hub, client, ITEM.format("a", "A headline").encode())
        assert send(hub, client, ITEM.format("a", "A better headline").encode()).edited == 1
        assert "A better headline" in titles()
        assert Edition.objects.get().title == "A headline"

    def test_is_a_part_of_the_feed_and_says_nothing_of_the_rest(self, hub, client, source):
        before = Schedule.objects.values("etag", "last_modified", "body_hash", "observed_at", "requested_at").get()
        send(hub, client, a_feed([NOW], first=7))
        assert titles() == {"Posting 0", "Posting 7"}
        assert Schedule.objects.values(*before).get() == before

    def test_has_the_pages_of_its_teasers_fetched_like_a_retrieval(self, hub, client, source):
        Source.objects.update(full_text=True)
        link = "https://news.example/story"
        item = (
            f"<item><guid>t</guid><link>{link}</link><title>A teaser</title><description>Read on…</description></item>"
        )
        send(hub, client, f"<rss><channel><title>News</title>{item}</channel></rss>".encode())
        page = Page.objects.get()
        assert (page.url, page.posting.title, page.decided_by) == (link, "A teaser", "feed")

    def test_comes_from_its_callback_whatever_its_headers_say(self, hub, client, source):
        other = a_named_source(hub.url("/hub"), "https://other.example/feed")
        send(hub, client, a_feed([NOW], first=7), Link='<https://other.example/feed>; rel="self"')
        assert not Posting.objects.filter(source=other).exists()

    def test_needs_no_session_and_no_token_of_a_form(self, hub, client, source):
        client.handler.enforce_csrf_checks = True
        answer = hub.deliver(client, a_feed([NOW]))
        assert answer.status_code == 200
        assert not answer.cookies

    def test_enqueues_a_task_on_commit(self, hub, client, source, monkeypatch, django_capture_on_commit_callbacks):
        sent = []
        monkeypatch.setattr("apps.websub.actions.deliveries._send_task", sent.append)
        with django_capture_on_commit_callbacks() as callbacks:
            hub.deliver(client, a_feed([NOW]))
        assert sent == []
        [callback] = callbacks
        callback()
        assert sent == [Delivery.objects.get().pk]

    def test_is_acknowledged_without_the_broker(
        self, hub, client, source, monkeypatch, django_capture_on_commit_callbacks
    ):
        def fail(_: int) -> None:
            raise ConnectionError("no broker")

        monkeypatch.setattr("apps.websub.actions.deliveries._send_task", fail)
        with django_capture_on_commit_callbacks(execute=True):
            assert hub.deliver(client, a_feed([NOW])).status_code == 200

    def test_costs_few_queries(self, hub, client, source):
        with CaptureQueriesContext(connection) as executed:
            hub.deliver(client, a_feed([NOW]))
        assert len(executed) <= 5


class TestAThinPing:
    @pytest.mark.parametrize("body", [b"", b"<html><head></head><body>News</body></html>", b"hub.mode=publish", b"{}"])
    def test_has_the_source_checked_at_once(self, hub, client, source, body):
        delivery = send(hub, client, body)
        assert delivery.state == "asked"
        schedule = Schedule.objects.get()
        assert (schedule.due_at, schedule.reason) == (NOW, "its publisher announced an update")

    def test_may_go_below_the_shortest_gap_but_not_below_a_minute(self, hub, client, source, at_noon):
        send(hub, client, b"")
        visit(source, NOW)
        at_noon.shift(10)
        send(hub, client, b"")
        assert Schedule.objects.get().due_at == NOW + MINUTE

    def test_during_a_visit_waits_for_its_end(self, hub, client, source, at_noon):
        assignment = begin(source, NOW)
        delivery = send(hub, client, b"")
        assert (delivery.state, delivery.error) == ("waiting", "The feed is being checked at this moment.")
        Schedule.objects.update(worker="")
        at_noon.shift(61)
        retry_deliveries()
        delivery.refresh_from_db()
        assert delivery.state == "asked"
        assert assignment.source_id == source.pk

    def test_is_all_that_content_means_for_a_source_that_is_no_feed(self, hub, client, source):
        Source.objects.update(kind="xpath")
        assert send(hub, client, a_feed([NOW], first=7)).state == "asked"
        assert titles() == {"Posting 0"}

    def test_of_an_unfollowed_source_is_ignored(self, hub, client, source):
        Schedule.objects.update(due_at=None)
        for body in (b"", a_feed([NOW])):
            assert send(hub, client, body).state == "ignored"


class TestHostileContent:
    def test_of_more_than_the_limit_is_refused(self, hub, client, source):
        assert hub.deliver(client, b"x" * (BODY_LIMIT + 1)).status_code == 413
        assert hub.deliver(client, b"x" * BODY_LIMIT).status_code == 200
        assert Delivery.objects.get().size == BODY_LIMIT

    def test_without_a_length_is_read_up_to_the_limit(self, hub, client, source):
        stream = BytesIO(b"x" * 6 * 2**20)
        chunked = {"wsgi.input": stream, "wsgi.input_terminated": True, "CONTENT_LENGTH": "", "CONTENT_TYPE": "a/b"}
        assert client.generic("POST", f"/push/{source.subscriptions.get().token}/", **chunked).status_code == 413
        assert len(stream.getvalue()) - len(stream.read()) <= BODY_LIMIT + 1

    def test_of_a_gzip_bomb_stores_nothing(self, hub, client, source):
        bomb = gzip.compress(bytes(64 * 2**20))
        delivery = send(hub, client, bomb, **{"Content-Encoding": "gzip"})
        assert (delivery.state, Posting.objects.count()) == ("ignored", 1)
        assert "larger than" in delivery.error

    def test_in_gzip_is_read(self, hub, client, source):
        assert send(hub, client, gzip.compress(a_feed([NOW], first=7)), **{"Content-Encoding": "gzip"}).new == 1

    @pytest.mark.parametrize("coding", ["gzip", "br", "exi", "gzip, gzip"])
    def test_in_another_coding_than_declared_stores_nothing(self, hub, client, source, coding):
        assert send(hub, client, a_feed([NOW]), **{"Content-Encoding": coding}).state == "ignored"

    def test_of_an_entity_bomb_is_not_expanded(self, hub, client, source):
        send(hub, client, BOMB.encode())
        assert all(len(title) <= 1_000 for title in titles())

    @pytest.mark.parametrize("method", ["put", "delete", "patch", "head", "options"])
    def test_by_another_method_is_refused(self, client, source, method):
        assert getattr(client, method)(f"/push/{source.subscriptions.get().token}/").status_code == 405

    def test_that_never_ends_is_slowed_down(self, hub, client, source, monkeypatch, at_noon):
        monkeypatch.setattr("apps.websub.actions.deliveries.MAX_PER_MINUTE", 3)
        answers = [hub.deliver(client, b"") for _ in range(4)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
        assert answers[-1]["Retry-After"] == "60"
        at_noon.shift(61)
        assert hub.deliver(client, b"").status_code == 200

    def test_of_many_large_bodies_is_slowed_down(self, hub, client, source, monkeypatch):
        monkeypatch.setattr("apps.websub.actions.deliveries.MAX_BYTES_PER_MINUTE", 1_000)
        assert [hub.deliver(client, b"x" * 400).status_code for _ in range(3)] == [200, 200, 429]


class TestHostileContentWithASignature:
    """Of a hub with TLS, without the source of the other tests."""

    @pytest.mark.parametrize(
        "header",
        [
            "sha1",
            "sha1=",
            "=",
            "sha1=zz",
            "md5=" + "0" * 32,
            "sha256=" + "ü" * 64,
            "SHA256=x",
            "sha1=" + "0" * 9_000,
            "",
        ],
    )
    def test_with_a_malformed_signature_stores_nothing(self, safe_hub, client, header):
        subscribed(a_named_source(safe_hub.url("/hub")), safe_hub, client)
        delivery = send(safe_hub, client, a_feed([NOW]), **{"X-Hub-Signature": header.encode().decode("latin-1")})
        assert (delivery.state, Posting.objects.count()) == ("ignored", 0)

    def test_with_the_signature_of_another_body_stores_nothing(self, safe_hub, client):
        subscribed(a_named_source(safe_hub.url("/hub")), safe_hub, client)
        header = signature(a_feed([NOW]), safe_hub.secret)
        assert send(safe_hub, client, a_feed([NOW], first=1), **{"X-Hub-Signature": header}).state == "ignored"


class TestWhatIsLeftBehind:
    @pytest.fixture
    def delivery(self, source) -> Delivery:
        subscription = Subscription.objects.get()
        values = {"content_type": "", "content_encoding": "", "signature": ""}
        return receive(subscription.pk, a_feed([NOW], first=7), now=NOW, **values)

    def test_is_processed_after_a_while(self, delivery, at_noon):
        assert queries.left_behind(NOW) == []
        at_noon.shift(21)
        retry_deliveries()
        assert "Posting 7" in titles()
        assert queries.left_behind(NOW + HOUR) == []

    def test_is_processed_by_one_worker(self, delivery):
        Delivery.objects.update(tried_at=NOW, attempts=1)  # by a worker that is still processing it
        assert not work(delivery.pk, now=NOW + timedelta(seconds=5))
        assert queries.left_behind(NOW + timedelta(seconds=59)) == []
        assert queries.left_behind(NOW + MINUTE) == [delivery.pk]

    def test_is_done_once(self, delivery):
        assert [work(delivery.pk, now=NOW), work(delivery.pk, now=NOW + HOUR)] == [True, False]

    def test_is_abandoned_if_it_kills_its_workers(self, delivery, monkeypatch):
        def die(*_: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("apps.websub.actions.deliveries._work", die)
        for number in range(5):
            with pytest.raises(KeyboardInterrupt):
                work(delivery.pk, now=NOW + number * MINUTE)
        assert work(delivery.pk, now=NOW + 6 * MINUTE)
        delivery.refresh_from_db()
        assert (delivery.state, delivery.attempts) == ("failed", 6)
        assert bytes(delivery.body) == a_feed([NOW], first=7)  # for who wants to know why

    def test_is_deleted_after_a_week(self, delivery):
        assert forget_old(now=NOW + 6 * DAY) == 0
        assert forget_old(now=NOW + 8 * DAY) == 1
        assert Subscription.objects.exists()

    def test_ended_subscriptions_are_deleted_after_a_month(self, source):
        Subscription.objects.update(state="ended", ended_at=NOW)
        forget_old(now=NOW + 29 * DAY)
        assert Subscription.objects.exists()
        forget_old(now=NOW + 31 * DAY)
        assert not Subscription.objects.exists()
