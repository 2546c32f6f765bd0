"""Subscriptions are begun, confirmed, renewed and ended."""

from datetime import timedelta

import pytest

from apps.retrieval.actions import adopt_sources
from apps.retrieval.models import Schedule
from apps.sources.actions.curating import delete_sources
from apps.sources.actions.editing import set_state
from apps.sources.models import Source
from apps.websub.actions import maintain, work
from apps.websub.actions.subscriptions import fetch_all
from apps.websub.models import Delivery, Subscription
from tests.apps.retrieval.retrieving import NOW, a_feed
from tests.apps.websub.conftest import DAY, HOUR, a_named_source, subscribed
from tests.apps.websub.hub import CHALLENGE, Answer
from tests.builders import a_follow, a_schedule, a_source

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)


@pytest.fixture(autouse=True)
def at_noon(clock):
    return clock


def the_only() -> Subscription:
    return Subscription.objects.get()


class TestBeginning:
    def test_requests_with_an_unguessable_callback(self, hub):
        a_named_source(hub.url("/hub"))
        a_named_source(hub.url("/hub"))
        assert maintain(now=NOW) == 2
        callbacks = {form["hub.callback"] for _, form in hub.forms}
        assert len(callbacks) == 2
        assert all(callback.startswith("https://portal.example/push/") for callback in callbacks)
        assert all(len(callback.split("/")[-2]) >= 43 for callback in callbacks)
        assert hub.form["hub.lease_seconds"] == "864000"

    def test_offers_a_secret_to_no_hub_that_others_can_listen_to(self, hub):
        a_named_source(hub.url("/hub"))
        maintain(now=NOW)
        assert "hub.secret" not in hub.form

    def test_offers_another_secret_with_each_request_over_tls(self, safe_hub):
        for _ in range(2):
            a_named_source(safe_hub.url("/hub"))
        maintain(now=NOW)
        secrets = {form["hub.secret"] for _, form in safe_hub.forms}
        assert len(secrets) == 2
        assert all(32 <= len(secret) < 200 for secret in secrets)

    def test_happens_once(self, hub):
        a_named_source(hub.url("/hub"))
        assert [maintain(now=NOW), maintain(now=NOW + MINUTE)] == [1, 0]
        assert the_only().state == "pending"

    def test_skips_unfollowed_sources_and_those_without_a_hub(self, hub):
        a_schedule(hub_url=hub.url("/hub"), topic_url="https://news.example/", due_at=None)
        a_schedule()
        a_named_source(
            hub.url("/hub"), clock_rate=60
        )  # a replay's hub lives in our time, and would send what is new now
        assert maintain(now=NOW) == 0
        assert not Subscription.objects.exists()

    @pytest.mark.parametrize(
        ("mode", "url"),
        [("off", "https://portal.example"), ("auto", "http://localhost:8000"), ("auto", "http://[::1]")],
    )
    def test_waits_until_others_can_call_us(self, hub, settings, mode, url):
        settings.PUSH_MODE, settings.PROJECT_URL = mode, url
        a_named_source(hub.url("/hub"))
        assert maintain(now=NOW) == 0

    def test_reaches_no_private_address(self, settings):
        settings.RETRIEVAL_OPEN_HOSTS = []
        a_named_source("http://127.0.0.1:8080/hub")
        maintain(now=NOW)
        assert "private or reserved network" in the_only().last_error


