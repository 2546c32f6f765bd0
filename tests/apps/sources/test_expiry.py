"""Sources whose postings are only kept for some days."""

from datetime import timedelta

import pytest

from apps.following.actions.marks import write_note
from apps.following.models import Mark
from apps.postings.models import Posting
from apps.retrieval.actions import expiry, forget_expired
from tests.builders import NOON, a_mark, a_posting, a_profile, a_source, a_user, an_edition

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


def a_dated(source, days: float, **values) -> Posting:
    at = NOON - days * DAY
    return a_posting(source, **{"published_at": at, "claimed_at": at} | values)


def left() -> set[int]:
    return set(Posting.objects.values_list("pk", flat=True))


def test_expired_postings_are_deleted_unless_starred():
    podcast, paper = a_source(expiry_days=7), a_source()
    new, starred, of_paper = a_dated(podcast, 6.9), a_dated(podcast, 30), a_dated(paper, 300)
    a_mark(a_user(), starred, starred_at=NOON)
    read, edited = a_dated(podcast, 7.1), a_dated(podcast, 8)
    a_mark(a_user(), read, read=True)
    an_edition(edited)
    assert forget_expired(now=NOON) == 2
    assert left() == {new.pk, starred.pk, of_paper.pk}
    assert Mark.objects.count() == 1
    assert forget_expired(now=NOON) == 0


def test_annotated_postings_do_not_expire():
    source = a_source(expiry_days=7)
    noted = a_dated(source, 30)
    a_dated(source, 31)
    write_note(a_user(), noted.pk, "To be kept", now=NOON)
    assert forget_expired(now=NOON) == 1
    assert left() == {noted.pk}


def test_many_go_in_batches(monkeypatch):
    monkeypatch.setattr(expiry, "BATCH", 2)
    source = a_source(expiry_days=1)
    starred = a_dated(source, 3)
    a_mark(a_user(), starred, starred_at=NOON)
    for days in range(2, 9):
        a_dated(source, days)
    assert forget_expired(now=NOON) == 7
    assert left() == {starred.pk}


def test_those_without_a_date_stay_while_their_source_may_still_show_them():
    source = a_source(expiry_days=1)
    a_profile(source, window=2)
    undated = [a_posting(source, published_at=NOON - days * DAY) for days in (3, 4, 5, 6)]
    a_dated(source, 9)
    assert forget_expired(now=NOON) == 3
    assert left() == {undated[0].pk, undated[1].pk}
