"""What people say of their searches, and that it is done with what these find."""

import base64
from datetime import UTC, datetime, time, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.alerts.actions.delivering import MAX_HITS
from apps.alerts.actions.rules import (
    MAX_WEBHOOKS,
    resume,
    set_importance,
    set_notification_settings,
    set_rule,
    stop,
    stop_token_of,
    stopped_by,
)
from apps.alerts.models import Message, NotificationSettings, PercolatorQuery, Rule
from apps.alerts.queries.messages import due, notification_settings_of
from apps.following.actions.errors import NotPossible
from apps.following.actions.marks import MAX_TAGS
from apps.following.models import Mark, Tag, Tagging
from apps.stories.models import Reaction
from tests.apps.alerts.delivering import a_browser, a_person, a_search, find, the_message
from tests.builders import NOON, a_mark, a_posting

pytestmark = pytest.mark.django_db

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
HOOK = "https://hooks.example/news"


# --- what is done with postings ---------------------------------------------------------------------------------------
def test_found_postings_are_marked_starred_hidden_and_tagged_by_their_rule():
    saved = a_search(mark_read=True, star=True, hide=True, tag=" to  read ")
    [hit] = find(saved)
    mark = Mark.objects.get(user=saved.user, posting=hit.posting_id)
    assert (mark.read, mark.starred_at) == (True, NOON)
    assert Reaction.objects.get(user=saved.user).hidden_at == NOON
    assert [tag.name for tag in Tag.objects.filter(user=saved.user, postings=hit.posting_id)] == ["to read"]
    assert not Message.objects.exists()


def test_each_rule_is_for_its_own_search_and_person():
    person, other = a_person(), a_person()
    starring, reading = a_search(person, "a", star=True), a_search(person, "b", mark_read=True)
    without = a_search(other, "c")
    posting, another = a_posting(), a_posting()
    find(starring, without, postings=[posting])
    find(reading, postings=[another])
    marks = Mark.objects.order_by("posting_id").values_list("user", "posting", "read", "starred_at")
    assert list(marks) == [(person.pk, posting.pk, None, NOON), (person.pk, another.pk, True, None)]


def test_earlier_marks_of_the_user_are_kept():
    saved, posting = a_search(star=True), a_posting()
    a_mark(saved.user, posting, read=True)
    find(saved, postings=[posting])
    mark = Mark.objects.get()
    assert (mark.read, mark.starred_at) == (True, NOON)


def test_many_hits_of_many_people_take_no_more_statements_than_one_of_one():
    def statements(searches, postings):
        with CaptureQueriesContext(
            connection,
        ) as captured:
            find(*searches, postings=postings)
        return sum("alerts_hit" not in query["sql"] and "postings_" not in query["sql"] for query in captured)

    def world(people):
        searches = []
        for _ in range(people):
            person = a_person()
            a_browser(person, f"https://push.example/{person.pk}")
            set_notification_settings(person, quiet_from=time(11), quiet_until=time(13))
            for mail in ("once", "hour", "day"):
                rule = {"mark_read": True, "star": True, "hide": True, "tag": mail, "push": True, "webhook_url": HOOK}
                searches.append(a_search(person, mail, mail=mail, **rule))
        return searches

    small, large = world(1), world(7)
    postings = [a_posting() for _ in range(10)]
    first = statements(small, postings[:1])
    again = statements(small, postings[1:2])  # now there are messages that take more
    assert statements(large, postings) == first
    assert statements(large, [a_posting() for _ in range(10)]) == again <= first + 1


# --- how hits are put into messages -----------------------------------------------------------------------------------
def test_mail_at_once_push_and_webhook_are_due_at_once_and_have_keys_of_their_own():
    person = a_person()
    a_browser(person, "https://push.example/1")
    a_browser(person, "https://push.example/2")
    find(a_search(person, mail="once", push=True, webhook_url=HOOK), postings=2)
    found = Message.objects.order_by("channel", "pk")
    assert [message.channel for message in found] == ["mail", "push", "push", "webhook"]
    assert all(len(message.hits) == 2 and message.due_at == NOON for message in found)
    assert len({message.key for message in found}) == 4


def test_a_task_is_sent_for_what_is_due_once_it_is_certain(monkeypatch, django_capture_on_commit_callbacks):
    sent = []
    monkeypatch.setattr("celery.app.base.Celery.send_task", lambda self, name, args, **_: sent.append((name, *args)))
    with django_capture_on_commit_callbacks(execute=True):
        find(a_search(webhook_url=HOOK, mail="day"))
        assert not sent
    assert sent == [("apps.alerts.tasks.deliver", the_message(channel="webhook").pk)]


def test_due_messages_without_a_task_are_found():
    find(a_search(webhook_url=HOOK, mail="day"))
    assert due(NOON) == [the_message(channel="webhook").pk]
    assert len(due(NOON + DAY)) == 2