class TestConfirmation:
    def test_begins_the_lease_that_the_hub_grants(self, hub, client):
        subscription = subscribed(a_named_source(hub.url("/hub")), hub, client, lease=86_400)
        assert (subscription.state, subscription.verified_at) == ("active", NOW)
        assert (subscription.lease_seconds, subscription.expires_at) == (86_400, NOW + DAY)
        assert subscription.due_at == NOW + 0.8 * DAY
        assert Schedule.objects.get().pushed_until == NOW + DAY

    @pytest.mark.parametrize("lease_seconds", ["99999999999999999", "9" * 18, "9" * 400])
    def test_of_a_huge_lease_counts_for_a_month_at_most(self, hub, client, lease_seconds):
        a_named_source(hub.url("/hub"))
        maintain(now=NOW)
        assert hub.verify(client, lease_seconds=lease_seconds).status_code == 200
        assert NOW + 10 * DAY <= the_only().expires_at <= NOW + 30 * DAY

    @pytest.mark.parametrize("lease_seconds", ["", "-5", "0", "1e9", "soon", "٣"])
    def test_of_an_unreadable_lease_counts_as_the_requested_one(self, hub, client, lease_seconds):
        a_named_source(hub.url("/hub"))
        maintain(now=NOW)
        hub.verify(client, lease_seconds=lease_seconds)
        assert the_only().expires_at == NOW + 10 * DAY

    def test_without_a_request_is_refused(self, hub, client, at_noon):
        subscription = subscribed(a_named_source(hub.url("/hub")), hub, client)
        at_noon.shift(HOUR)
        assert hub.verify(client).status_code == 404
        assert hub.verify(client, mode="unsubscribe").status_code == 404
        assert hub.verify(client, mode="dance").status_code == 404
        assert the_only().expires_at == subscription.expires_at

    def test_may_be_repeated_by_a_hub_that_missed_our_response(self, hub, client, at_noon):
        subscription = subscribed(a_named_source(hub.url("/hub")), hub, client)
        at_noon.shift(MINUTE)
        assert hub.verify(client).content.decode() == CHALLENGE
        assert the_only().expires_at == subscription.expires_at

    @pytest.mark.parametrize("challenge", ["", "c" * 5_000])
    def test_needs_a_challenge_of_a_sensible_length(self, hub, client, challenge):
        a_named_source(hub.url("/hub"))
        maintain(now=NOW)
        assert hub.verify(client, challenge=challenge).status_code == 404

    def test_of_markup_stays_plain_text(self, hub, client):
        a_named_source(hub.url("/hub"))
        maintain(now=NOW)
        answer = hub.verify(client, challenge="<script>alert(1)</script>")
        assert answer["Content-Type"].startswith("text/plain")
        assert answer["X-Content-Type-Options"] == "nosniff"

    @pytest.mark.parametrize("token", ["unknown", "x" * 3_000, "%00"])
    def test_at_an_unknown_address_is_refused(self, client, token):
        assert client.get(f"/push/{token}/?hub.mode=subscribe&hub.topic=a&hub.challenge=b").status_code == 404
        assert client.post(f"/push/{token}/", b"", content_type="text/xml").status_code == 404


class TestDenial:
    def test_is_shown_and_ends_the_request(self, hub, client):
        source = a_named_source(hub.url("/hub"))
        subscribed(source, hub, client)
        answer = hub.verify(client, mode="denied", reason="Not for you\0")
        assert answer.status_code == 404  # no text holds a NUL
        assert hub.verify(client, mode="denied", reason="Not for you").status_code == 200
        subscription = the_only()
        assert (subscription.state, subscription.due_at) == ("denied", NOW + 7 * DAY)
        assert "Not for you" in subscription.last_error
        assert Schedule.objects.get().pushed_until is None
        assert hub.deliver(client, a_feed([NOW])).status_code == 410

    def test_of_another_topic_is_ignored(self, hub, client):
        subscribed(a_named_source(hub.url("/hub")), hub, client)
        assert hub.verify(client, mode="denied", topic="https://other.example/").status_code == 404
        assert the_only().state == "active"

    def test_expires_after_a_week(self, hub, client):
        subscribed(a_named_source(hub.url("/hub")), hub, client)
        hub.verify(client, mode="denied")
        assert maintain(now=NOW + 6 * DAY) == 0
        assert maintain(now=NOW + 7 * DAY) == 1
        assert hub.verify(client).status_code == 200


