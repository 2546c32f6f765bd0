"""Two of a person's devices mark at the same time: nothing is lost, and nothing comes back."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier, Event
from time import sleep
from typing import Any

import pytest
from django.db import connection, transaction

from apps.following import actions, queries
from apps.following.actions.marking import Marked
from apps.following.models import Follow, Mark
from apps.following.queries import Scope
from apps.postings.models import Posting
from tests.builders import NOON, a_follow, a_posting, a_user, some_postings

pytestmark = pytest.mark.django_db(transaction=True)
LATER = NOON + timedelta(hours=1)
ALL = Scope("all")


def at_once(*work: Callable[[], Any]) -> list[Any]:
    """What each returns; all begin together, each with a connection of its own."""
    ready = Barrier(len(work))

    def run(do: Callable[[], Any]) -> Any:
        try:
            connection.ensure_connection()
            ready.wait(10)
            return do()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(work)) as threads:
        return [future.result(60) for future in [threads.submit(run, do) for do in work]]


@pytest.fixture
def reader():
    user = a_user()
    for _ in range(3):
        some_postings(12, a_follow(user).source)
    return user


def unread_of(user) -> set[int]:
    found = set(queries.unread(queries.postings_in(user, ALL), user).values_list("pk", flat=True))
    assert sum(queries.unread_counts(user).values()) == len(found)
    return found


def mark_all(user, scope=ALL) -> Marked:
    return actions.marking.mark_all_read(user, scope, shown_at=LATER, now=LATER)


def test_a_rule_waits_while_a_list_is_being_marked(reader):
    ids = sorted(unread_of(reader))
    begun, ended = Event(), []

    def hold() -> None:
        with transaction.atomic():
            mark_all(reader)
            begun.set()
            sleep(0.3)
            ended.append("list")

    def rule() -> None:
        begun.wait(10)
        actions.marks.mark_for_all([(reader.pk, ids[0])], now=LATER, read=True)
        ended.append("rule")

    at_once(hold, rule)
    assert ended == ["list", "rule"]


def test_concurrent_marking_of_a_list_counts_once(reader):
    first, second = at_once(lambda: mark_all(reader), lambda: mark_all(reader))
    assert sorted([first.count, second.count]) == [0, 36]
    assert unread_of(reader) == set()
    undo = first.undo or second.undo
    assert sorted(at_once(*[lambda: actions.marking.undo_mark_all(reader, undo, now=LATER)] * 2)) == [0, 36]
    assert len(unread_of(reader)) == 36


def test_lists_that_overlap_are_marked_at_once(reader):
    source = Scope("source", Follow.objects.order_by("pk").values_list("source_id", flat=True)[0])
    marked = at_once(lambda: mark_all(reader), lambda: mark_all(reader, source))
    assert sum(each.count for each in marked) == 36
    undone = at_once(
        *[lambda undo=each.undo: actions.marking.undo_mark_all(reader, undo, now=LATER) for each in marked if each.undo]
    )
    assert sum(undone) == 36
    assert len(unread_of(reader)) == 36


def test_single_marks_survive_a_concurrent_mark_all_and_undo(reader):
    ids = list(Posting.objects.order_by("pk").values_list("pk", flat=True))
    read, kept = ids[::3], ids[1::3]

    def read_one_by_one() -> None:
        for posting_id in read:
            actions.marks.mark_read(reader, [posting_id], read=True, now=LATER)

    def keep_unread() -> None:
        for posting_id in kept:
            actions.marks.mark_read(reader, [posting_id], read=False, now=LATER)

    def mark_and_undo() -> None:
        for _ in range(6):
            if undo := mark_all(reader).undo:
                actions.marking.undo_mark_all(reader, undo, now=LATER)

    at_once(read_one_by_one, keep_unread, mark_and_undo)
    assert unread_of(reader) == set(ids) - set(read)


def test_concurrent_marks_have_one_of_both_states_and_stars_stay(reader):
    ids = list(Posting.objects.order_by("pk").values_list("pk", flat=True))

    def star() -> None:
        for posting_id in ids:
            actions.marks.star(reader, posting_id, starred=True, now=LATER)

    def mark_all_by_source() -> None:
        for source_id in Follow.objects.values_list("source_id", flat=True):
            mark_all(reader, Scope("source", source_id))

    at_once(star, mark_all_by_source, lambda: mark_all(reader))
    assert unread_of(reader) == set()
    assert Mark.objects.filter(user=reader, starred_at=LATER).count() == len(ids)


def test_concurrent_arrivals_stay_unread(reader):
    source = Follow.objects.order_by("pk")[0].source

    def arrive() -> set[int]:
        early, late = NOON - timedelta(days=2), LATER + timedelta(minutes=1)
        return {a_posting(source, published_at=early, retrieved_at=late).pk for _ in range(20)}

    arrived, marked = at_once(arrive, lambda: [mark_all(reader).count for _ in range(6)])
    assert sum(marked) == 36
    assert unread_of(reader) == arrived
