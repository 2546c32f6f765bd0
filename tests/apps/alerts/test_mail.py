"""Mails as a mail server gets them."""

import re
from datetime import UTC, datetime, time, timedelta

import pytest
from django.core import mail as outbox

from apps.alerts.actions.delivering import deliver
from apps.alerts.actions.rules import set_notification_settings, stop
from apps.alerts.models import Attempt, Message, Rule
from apps.alerts.queries.messages import due
from tests.apps.alerts.delivering import a_person, a_search, find, the_message
from tests.builders import NOON, a_posting, a_source

pytestmark = pytest.mark.django_db


def sent(server, *, now=NOON):
    """What the mail server gets when everything due is sent."""
    for message_id in due(now):
        deliver(message_id, now=now)
    return server.taken


def text_of(mail, kind="plain"):
    return mail.get_body((kind,)).get_content()


def test_mail_has_the_title_and_links_to_portal_and_original(mail_server):
    person = a_person(username="reader", time_zone="Europe/Berlin")
    posting = a_posting(
        a_source(title="The Source"), title="Paris <wakes> & sings", url="https://news.example/1?a=1&b=2"
    )
    find(a_search(person, "Mine", mail="once"), postings=[posting])
    [mail] = sent(mail_server)
    assert (mail["to"], mail["from"]) == ("reader@reader.example", "wirebeat@localhost")
    assert mail["subject"] == "Mine: Paris <wakes> & sings"
    text, html = text_of(mail), text_of(mail, "html")
    page = f"https://portal.example/posting/{posting.pk}/"
    for wanted in ("Paris <wakes> & sings", "The Source, 1 May 2024, 13:00", page, "https://news.example/1?a=1&b=2"):
        assert wanted in text
    for wanted in ("Paris &lt;wakes&gt; &amp; sings", f'href="{page}"', 'href="https://news.example/1?a=1&amp;b=2"'):
        assert wanted in html
    message = the_message()
    assert (message.state, message.attempts, message.done_at >= NOON) == ("sent", 1, True)
    assert Attempt.objects.values_list("status", "error").get() == (250, "")


def test_a_mail_loads_nothing_from_elsewhere(mail_server):
    posting = a_posting(image_url="https://spy.example/pixel.png", html='<img src="https://spy.example/">')
    find(a_search(mail="once"), postings=[posting])
    [mail] = sent(mail_server)
    assert not re.search(r"<(img|link|script|iframe|object|video|audio)\b|url\(|src=", text_of(mail, "html"))
    assert "spy.example" not in mail.as_string()


def test_one_click_in_the_mail_program_stops_it(mail_server):
    find(a_search(mail="once"))
    [mail] = sent(mail_server)
    token = Rule.objects.get().stop_token
    assert mail["list-unsubscribe"].strip() == f"<https://portal.example/alerts/stop/{token}/>"
    assert mail["list-unsubscribe-post"] == "List-Unsubscribe=One-Click"
    assert f"https://portal.example/alerts/stop/{token}/" in text_of(mail)


def test_a_digest_is_grouped_by_search_and_its_link_stops_all_of_it(mail_server):
    person = a_person()
    first, second = a_search(person, "Art", mail="day"), a_search(person, "Politics", mail="day")
    find(second, postings=2)
    find(first, second, postings=[a_posting(title="Both")])
    [mail] = sent(mail_server, now=NOON + timedelta(days=1))
    assert mail["subject"] == "4 new in 2 searches"
    text = text_of(mail)
    assert text.index("Art") < text.index("Both") < text.index("Politics") < text.rindex("Both")
    token = re.search(r"/alerts/stop/([^/]+)/>", mail["list-unsubscribe"])[1]
    assert stop(token, now=NOON) == [first, second]


def test_a_digest_leaves_out_what_was_stopped_meanwhile_and_is_dropped_if_nothing_is_left(mail_server):
    person = a_person()
    first, second = a_search(person, "Art", mail="day"), a_search(person, "Politics", mail="day")
    find(first, second)
    find(a_search(name="Other", mail="day"))
    stop(Rule.objects.get(pk=second.pk).stop_token, now=NOON)
    stop(Rule.objects.get(saved__name="Other").stop_token, now=NOON)
    [mail] = sent(mail_server, now=NOON + timedelta(days=1))
    assert "Art" in text_of(mail)
    assert "Politics" not in text_of(mail)
    assert sorted(Message.objects.values_list("state", flat=True)) == ["dropped", "sent"]


