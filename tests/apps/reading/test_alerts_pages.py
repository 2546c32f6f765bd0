"""Pages of alerts: what searches found, their rules, what was sent, and how each search is served."""

import json
from base64 import urlsafe_b64encode
from datetime import timedelta
from uuid import uuid4

import pytest
from django.urls import reverse

from apps.alerts import actions
from apps.alerts.actions import rules
from apps.alerts.models import Attempt, Browser, Hit, Message, NotificationSettings, PercolatorQuery, Relevance, Rule
from apps.search.actions.saved import save_search
from apps.search.models import SavedSearch
from apps.sources.models import Source
from tests.builders import NOON, a_follow, a_posting, a_retrieval, a_source, a_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def user(client):
    user = a_user(email="reader@example.org")
    client.force_login(user)
    return user


@pytest.fixture
def saved(user):
    return save_search(user, "Storms", "hurricane", order=SavedSearch.Order.NEWEST, now=NOON)


def found_by(saved, how_many=1, source=None, **values):
    source = source or a_source(listed=True)
    for number in range(how_many):
        posting = a_posting(source, **values)
        Hit.objects.create(
            saved=saved,
            posting=posting,
            source_id=source.pk,
            published_at=posting.published_at,
            retrieved_at=posting.retrieved_at,
            found_at=NOON + timedelta(seconds=number),
        )


def page(client, name, *arguments, **query):
    return client.get(reverse(name, args=arguments), query)


def test_hits_of_a_search_are_listed_newest_first_and_page_by_page(client, saved):
    found_by(saved, 45)
    first = page(client, "alert_found", saved.pk).text
    titles = [
        posting.title for posting in Hit.objects.order_by("-posting_id")[0].posting.__class__.objects.order_by("-pk")
    ]
    assert first.index(titles[0]) < first.index(titles[1])
    assert first.count("data-posting ") == 40
    before = first.partition("before=")[2].partition('"')[0]
    rest = page(client, "alert_found", saved.pk, before=before).text
    assert rest.count("data-posting ") == 5
    assert titles[-1] in rest


def test_postings_no_longer_readable_are_left_out(client, saved):
    source = a_source(listed=True)
    found_by(saved, source=source)
    Source.objects.update(listed=False)
    assert "data-posting " not in page(client, "alert_found", saved.pk).text


def test_a_search_that_cannot_stand_says_why(client, user):
    saved = save_search(user, "Not", "-hurricane", order=SavedSearch.Order.NEWEST, now=NOON)
    actions.matching.prepare()
    refusal = PercolatorQuery.objects.get(pk=saved.pk).refusal
    assert refusal
    for name in ("alert_found", "alert_rule"):
        assert refusal in page(client, name, saved.pk).text
    assert refusal in page(client, "saved_searches").text


def test_a_rule_is_stored_and_described(client, saved):
    values = {"star": "on", "tag": "weather", "mail": "day", "importance": "2.5"}
    answer = client.post(reverse("alert_rule", args=[saved.pk]), values, follow=True).text
    assert "This now applies to articles that" in answer
    rule = Rule.objects.get()
    assert (rule.star, rule.tag, rule.mail, rule.saved.percolator_query.importance) == (True, "weather", "day", 2.5)
    shown = page(client, "alert_found", saved.pk).text
    assert "starred, tagged “weather” and mailed once a day" in shown
    assert "Alerts: mail" in page(client, "saved_searches").text


def test_a_rule_that_does_nothing_says_so(client, saved):
    answer = client.post(reverse("alert_rule", args=[saved.pk]), {"importance": "1"}, follow=True).text
    assert "Articles that “Storms” finds are only listed." in answer


def test_where_no_mail_is_sent_the_rule_says_so_beforehand(client, saved, settings):
    assert "cannot send mail" not in page(client, "alert_rule", saved.pk).text
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    assert "This portal cannot send mail" in page(client, "alert_rule", saved.pk).text


