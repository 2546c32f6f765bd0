"""Followers are notified once that a source fails, works again, moved or ended."""

from datetime import timedelta

import pytest
from django.test.utils import override_script_prefix

from apps.accounts.models import User
from apps.feed_health import actions, queries
from apps.feed_health.models import Notice
from apps.retrieval.models import Retrieval, Schedule
from apps.sources.models import Source
from tests.builders import NOON, a_follow, a_posting, a_retrieval, a_schedule, a_source, a_user

pytestmark = pytest.mark.django_db
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def broken(source: Source, *, since=NOON - 2 * DAY, failures: int = 9) -> None:
    values = {"failing_since": since, "consecutive_failures": failures}
    if not Schedule.objects.filter(source=source).update(**values):
        a_schedule(source, **values)


def well(source: Source) -> None:
    Schedule.objects.filter(source=source).update(failing_since=None, consecutive_failures=0)


def open_kinds(user) -> list[str]:
    return [notice.kind for notice in queries.open_notices(user)]


def notified(*, now) -> int:
    """How many notices are created."""
    return sum(actions.notify_followers(now=now).values())


@pytest.fixture
def follow():
    return a_follow()


def test_followers_are_notified_once_of_a_failing_source(follow):
    other = a_follow(source=follow.source)
    broken(follow.source)
    assert actions.notify_followers(now=NOON)["broken"] == 2
    assert notified(now=NOON + HOUR) == 0
    assert open_kinds(follow.user) == open_kinds(other.user) == ["broken"]
    assert queries.open_notices(follow.user).get().at == NOON - 2 * DAY


@pytest.mark.parametrize(
    "how", [{"since": NOON - HOUR}, {"failures": 2}], ids=["for less than a day", "only twice in a row"]
)
def test_a_short_failure_creates_no_notice(follow, how):
    broken(follow.source, **how)
    assert notified(now=NOON) == 0


def test_only_users_notified_of_the_failure_are_notified_of_the_recovery(follow):
    broken(follow.source)
    actions.notify_followers(now=NOON)
    late = a_follow(source=follow.source)
    well(follow.source)
    assert actions.notify_followers(now=NOON + HOUR)["well"] == 1
    assert open_kinds(follow.user) == ["well"]  # the former notice is dismissed
    assert open_kinds(late.user) == []
    assert notified(now=NOON + 2 * HOUR) == 0


def test_a_source_that_fails_again_creates_new_notices(follow):
    broken(follow.source)
    actions.notify_followers(now=NOON)
    well(follow.source)
    actions.notify_followers(now=NOON + HOUR)
    broken(follow.source, since=NOON + 2 * HOUR)
    assert actions.notify_followers(now=NOON + 3 * DAY)["broken"] == 1
    well(follow.source)
    assert actions.notify_followers(now=NOON + 4 * DAY)["well"] == 1
    assert open_kinds(follow.user) == ["well", "well"]


def test_a_notice_of_a_move_has_the_new_address(follow):
    assert notified(now=NOON) == 0
    Source.objects.update(url="https://new.example/feed")
    assert actions.notify_followers(now=NOON + HOUR)["moved"] == 1
    assert queries.open_notices(follow.user).get().address == "https://new.example/feed"
    assert notified(now=NOON + 2 * HOUR) == 0


def test_a_source_that_ended_creates_one_notice(follow):
    actions.notify_followers(now=NOON)
    Source.objects.update(state=Source.State.GONE)
    assert actions.notify_followers(now=NOON + HOUR)["gone"] == 1
    assert notified(now=NOON + 2 * HOUR) == 0
    assert open_kinds(follow.user) == ["gone"]


def test_no_notice_of_sources_that_are_muted_or_had_ended_before():
    ended = a_follow(source=a_source(state=Source.State.GONE))
    muted = a_follow(muted=True)
    broken(muted.source)
    assert notified(now=NOON) == 0
    assert not open_kinds(ended.user)


def test_only_one_worker_notifies_at_a_time(follow, monkeypatch):
    monkeypatch.setattr(actions, "take", lambda lock, wait: False)
    assert actions.notify_followers(now=NOON) == {}


def test_changes_beyond_one_batch_are_notified_by_the_next(monkeypatch):
    monkeypatch.setattr(actions, "BATCH_SIZE", 2)
    user = a_user()
    for _ in range(5):
        broken(a_follow(user).source)
    counts = [actions.notify_followers(now=NOON)["broken"] for _ in range(4)]
    assert counts == [2, 2, 1, 0]


def test_a_notice_is_dismissed_by_its_owner_alone(follow):
    broken(follow.source)
    actions.notify_followers(now=NOON)
    notice = Notice.objects.get()
    assert not actions.dismiss(a_user(), notice.pk, now=NOON)
    assert actions.dismiss(follow.user, notice.pk, now=NOON)
    assert not queries.open_notices(follow.user).exists()