def test_digests_take_what_is_found_until_they_leave_from_all_searches():
    person = a_person(time_zone="Asia/Kolkata")  # five and a half hours east
    first, second = a_search(person, "a", mail="hour"), a_search(person, "b", mail="hour")
    hits = find(first, second, now=NOON) + find(first, now=NOON + 10 * timedelta(minutes=1))
    digest = the_message()
    assert digest.due_at == NOON + HOUR / 2
    assert digest.hits == [hit.id for hit in hits]
    assert digest.saved is None
    find(first, now=NOON + HOUR / 2)
    assert Message.objects.count() == 2


def test_a_digest_of_the_day_is_due_at_the_persons_hour():
    person = a_person(time_zone="America/New_York")
    set_notification_settings(person, digest_hour=18)
    find(a_search(person, mail="day"), now=datetime(2026, 3, 7, 23, 30, tzinfo=UTC))  # 18:30; the night is short
    assert the_message().due_at == datetime(2026, 3, 8, 22, tzinfo=UTC)


def test_leased_message_takes_no_more_hits():
    saved = a_search(mail="hour")
    find(saved)
    Message.objects.update(attempts=1)
    find(saved)
    assert [len(message.hits) for message in Message.objects.all()] == [1, 1]


def test_a_message_is_of_a_bounded_number_of_hits():
    saved = a_search(mail="day")
    find(saved, postings=MAX_HITS - 1)
    find(saved, postings=3)
    assert [len(message.hits) for message in Message.objects.order_by("pk")] == [MAX_HITS, 2]


def test_quiet_hours_hold_back_mail_and_push_and_no_webhook():
    person = a_person(time_zone="Europe/Berlin")
    set_notification_settings(person, quiet_from=time(22), quiet_until=time(7))
    a_browser(person, "https://push.example/1")
    saved = a_search(person, mail="once", push=True, webhook_url=HOOK)
    night = datetime(2026, 3, 28, 22, 30, tzinfo=UTC)  # 23:30, and the clocks go forward at 2
    find(saved, now=night)
    find(saved, now=night + HOUR)
    found = {(message.channel, message.due_at, len(message.hits)) for message in Message.objects.all()}
    morning = datetime(2026, 3, 29, 5, tzinfo=UTC)
    assert found == {
        ("mail", morning, 2), ("push", morning, 2), ("webhook", night, 2),
    }  # fmt: skip


def test_the_digest_of_a_quiet_hour_waits_and_that_of_the_day_comes_when_it_was_wished():
    person = a_person()
    set_notification_settings(person, quiet_from=time(22), quiet_until=time(7), digest_hour=6)
    night = NOON + 11 * HOUR
    find(a_search(person, "a", mail="hour"), a_search(person, "b", mail="day"), now=night)
    assert sorted(message.due_at.hour for message in Message.objects.all()) == [6, 7]


def test_user_without_address_gets_no_mail():
    saved = a_search(mail="once")
    saved.user.email = ""
    saved.user.save()
    find(saved)
    assert not Message.objects.exists()


def test_unsent_message_takes_later_hits():
    saved = a_search(mail="once", webhook_url=HOOK)
    hits = find(saved) + find(saved, now=NOON + HOUR)
    for message in Message.objects.all():
        assert message.hits == [hit.id for hit in hits]
        assert message.due_at == NOON
    Message.objects.update(lease_until=NOON + HOUR)
    find(saved, now=NOON + HOUR)
    assert Message.objects.count() == 4


def test_shortened_quiet_hours_release_the_message_with_the_next_hit():
    person = a_person()
    set_notification_settings(person, quiet_from=time(11), quiet_until=time(20))
    saved = a_search(person, mail="once")
    find(saved)
    assert the_message().due_at == NOON + 8 * HOUR
    set_notification_settings(person)
    find(saved, now=NOON + HOUR)
    assert (the_message().due_at, len(the_message().hits)) == (NOON + HOUR, 2)


# --- what rules may be ------------------------------------------------------------------------------------------------
def test_the_secret_of_a_webhook_stays_when_its_address_changes():
    saved = a_search(webhook_url=HOOK)
    first = Rule.objects.get()
    again = set_rule(saved.user, saved.pk, webhook_url="https://hooks.example/other")
    assert first.webhook_secret.startswith("whsec_")
    assert (again.webhook_secret, again.stop_token) == (first.webhook_secret, first.stop_token)
    assert len(base64.b64decode(first.webhook_secret.removeprefix("whsec_"))) == 24


@pytest.mark.parametrize(
    ("address", "complaint"),
    [
        ("ftp://hooks.example/", "not an http or https address"),
        ("https://me:secret@hooks.example/", "username or password"),
        ("https://hooks.example:6379/", "port"),
        ("http://169.254.169.254/latest/meta-data/", "private or reserved network"),
        ("http://2852039166/", "private or reserved network"),  # the same in one number
        ("http://[::1]/", "private or reserved network"),
        ("http://localhost/", "private or reserved network"),
        ("http://10.0.0.1/", "private or reserved network"),
    ],
)
def test_a_webhook_lies_on_the_public_web(address, complaint):
    saved = a_search()
    with pytest.raises(NotPossible, match=complaint):
        set_rule(saved.user, saved.pk, webhook_url=address)
    assert not Rule.objects.exists()


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"tag": "x" * 51}, "at most 50 characters"),
        ({"mail": "often"}, "“often” is not a choice"),
    ],
)
def test_invalid_rule_is_rejected(values, complaint):
    saved = a_search()
    with pytest.raises(NotPossible, match=complaint):
        set_rule(saved.user, saved.pk, **values)