class TestRenewal:
    def test_is_requested_before_the_lease_ends(self, hub, client, at_noon):
        subscribed(a_named_source(hub.url("/hub")), hub, client)
        assert maintain(now=NOW + 8 * DAY - MINUTE) == 0
        assert maintain(now=NOW + 8 * DAY) == 1
        assert the_only().state == "active"
        assert hub.forms[0][1] == hub.forms[1][1]
        at_noon.move_to(NOW + 8 * DAY)
        hub.verify(client)
        assert the_only().expires_at == Schedule.objects.get().pushed_until == NOW + 18 * DAY

    def test_leaves_the_former_secret_valid_until_it_is_confirmed(self, safe_hub, client, at_noon):
        subscribed(a_named_source(safe_hub.url("/hub")), safe_hub, client)
        former = safe_hub.secret
        at_noon.move_to(NOW + 8 * DAY + HOUR)
        maintain(now=NOW + 8 * DAY + HOUR)
        assert self.sent(safe_hub, client, former) == "stored"
        safe_hub.verify(client)
        at_noon.shift(30)
        assert self.sent(safe_hub, client, former) == "stored"  # it was on its way
        at_noon.shift(60)
        assert self.sent(safe_hub, client, former) == "ignored"
        assert self.sent(safe_hub, client, safe_hub.secret) == "stored"

    def test_offers_the_same_secret_until_one_request_is_confirmed(self, safe_hub, client, at_noon):
        """It is unknown which of them the hub uses."""
        subscribed(a_named_source(safe_hub.url("/hub")), safe_hub, client)
        maintain(now=NOW + 8 * DAY)
        maintain(now=NOW + 8 * DAY + HOUR)
        first, second, third = (form["hub.secret"] for _, form in safe_hub.forms)
        assert first != second == third

    @staticmethod
    def sent(hub, client, secret: str) -> str:
        hub.deliver(client, a_feed([NOW]), secret=secret)
        delivery = Delivery.objects.latest("pk")
        work(delivery.pk, now=delivery.received_at)
        delivery.refresh_from_db()
        return delivery.state

    def test_that_a_hub_never_confirms_lets_the_lease_end(self, hub, client):
        source = a_named_source(hub.url("/hub"))
        subscribed(source, hub, client)
        for minutes in (0, 10, 40, 130, 400, 2 * 1440 - 1):
            maintain(now=NOW + 8 * DAY + minutes * MINUTE)
        assert (the_only().state, the_only().expires_at) == ("failed", NOW + 10 * DAY)
        assert Schedule.objects.get().pushed_until == NOW + 10 * DAY
        maintain(now=NOW + 10 * DAY)
        assert (the_only().state, the_only().expires_at) == ("failed", None)
        assert Schedule.objects.get().pushed_until is None


class TestFailure:
    def test_is_retried_with_back_off_and_then_after_a_week(self, hub):
        hub.answers["/hub"] = Answer(500)
        a_named_source(hub.url("/hub"))
        tries = []
        maintain(now=NOW)
        while the_only().requested_at < NOW + 14 * DAY:
            tries.append((the_only().requested_at - NOW) / MINUTE)
            due_at = the_only().due_at
            assert maintain(now=due_at - MINUTE) == 0
            assert maintain(now=due_at) == 1
        assert tries[:5] == [0, 10, 40, 130, 400]
        assert tries[5:] == [400 + 7 * 1440]
        assert (the_only().state, the_only().last_error) == ("failed", "The hub answered with status 500.")

    def test_is_over_with_the_first_confirmation(self, hub, client):
        hub.answers["/hub"] = Answer(500)
        a_named_source(hub.url("/hub"))
        maintain(now=NOW)
        hub.answers.clear()
        maintain(now=NOW + 10 * MINUTE)
        hub.verify(client)
        assert (the_only().state, the_only().failures, the_only().last_error) == ("active", 0, "")

    def test_is_also_a_request_that_was_accepted_and_never_confirmed(self, hub):
        a_named_source(hub.url("/hub"))
        for minutes in (0, 10, 40, 130, 400):
            assert maintain(now=NOW + minutes * MINUTE) == 1
        assert the_only().state == "failed"

    def test_is_not_counted_while_the_host_is_busy(self, hub, monkeypatch):
        monkeypatch.setattr("apps.retrieval.http.rate_limiter.HostRateLimiter._refuse_long_waits", refuse)
        a_named_source(hub.url("/hub"))
        maintain(now=NOW)
        assert (the_only().failures, the_only().due_at) == (0, NOW + 90 * timedelta(seconds=1))

    def test_of_a_request_keeps_an_earlier_confirmation(self, hub, client, monkeypatch):
        """A hub may confirm before it responds to our request, and that response may be lost."""
        a_named_source(hub.url("/hub"))

        def confirm_and_fail(requests):
            answers = fetch_all(requests)
            hub.verify(client)
            return [answer.__class__(url=answer.url, received_at=NOW, status=500) for answer in answers]

        monkeypatch.setattr("apps.websub.actions.subscriptions.fetch_all", confirm_and_fail)
        maintain(now=NOW)
        assert (the_only().state, the_only().failures, the_only().last_error) == ("active", 0, "")

    def test_is_a_hub_that_sends_a_form_with_a_secret_from_https_to_http(self, safe_hub, hub):
        safe_hub.answers["/hub"] = Answer(307, {"Location": hub.url("/hub")})
        a_named_source(safe_hub.url("/hub"))
        maintain(now=NOW)
        assert "where others could read the request" in the_only().last_error
        assert not hub.forms

    @pytest.mark.parametrize("status", [301, 302, 303])
    def test_is_a_redirect_that_would_lose_the_form(self, hub, status):
        hub.answers["/hub"] = Answer(status, {"Location": hub.url("/other")})
        a_named_source(hub.url("/hub"))
        maintain(now=NOW)
        assert f"status {status}" in the_only().last_error
        assert hub.requested == []


