"""Followers are told once that a source broke, is well again, moved or ended."""

from datetime import timedelta

import pytest

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


def told(user) -> list[str]:
    return [notice.kind for notice in queries.open_notices(user)]


@pytest.fixture
def follow():
    return a_follow()


def test_followers_are_told_once_that_a_source_broke(follow):
    other = a_follow(source=follow.source)
    broken(follow.source)
    assert actions.look(now=NOON).broken == 2
    assert actions.look(now=NOON + HOUR).told == 0
    assert told(follow.user) == told(other.user) == ["broken"]
    assert queries.open_notices(follow.user).get().at == NOON - 2 * DAY


@pytest.mark.parametrize(
    "how", [{"since": NOON - HOUR}, {"failures": 2}], ids=["for less than a day", "only twice in a row"]
)
def test_a_source_that_only_stumbles_is_not_told_of(follow, how):
    broken(follow.source, **how)
    assert actions.look(now=NOON).told == 0


def test_who_was_told_hears_that_it_is_well_again_and_nobody_else(follow):
    broken(follow.source)
    actions.look(now=NOON)
    late = a_follow(source=follow.source)
    well(follow.source)
    assert actions.look(now=NOON + HOUR).well == 1
    assert told(follow.user) == ["well"]  # that it broke is over
    assert told(late.user) == []
    assert actions.look(now=NOON + 2 * HOUR).told == 0


def test_a_source_that_breaks_again_is_told_of_again(follow):
    broken(follow.source)
    actions.look(now=NOON)
    well(follow.source)
    actions.look(now=NOON + HOUR)
    broken(follow.source, since=NOON + 2 * HOUR)
    assert actions.look(now=NOON + 3 * DAY).broken == 1
    well(follow.source)
    assert actions.look(now=NOON + 4 * DAY).well == 1
    assert told(follow.user) == ["well", "well"]


def test_a_source_that_moved_is_told_with_its_new_address(follow):
    assert actions.look(now=NOON).told == 0
    Source.objects.update(url="https://new.example/feed")
    assert actions.look(now=NOON + HOUR).moved == 1
    assert queries.open_notices(follow.user).get().address == "https://new.example/feed"
    assert actions.look(now=NOON + 2 * HOUR).told == 0


def test_a_source_that_ended_is_told_of_once(follow):
    actions.look(now=NOON)
    Source.objects.update(state=Source.State.GONE)
    assert actions.look(now=NOON + HOUR).gone == 1
    assert actions.look(now=NOON + 2 * HOUR).told == 0
    assert told(follow.user) == ["gone"]


def test_who_follows_what_has_ended_already_or_muted_it_is_not_told():
    ended = a_follow(source=a_source(state=Source.State.GONE))
    muted = a_follow(muted=True)
    broken(muted.source)
    assert actions.look(now=NOON).told == 0
    assert not told(ended.user)


def test_only_one_looks_at_a_time(follow, monkeypatch):
    monkeypatch.setattr(actions, "take", lambda lock, wait: False)
    assert actions.look(now=NOON) is None


def test_more_than_one_transaction_takes_are_told_of_by_the_next(monkeypatch):
    monkeypatch.setattr(actions, "LOOKED_AT_ONCE", 2)
    user = a_user()
    for _ in range(5):
        broken(a_follow(user).source)
    counts = [actions.look(now=NOON).broken for _ in range(4)]
    assert counts == [2, 2, 1, 0]


def test_a_notice_is_dismissed_by_its_owner_alone(follow):
    broken(follow.source)
    actions.look(now=NOON)
    notice = Notice.objects.get()
    assert not actions.dismiss(a_user(), notice.pk, now=NOON)
    assert actions.dismiss(follow.user, notice.pk, now=NOON)
    assert queries.open_count(follow.user) == 0


def test_all_that_a_page_showed_is_dismissed_and_what_came_later_stays(follow):
    broken(follow.source)
    actions.look(now=NOON)
    shown = queries.open_notices(follow.user).get().pk
    later = a_follow(follow.user)
    broken(later.source)
    actions.look(now=NOON + HOUR)
    assert actions.dismiss_all(follow.user, up_to=shown, now=NOON) == 1
    assert queries.open_notices(follow.user).get().source == later.source


def test_old_notices_are_forgotten(follow):
    broken(follow.source)
    actions.look(now=NOON)
    assert actions.forget_old(now=NOON + DAY) == 0
    assert actions.forget_old(now=NOON + actions.KEPT + DAY) == 1


def test_what_is_not_well_comes_first_with_what_its_latest_retrieval_said(follow, django_assert_num_queries):
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
def test_who_wishes_is_told_by_mail_once_and_nobody_else(follow, mailoutbox, settings):
    settings.PROJECT_URL = "https://news.example"
    User.objects.update(email="ada@example.org")
    other = a_follow(source=follow.source)
    User.objects.filter(pk=other.user_id).update(email="bob@example.org")
    actions.set_mail(follow.user, is_wanted=True, now=NOON)
    broken(follow.source)
    actions.look(now=NOON + HOUR)
    assert [actions.mail(now=NOON + HOUR) for _ in range(2)] == [1, 0]
    [mail] = mailoutbox
    assert mail.to == ["ada@example.org"]
    assert "is failing" in mail.body
    assert "https://news.example/feeds/health/" in mail.body


def test_what_was_noticed_before_somebody_wished_or_is_known_to_them_is_not_mailed(follow, mailoutbox):
    User.objects.update(email="ada@example.org")
    broken(follow.source)
    actions.look(now=NOON)
    actions.set_mail(follow.user, is_wanted=True, now=NOON + HOUR)
    well(follow.source)
    actions.look(now=NOON + 2 * HOUR)
    actions.dismiss_all(follow.user, up_to=Notice.objects.latest("pk").pk, now=NOON)
    assert actions.mail(now=NOON + 3 * HOUR) == 0
    actions.set_mail(follow.user, is_wanted=False, now=NOON)
    assert not queries.wants_mail(follow.user)


def test_who_may_not_sign_in_is_not_told_by_mail(follow, mailoutbox):
    User.objects.update(email="ada@example.org", is_active=False)
    actions.set_mail(follow.user, is_wanted=True, now=NOON)
    broken(follow.source)
    actions.look(now=NOON + HOUR)
    assert actions.mail(now=NOON + HOUR) == 0
    User.objects.update(is_active=True)
    assert actions.mail(now=NOON + HOUR) == 1
    assert len(mailoutbox) == 1


def test_a_mail_that_the_server_did_not_take_is_sent_later(follow, mailoutbox, monkeypatch):
    User.objects.update(email="ada@example.org")
    actions.set_mail(follow.user, is_wanted=True, now=NOON)
    broken(follow.source)
    actions.look(now=NOON + HOUR)
    with monkeypatch.context() as patch:
        patch.setattr("django.core.mail.EmailMessage.send", failing_to_send)
        assert actions.mail(now=NOON + HOUR) == 0
    assert actions.mail(now=NOON + HOUR) == 1
    assert len(mailoutbox) == 1


def failing_to_send(*_):
    raise OSError("nobody answers")