def test_a_webhook_shows_its_secret_and_can_be_stopped_and_resumed(client, saved):
    values = {"webhook_url": "https://example.org/hook", "importance": "1"}
    form = client.post(reverse("alert_rule", args=[saved.pk]), values, follow=True).text
    assert Rule.objects.get().webhook_secret in form
    rules.stop(Rule.objects.get().stop_token, now=NOON)
    assert "Resume messages" in page(client, "alert_rule", saved.pk).text
    client.post(reverse("alert_resume", args=[saved.pk]))
    assert Rule.objects.get().stopped_at is None


@pytest.mark.parametrize(
    "values",
    [
        {"webhook_url": "http://127.0.0.1/", "importance": "1"},
        {"importance": "11"},
        {"mail": "hourly", "importance": "1"},
    ],
)
def test_an_invalid_rule_is_refused_and_the_form_keeps_its_values(client, saved, values):
    answer = client.post(reverse("alert_rule", args=[saved.pk]), values | {"tag": "weather"})
    assert "errors" in answer.text
    assert "weather" in answer.text
    assert not Rule.objects.exists()


def test_rules_hits_and_messages_of_others_get_404(client, saved):
    message = a_message(saved, state="failed")
    client.force_login(a_user())
    for name in ("alert_found", "alert_rule", "alert_service"):
        assert page(client, name, saved.pk).status_code == 404
    assert client.post(reverse("alert_rule", args=[saved.pk]), {"importance": "1"}).status_code == 404
    assert client.post(reverse("alert_resume", args=[saved.pk])).status_code == 404
    client.post(reverse("alert_retry", args=[message.pk]))
    message.refresh_from_db()
    assert message.state == "failed"


def a_message(saved, **values):
    given = {"key": uuid4(), "channel": "webhook", "hits": [1, 2], "created_at": NOON, "due_at": NOON, "done_at": NOON}
    return Message.objects.create(user=saved.user, saved=saved, **given | values)


def test_messages_are_listed_with_their_attempts_and_can_be_retried(client, saved):
    message = a_message(saved, state="failed", error="It answered with status 500.")
    Attempt.objects.create(message=message, at=NOON, took=0.25, status=500, error="It answered with status 500.")
    shown = page(client, "alert_messages").text
    assert "1 message could not be delivered" in shown
    assert "Storms" in shown
    assert "(500)" in shown
    client.post(reverse("alert_retry", args=[message.pk]))
    message.refresh_from_db()
    assert message.state == "waiting"


def test_messages_come_page_by_page(client, saved):
    for number in range(55):
        a_message(saved, state="sent", hits=list(range(number + 100)))
    first = page(client, "alert_messages").text
    assert first.count("message-") == 50
    before = first.partition("before=")[2].partition('"')[0]
    assert page(client, "alert_messages", before=before).text.count("message-") == 5


def test_notification_settings_are_stored_in_the_users_time_zone(client, user):
    user.time_zone = "Europe/Vienna"
    user.save()
    values = {"quiet_from": "22:00", "quiet_until": "06:30", "digest_hour": "8", "most_a_day": "20"}
    answer = client.post(reverse("alert_settings"), values, follow=True).text
    assert "Europe/Vienna" in answer
    assert 'value="22:00"' in answer
    settings = NotificationSettings.objects.get()
    assert (settings.digest_hour, settings.most_a_day, settings.quiet_until.minute) == (8, 20, 30)
    assert "both a start and an end" in client.post(reverse("alert_settings"), values | {"quiet_from": ""}).text


def subscription(**changes):
    keys = {"p256dh": urlsafe_b64encode(b"\4" + bytes(64)).decode(), "auth": urlsafe_b64encode(bytes(16)).decode()}
    return {"endpoint": "https://push.example.org/1", "keys": keys, "name": "Firefox on Linux"} | changes