def test_dismissing_all_keeps_notices_newer_than_the_page(follow):
    broken(follow.source)
    actions.notify_followers(now=NOON)
    shown = queries.open_notices(follow.user).get().pk
    later = a_follow(follow.user)
    broken(later.source)
    actions.notify_followers(now=NOON + HOUR)
    assert actions.dismiss_all(follow.user, up_to=shown, now=NOON) == 1
    assert queries.open_notices(follow.user).get().source == later.source


def test_old_notices_are_deleted(follow):
    broken(follow.source)
    actions.notify_followers(now=NOON)
    assert actions.forget_old(now=NOON + DAY) == 0
    assert actions.forget_old(now=NOON + actions.KEPT + DAY) == 1


def test_failing_sources_come_first_with_the_latest_failure(follow, django_assert_num_queries):
    fine = a_follow(follow.user, a_source(title="A fine one"))
    a_schedule(fine.source, observed_at=NOON)
    posting = a_posting(fine.source)
    broken(follow.source)
    a_retrieval(follow.source, outcome=Retrieval.Outcome.FAILED, status=503)
    a_retrieval(follow.source, outcome=Retrieval.Outcome.FAILED, status=404, fetched_at=NOON + HOUR)
    with django_assert_num_queries(1):
        first, second = queries.health_of_followed(follow.user, start=0, limit=10)
    assert (first.source_id, first.is_well, first.outcome, first.status) == (follow.source_id, False, "failed", 404)
    assert (second.title, second.is_well, second.answered_at) == ("A fine one", True, NOON)
    assert second.published_at == posting.published_at
    assert queries.health_of_followed(follow.user, start=1, limit=1) == [second]


# --- by mail ----------------------------------------------------------------------------------------------------------
def test_only_users_who_want_it_get_one_mail(follow, mailoutbox, settings):
    settings.PROJECT_URL = "https://news.example"
    User.objects.update(email="ada@example.org")
    other = a_follow(source=follow.source)
    User.objects.filter(pk=other.user_id).update(email="bob@example.org")
    actions.set_mail(follow.user, is_wanted=True, now=NOON)
    broken(follow.source)
    actions.notify_followers(now=NOON + HOUR)
    assert [actions.mail(now=NOON + HOUR) for _ in range(2)] == [1, 0]
    [mail] = mailoutbox
    assert mail.to == ["ada@example.org"]
    assert "is failing" in mail.body
    assert "https://news.example/feeds/health/" in mail.body


def test_mails_of_a_portal_below_a_path_name_it_once(follow, mailoutbox, settings):
    settings.PROJECT_URL = "https://example.org/news"
    User.objects.update(email="ada@example.org")
    actions.set_mail(follow.user, is_wanted=True, now=NOON)
    broken(follow.source)
    actions.notify_followers(now=NOON + HOUR)
    with override_script_prefix("/news/"):
        actions.mail(now=NOON + HOUR)
    assert " https://example.org/news/feeds/health/\n" in mailoutbox[0].body


def test_earlier_or_dismissed_notices_are_not_mailed(follow, mailoutbox):
    User.objects.update(email="ada@example.org")
    broken(follow.source)
    actions.notify_followers(now=NOON)
    actions.set_mail(follow.user, is_wanted=True, now=NOON + HOUR)
    well(follow.source)
    actions.notify_followers(now=NOON + 2 * HOUR)
    actions.dismiss_all(follow.user, up_to=Notice.objects.latest("pk").pk, now=NOON)
    assert actions.mail(now=NOON + 3 * HOUR) == 0
    actions.set_mail(follow.user, is_wanted=False, now=NOON)
    assert not queries.wants_mail(follow.user)


def test_disabled_users_get_no_mail(follow, mailoutbox):
    User.objects.update(email="ada@example.org", is_active=False)
    actions.set_mail(follow.user, is_wanted=True, now=NOON)
    broken(follow.source)
    actions.notify_followers(now=NOON + HOUR)
    assert actions.mail(now=NOON + HOUR) == 0
    User.objects.update(is_active=True)
    assert actions.mail(now=NOON + HOUR) == 1
    assert len(mailoutbox) == 1


def test_a_refused_mail_is_sent_later(follow, mailoutbox, monkeypatch):
    User.objects.update(email="ada@example.org")
    actions.set_mail(follow.user, is_wanted=True, now=NOON)
    broken(follow.source)
    actions.notify_followers(now=NOON + HOUR)
    with monkeypatch.context() as patch:
        patch.setattr("django.core.mail.EmailMessage.send", failing_to_send)
        assert actions.mail(now=NOON + HOUR) == 0
    assert actions.mail(now=NOON + HOUR) == 1
    assert len(mailoutbox) == 1


def failing_to_send(*_):
    raise OSError("connection refused")
