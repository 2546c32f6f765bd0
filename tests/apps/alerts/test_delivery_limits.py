"""Messages whose rule has changed meanwhile, and how many are sent in a day."""

from datetime import timedelta

import pytest

from apps.alerts.actions.rules import resume, set_notification_settings, set_rule, stop
from apps.alerts.models import Message, Rule
from tests.apps.alerts.delivering import a_browser, a_person, a_search, find, send_all, the_message
from tests.builders import NOON

SECOND, HOUR, DAY = timedelta(seconds=1), timedelta(hours=1), timedelta(days=1)


# --- changed rules ----------------------------------------------------------------------------------------------------
@pytest.mark.django_db
class TestMeanwhile:
    def test_the_rule_was_stopped(self, receiver, mail_server):
        person = a_person()
        saved = a_search(person, mail="once", webhook_url=receiver.url())
        find(saved)
        stop(Rule.objects.get().stop_token, now=NOON)
        send_all()
        assert set(Message.objects.values_list("state", flat=True)) == {"dropped"}
        resume(person, saved.pk)
        send_all(now=NOON + DAY)
        assert not receiver.calls
        assert not mail_server.taken

    def test_the_rule_was_deleted(self, receiver):
        find(a_search(webhook_url=receiver.url()))
        Rule.objects.all().delete()
        send_all()
        assert (the_message().state, the_message().done_at) == ("dropped", NOON)
        assert not receiver.calls

    def test_the_posting_was_deleted(self, receiver):
        [hit] = find(a_search(webhook_url=receiver.url()))
        find_again = Message.objects.get()
        find_again.saved.hits.get(pk=hit.id).posting.delete()
        send_all()
        assert the_message().state == "dropped"

    def test_the_person_was_shut_out(self, receiver):
        saved = a_search(webhook_url=receiver.url())
        find(saved)
        saved.user.is_active = False
        saved.user.save()
        send_all()
        assert the_message().state == "dropped"

    def test_rule_changed_from_mail_to_webhook(self, mail_server, receiver):
        saved = a_search(mail="once")
        find(saved)
        set_rule(saved.user, saved.pk, webhook_url=receiver.url())
        send_all()
        assert the_message().state == "dropped"


# --- limits -----------------------------------------------------------------------------------------------------------
@pytest.mark.django_db
class TestTheLimitOfADay:
    def test_is_kept_and_what_is_over_comes_with_the_digest(self, mail_server):
        person = a_person(time_zone="Asia/Tokyo")  # where it is 21:00
        set_notification_settings(person, most_a_day=3, digest_hour=7)
        hits = [find(a_search(person, name, mail="once"))[0].id for name in "abcde"]
        send_all(now=NOON + 10 * SECOND)
        assert len(mail_server.taken) == 3
        digest = the_message(channel="digest")
        assert (digest.hits, digest.due_at) == (hits[3:], NOON + 10 * HOUR)
        assert set(Message.objects.filter(hits__overlap=hits[3:], channel="mail").values_list("state", "error")) == {
            ("dropped", "More than 3 messages in a day: it is in the digest of the day.")
        }
        send_all(now=NOON + 10 * HOUR)
        assert mail_server.taken[3]["subject"] == "2 new in 2 searches"

    def test_restarts_at_the_users_midnight(self, mail_server):
        person = a_person(time_zone="Asia/Tokyo")
        set_notification_settings(person, most_a_day=1)
        saved = a_search(person, mail="once")
        for when in (NOON, NOON + 2 * HOUR, NOON + 3 * HOUR):
            find(saved, now=when)
            send_all(now=when)
        assert len(mail_server.taken) == 2

    def test_counts_mails_and_pushes_together_and_no_webhooks(self, mail_server, receiver):
        person = a_person()
        a_browser(person, receiver.url("/phone"))
        set_notification_settings(person, most_a_day=2)
        saved = a_search(person, mail="once", push=True, webhook_url=receiver.url("/hook"))
        for number in range(3):
            find(saved, now=NOON + number * SECOND)
            send_all(now=NOON + number * SECOND)
        channels = Message.objects.filter(state="sent").values_list("channel", flat=True)
        assert sorted(channels) == ["mail", "push", "webhook", "webhook", "webhook"]
        [digest] = Message.objects.filter(channel="digest")
        assert len(digest.hits) == 2  # each once, though mail and push were both too many

    def test_holds_for_hourly_digests_and_not_for_that_of_the_day(self, mail_server):
        person = a_person()
        set_notification_settings(person, most_a_day=0, digest_hour=20)
        find(a_search(person, mail="hour"))
        send_all(now=NOON + HOUR)
        assert not mail_server.taken
        send_all(now=NOON + 8 * HOUR)
        assert len(mail_server.taken) == 1

    def test_has_pushes_wait_where_there_is_no_mail(self, receiver):
        person = a_person(email="")
        a_browser(person, receiver.url("/phone"))
        set_notification_settings(person, most_a_day=1, digest_hour=7)
        find(a_search(person, "a", push=True), a_search(person, "b", push=True))
        send_all(now=NOON + HOUR)
        assert len(receiver.taken) == 1
        assert the_message(state="waiting").due_at == NOON + 19 * HOUR
        send_all(now=NOON + 19 * HOUR)
        assert len(receiver.taken) == 2

    def test_of_nothing_without_mail_is_nothing(self, receiver):
        person = a_person(email="")
        a_browser(person, receiver.url("/phone"))
        set_notification_settings(person, most_a_day=0)
        find(a_search(person, push=True))
        send_all()
        assert (the_message().state, the_message().error) == ("dropped", "Messages are turned off.")

    def test_leaves_what_was_tried_before_alone(self, mail_server):
        person = a_person()
        set_notification_settings(person, most_a_day=1)
        mail_server.behave = lambda _: "451 Later"
        find(a_search(person, mail="once"))
        send_all()
        mail_server.behave = lambda _: "250 OK"
        send_all(now=NOON + HOUR)
        assert the_message().state == "sent"