def test_the_digest_of_a_day_leaves_at_its_hour_on_days_when_clocks_change(mail_server):
    person = a_person(time_zone="Europe/Berlin")
    set_notification_settings(person, digest_hour=7)
    saved = a_search(person, mail="day")
    for month, day, leaves in ((3, 28, 5), (10, 24, 6)):  # the evenings before
        evening = datetime(2026, month, day, 20, tzinfo=UTC)
        find(saved, now=evening)
        morning = (evening + timedelta(days=1)).replace(hour=leaves)
        before = len(mail_server.taken)
        assert len(sent(mail_server, now=morning - timedelta(seconds=1))) == before
        assert len(sent(mail_server, now=morning)) == before + 1


def test_the_same_mail_has_the_same_message_id_at_each_attempt(mail_server):
    tried = []
    mail_server.behave = lambda mail: (tried.append(mail["message-id"]), "451 Try later")[1]
    find(a_search(mail="once"))
    key = the_message().key
    sent(mail_server)
    message = the_message()
    assert (message.state, message.due_at - NOON >= timedelta(minutes=1)) == ("waiting", True)
    assert message.error == "The mail server refused it: 451 Try later"
    mail_server.behave = lambda _: "250 OK"
    [mail] = sent(mail_server, now=message.due_at)
    assert mail["message-id"] == tried[0] == f"<{key}@portal.example>"
    assert list(Attempt.objects.order_by("pk").values_list("status", flat=True)) == [451, 250]


def test_permanently_refused_mail_fails_after_three_attempts(mail_server):
    mail_server.behave = lambda _: "550 No such person"
    find(a_search(mail="once"))
    now = NOON
    for _ in range(5):
        sent(mail_server, now=now)
        now = the_message().due_at
    assert (the_message().state, the_message().attempts) == ("failed", 3)


def test_a_mail_that_was_taken_is_sent_once_however_the_server_takes_leave(mail_server, monkeypatch):
    monkeypatch.setattr("smtplib.SMTP.quit", lambda self: (_ for _ in ()).throw(TimeoutError("no answer")))
    find(a_search(mail="once"))
    assert len(sent(mail_server)) == 1
    assert the_message().state == "sent"


def test_without_a_mail_server_it_is_tried_again(settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    find(a_search(mail="once"))
    assert deliver(the_message().pk, now=NOON)
    message = the_message()
    assert message.state == "waiting"
    assert message.error.startswith("The mail server could not be reached")
    assert Attempt.objects.get().status is None


@pytest.mark.parametrize("title", ["A\r\nBcc: victim@mail.example", "\u2028 x", "x" * 5_000, "", "日本語のニュース"])
def test_no_title_breaks_a_mail(mail_server, title):
    find(a_search(mail="once"), postings=[a_posting(title=title)])
    [mail] = sent(mail_server)
    assert mail["bcc"] is None
    assert len(mail["subject"]) <= 150
    assert mail["to"].count("@") == 1


def test_an_original_that_is_nowhere_on_the_web_is_no_link(mail_server):
    find(a_search(mail="once"), postings=[a_posting(url="javascript:alert(1)")])
    [mail] = sent(mail_server)
    assert "javascript" not in mail.as_string()


def test_mail_in_quiet_hours_leaves_at_their_end(mail_server):
    person = a_person()
    set_notification_settings(person, quiet_from=time(11), quiet_until=time(13))
    find(a_search(person, mail="once"))
    assert sent(mail_server, now=NOON + timedelta(minutes=59)) == []
    assert len(sent(mail_server, now=NOON + timedelta(hours=1))) == 1


def test_the_usual_backend_prints_or_keeps_it_just_as_well():
    find(a_search(mail="once"))
    deliver(the_message().pk, now=NOON)
    assert len(outbox.outbox) == 1