def test_user_without_address_cannot_choose_mail():
    saved = a_search(a_person(email=""))
    with pytest.raises(NotPossible, match="no confirmed email address"):
        set_rule(saved.user, saved.pk, mail="once")


def test_rule_of_a_foreign_search_is_rejected():
    saved, other = a_search(), a_person()
    for action in (lambda: set_rule(other, saved.pk), lambda: set_importance(other, saved.pk, 2.0)):
        with pytest.raises(NotPossible, match="You have no such saved search"):
            action()


def test_webhooks_of_a_person_are_bounded():
    person = a_person()
    searches = [a_search(person, str(number), webhook_url=HOOK) for number in range(MAX_WEBHOOKS)]
    set_rule(person, searches[0].pk, webhook_url="https://hooks.example/moved")
    with pytest.raises(NotPossible, match="at most 20 webhooks"):
        a_search(person, "one more", webhook_url=HOOK)


def test_importance_is_kept_where_a_search_does_not_stand_yet_and_where_it_does():
    saved = a_search()
    set_importance(saved.user, saved.pk, 3.0)
    standing = PercolatorQuery.objects.get()
    assert (standing.importance, standing.query) == (3.0, "")  # its anchors are still to be made
    PercolatorQuery.objects.update(query="paris")
    set_importance(saved.user, saved.pk, 0.5)
    assert PercolatorQuery.objects.values_list("importance", "query").get() == (0.5, "paris")
    for wrong in (-1.0, 10.5, float("nan")):
        with pytest.raises(NotPossible, match="between 0 and 10"):
            set_importance(saved.user, saved.pk, wrong)


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"quiet_from": time(22)}, "both a start and an end"),
        ({"quiet_from": time(22), "quiet_until": time(22)}, "cannot start and end at the same time"),
        ({"digest_hour": 24}, "between 0 and 23"),
        ({"most_a_day": -1}, "at most 1,000"),
    ],
)
def test_invalid_notification_settings_are_rejected(values, complaint):
    with pytest.raises(NotPossible, match=complaint):
        set_notification_settings(a_person(), **values)


def test_notification_settings_are_stored_and_have_defaults():
    person = a_person()
    assert notification_settings_of(person).digest_hour == 7
    set_notification_settings(person, digest_hour=9, most_a_day=3)
    set_notification_settings(person, digest_hour=10, most_a_day=3)
    assert NotificationSettings.objects.get(user=person).digest_hour == 10


# --- stopping ---------------------------------------------------------------------------------------------------------
def test_one_click_stops_messages_and_nothing_else_and_a_second_one_changes_nothing():
    person = a_person()
    saved, other = a_search(person, star=True, mail="once"), a_search(person, "Other", mail="once")
    token = Rule.objects.get(pk=saved.pk).stop_token
    assert stopped_by(token) == [saved]
    assert stop(token, now=NOON) == stop(token, now=NOON + HOUR) == [saved]
    assert Rule.objects.get(pk=saved.pk).stopped_at == NOON
    find(saved, other)
    assert the_message().saved == other
    assert Mark.objects.get().starred_at == NOON
    assert resume(person, saved.pk)
    assert not resume(person, saved.pk)
    find(saved)
    assert Message.objects.filter(saved=saved).exists()


def test_the_link_of_a_digest_stops_all_that_it_is_of():
    first, second, third = (a_search(name=name, mail="day") for name in "abc")
    token = stop_token_of([first.pk, second.pk])
    assert stop(token, now=NOON) == [first, second]
    assert Rule.objects.filter(stopped_at=None).get().saved == third


@pytest.mark.parametrize("token", ["", "nothing", "a:b:c", "x" * 5_000])
def test_a_token_that_means_nothing_stops_nothing(token):
    a_search(mail="once")
    assert stop(token, now=NOON) == []
    assert Rule.objects.get().stopped_at is None


def test_foreign_rule_cannot_be_resumed():
    saved = a_search(mail="once")
    stop(Rule.objects.get().stop_token, now=NOON)
    assert not resume(a_person(), saved.pk)


def test_tags_of_rules_are_the_persons_own():
    saved = a_search(tag="news")
    Tag.objects.bulk_create([Tag(user=saved.user, name=str(number)) for number in range(MAX_TAGS)])
    [hit] = find(saved)
    find(a_search(tag="news"))
    assert Tagging.objects.filter(posting=hit.posting_id).get().tag.user == saved.user