def refuse(*_: object) -> None:
    from apps.retrieval.http.rate_limiter import HostBusy  # noqa: PLC0415

    raise HostBusy(90.0)


class TestEnding:
    @pytest.fixture
    def source(self, hub, client) -> Source:
        source = a_named_source(hub.url("/hub"))
        subscribed(source, hub, client)
        return source

    @pytest.mark.parametrize("why", ["paused", "deleted", "unfollowed", "hub", "topic", "address", "off"])
    def test_notifies_the_hub_and_refuses_deliveries(self, hub, client, source, settings, why):
        make_unwanted(source, settings, why)
        maintain(now=NOW + MINUTE)
        goodbye = next(form for _, form in hub.forms if form["hub.mode"] == "unsubscribe")
        assert goodbye["hub.topic"] == "https://news.example/feed"
        former = Subscription.objects.earliest("pk")
        assert former.state == "ending"
        assert client.post(f"/push/{former.token}/", a_feed([NOW]), content_type="text/xml").status_code == 410
        assert hub.verify(client, form=goodbye).content.decode() == CHALLENGE
        former.refresh_from_db()
        assert (former.state, former.due_at) == ("ended", None)
        assert client.post(f"/push/{former.token}/", a_feed([NOW]), content_type="text/xml").status_code == 410
        assert not Schedule.objects.filter(pushed_until__isnull=False).exists()

    def test_of_a_hub_begins_with_the_next_one(self, hub, client, source):
        Schedule.objects.update(hub_url=hub.url("/other"))
        assert maintain(now=NOW + MINUTE) == 2
        form = next(
            form for path, form in hub.forms if path == "/other"
        )  # both hubs get their requests at the same time
        assert hub.verify(client, form=form).status_code == 200
        assert Schedule.objects.get().pushed_until == NOW + 10 * DAY
        former, present = Subscription.objects.order_by("pk")
        assert (former.state, present.state) == ("ending", "active")
        assert former.token != present.token

    def test_completes_though_the_hub_never_responds(self, hub, source):
        hub.answers["/hub"] = Answer(500)
        set_state([source.pk], Source.State.PAUSED)
        adopt_sources(now=NOW)
        for minutes in (1, 11, 41, 131):
            maintain(now=NOW + minutes * MINUTE)
        assert the_only().state == "ended"
        assert len(hub.forms) == 4

    def test_of_what_was_never_confirmed_needs_no_goodbye(self, hub, client):
        source = a_named_source(hub.url("/hub"))
        maintain(now=NOW)
        delete_sources([source.pk])
        assert maintain(now=NOW + MINUTE) == 0
        assert the_only().state == "ended"
        assert hub.verify(client).status_code == 404

    def test_is_followed_by_a_new_subscription_after_a_new_follow(self, hub, client):
        follow = a_follow(source=a_source())
        adopt_sources(now=NOW)
        Schedule.objects.update(hub_url=hub.url("/hub"), topic_url="https://news.example/feed")
        subscribed(follow.source, hub, client)
        source = follow.source
        follow.delete()
        adopt_sources(now=NOW)
        maintain(now=NOW + MINUTE)
        a_follow(source=source)
        adopt_sources(now=NOW + 2 * MINUTE)
        assert maintain(now=NOW + 2 * MINUTE) == 1
        hub.verify(client)
        assert sorted(Subscription.objects.values_list("state", flat=True)) == ["active", "ending"]


def make_unwanted(source: Source, settings, why: str) -> None:
    match why:
        case "paused":
            set_state([source.pk], Source.State.PAUSED)
        case "deleted":
            delete_sources([source.pk])
        case "unfollowed":
            Source.objects.update(always_retrieved=False)
        case "hub":
            Schedule.objects.update(hub_url="")
        case "topic":
            Schedule.objects.update(topic_url="https://news.example/another")
        case "address":
            settings.PROJECT_URL = "https://moved.example"
        case "off":
            settings.PUSH_MODE = "off"
    adopt_sources(now=NOW)