def test_a_browser_is_added_and_removed(client, user):
    address = reverse("alert_add_browser")
    assert client.post(address, json.dumps(subscription()), content_type="application/json").status_code == 204
    assert "Firefox on Linux" in page(client, "alert_settings").text
    client.post(reverse("alert_remove_browser", args=[Browser.objects.get().pk]))
    assert not Browser.objects.exists()


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        "7",
        json.dumps(subscription(keys=None)),
        json.dumps(subscription(endpoint=7)),
        json.dumps(subscription(endpoint="http://10.0.0.1/")),
        json.dumps(subscription(name="\0")),
        "x" * 10_000,
    ],
)
def test_an_invalid_push_subscription_is_refused_with_a_sentence(client, user, body):
    answer = client.post(reverse("alert_add_browser"), body, content_type="application/json")
    assert 400 <= answer.status_code < 500
    assert answer.json()["error"].endswith(".")
    assert not Browser.objects.exists()


def test_a_stop_link_works_without_signing_in_and_only_when_pressed(client, saved):
    client.post(reverse("alert_rule", args=[saved.pk]), {"mail": "once", "importance": "1"})
    client.logout()
    link = reverse("alert_stop", args=[Rule.objects.get().stop_token])
    assert "Stop messages" in client.get(link).text
    assert Rule.objects.get().stopped_at is None
    assert "Messages are no longer sent for" in client.post(link, {"List-Unsubscribe": "One-Click"}).text
    assert Rule.objects.get().stopped_at is not None
    assert client.post(reverse("alert_stop", args=["nothing"])).status_code == 404


def test_how_a_search_is_served_is_shown(client, saved):
    source = a_source(listed=True, title="Storm Watch", interest=4.0)
    found_by(saved, 3, source)
    PercolatorQuery.objects.update_or_create(saved=saved, defaults={"query": "hurricane", "counted": 1.0})
    Relevance.objects.create(saved=saved, source=source, value=0.5)
    now = NOON.now(NOON.tzinfo)
    Hit.objects.update(found_at=now)
    for _ in range(8):
        a_retrieval(source, fetched_at=now)
    shown = page(client, "alert_service", saved.pk).text
    assert "Storm Watch" in shown
    assert "about 4 checks per day more" in shown  # four times the weight doubles the checks


def test_a_sources_page_shows_own_searches_that_raise_it_and_hides_others(client, user, saved):
    user.is_staff = True
    user.save()
    source = a_source(listed=True, interest=2.5)
    other = save_search(a_user(), "Secret", "florida", order=SavedSearch.Order.NEWEST, now=NOON)
    for each in (saved, other):
        PercolatorQuery.objects.update_or_create(saved=each, defaults={"query": each.query})
        Relevance.objects.create(saved=each, source=source, value=0.5)
    shown = page(client, "source", source.pk).text
    assert "Storms" in shown
    assert "Secret" not in shown
    assert "1 saved search of other people" in shown


def test_a_search_is_a_json_feed_too(client, user, saved):
    source = a_follow(user).source
    a_posting(source, title="Hurricane", text="hurricane", author="Ann", language="en")
    from apps.search import actions as search  # noqa: PLC0415

    search.reindexing.consume()
    feed = client.get(reverse("search_feed", args=[saved.secret, "json"]))
    assert feed["Content-Type"].startswith("application/feed+json")
    shown = feed.json()
    assert shown["version"] == "https://jsonfeed.org/version/1.1"
    assert [(item["title"], item["authors"][0]["name"]) for item in shown["items"]] == [("Hurricane", "Ann")]


def test_the_number_of_queries_does_not_grow(client, saved, django_assert_max_num_queries):
    found_by(saved, 3)
    for _ in range(2):
        for name in ("alert_found", "alert_service"):
            with django_assert_max_num_queries(25):
                page(client, name, saved.pk)
        found_by(saved, 30)


def test_the_worker_of_browsers_may_speak_for_all_pages(client):
    answer = client.get("/worker.js")
    assert answer["Content-Type"].startswith("text/javascript")
    assert "showNotification" in answer.text
