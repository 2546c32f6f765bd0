"""Miniflux' API: what lists hold, and what they cost."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.api.queries.feeds import category_id_of
from apps.following import queries
from apps.following.models import Mark
from apps.following.queries import Scope
from apps.search.actions.reindexing import consume
from tests.apps.api.miniflux import Program
from tests.builders import (
    NOON,
    a_folder,
    a_follow,
    a_mark,
    a_posting,
    a_user,
    some_postings,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def program(person):
    return Program(person)


def seconds(at):
    return int(at.timestamp())


MOMENTS = st.none() | st.integers(-9, 1).map(lambda hours: NOON + timedelta(hours=hours))


@pytest.fixture
def many(person):
    """Three sources, one of them muted, one in a folder; postings at odd times, some starred, some read."""
    folder = a_folder(person, "News")
    follows = [a_follow(person, folders=(folder,)), a_follow(person), a_follow(person, muted=True)]
    follows[1].unread_from = NOON - timedelta(hours=3)
    follows[1].save(update_fields=["unread_from"])
    found = []
    for number in range(24):
        published = NOON - timedelta(hours=number % 7)
        posting = a_posting(follows[number % 3].source, published_at=published, title=f"{number % 5}")
        found.append(posting)
        if number % 4 == 0:
            a_mark(person, posting, read=number % 8 == 0, changed_at=NOON - timedelta(minutes=number * 10))
        elif number % 4 == 1:
            a_mark(person, posting, starred_at=NOON, changed_at=NOON - timedelta(hours=number % 9))
    a_mark(person, a_posting(), starred_at=NOON)  # of a source that is followed no more
    a_follow(a_user("Eve"))
    return folder


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    states=st.sets(st.sampled_from(["read", "unread"])),
    starred=st.sampled_from([None, True, False]),
    within=st.sampled_from(["", "feed", "category", "unfiled"]),
    bounds=st.fixed_dictionaries(
        dict.fromkeys(("published_after", "published_before", "changed_after", "changed_before"), MOMENTS)
    ),
    order=st.sampled_from(["published_at", "id", "changed_at", "created_at", "title", "status"]),
    descending=st.booleans(),
    offset=st.integers(0, 5),
    limit=st.integers(1, 30),
)
def test_lists_contain_matching_entries(
    program, many, states, starred, within, bounds, order, descending, offset, limit
):
    """Compared with a filter over all postings."""
    shown = {
        posting.pk: posting
        for posting in queries.with_state(queries.postings_in(program.person, Scope("all")), program.person)
    }
    if starred:
        kept = queries.postings_in(program.person, Scope("starred"))
        shown = {posting.pk: posting for posting in queries.with_state(kept, program.person)}
    follows = {follow.source_id: follow for follow in queries.follows_of(program.person)}
    path, query = "entries", {"status": sorted(states), "order": order, "offset": offset, "limit": limit}
    if within == "feed":
        feed_id = min(follows)
        path, sources = f"feeds/{feed_id}/entries", {feed_id}
    elif within:
        sources = {
            id
            for id, follow in follows.items()
            if follow.folders.exists() == (within == "category") and not follow.muted
        }
        path = f"categories/{category_id_of(many.pk) if within == 'category' else 1}/entries"
    if within:
        shown = {id: posting for id, posting in shown.items() if posting.source_id in sources}
    marks = {mark.posting_id: mark for mark in Mark.objects.filter(user=program.person)}

    def changed(posting):
        return max(posting.retrieved_at, marks[posting.pk].changed_at if posting.pk in marks else posting.retrieved_at)

    if states:
        shown = {id: posting for id, posting in shown.items() if ("unread" if posting.unread else "read") in states}
    if starred is not None:
        query["starred"] = str(starred).lower()
        shown = {id: posting for id, posting in shown.items() if posting.starred == starred}
    for name, bound in bounds.items():
        if bound is not None:
            query[name] = seconds(bound)
            at = changed if name.startswith("changed") else lambda posting: posting.published_at
            is_after = name.endswith("after")
            shown = {id: each for id, each in shown.items() if (at(each) > bound if is_after else at(each) < bound)}
    keys = {
        "published_at": lambda each: (each.published_at, each.pk),
        "id": lambda each: each.pk,
        "changed_at": lambda each: (changed(each), each.pk),
        "created_at": lambda each: (each.retrieved_at, each.pk),
        "title": lambda each: (each.title, each.pk),
        "status": lambda each: (each.unread, each.published_at, each.pk),
    }
    total, ids = program.entries(path, direction="desc" if descending else "asc", **query)
    assert total == len(shown)
    if order in keys:
        assert ids == [each.pk for each in sorted(shown.values(), key=keys[order], reverse=descending)][offset:][:limit]
    else:
        assert len(ids) == min(max(len(shown) - offset, 0), limit)
        assert set(ids) <= set(shown)


def test_lists_between_two_numbers(program, person):
    follow = a_follow(person)
    ids = sorted(posting.pk for posting in some_postings(6, follow.source))
    assert program.entries(order="id", after_entry_id=ids[1], before_entry_id=ids[5]) == (3, ids[2:5])
    assert program.entries(order="id", direction="desc", after_entry_id=ids[1], limit=2) == (4, [ids[5], ids[4]])
    assert program.entries(after_entry_id=ids[3], status="unread")[0] == 2


def test_marking_a_list_read_changes_its_entries(program, person):
    follow = a_follow(person)
    old = a_posting(follow.source, published_at=datetime.now(UTC) - timedelta(days=2))
    an_hour_ago = seconds(datetime.now(UTC) - timedelta(hours=1))
    assert program.entries(changed_after=an_hour_ago) == (0, [])
    assert program.request("put", f"feeds/{follow.source_id}/mark-all-as-read").status_code == 204
    assert program.entries(changed_after=an_hour_ago) == (1, [old.pk])
    assert program.entries(changed_before=an_hour_ago) == (0, [])
    changed_at = datetime.fromisoformat(program.request("get", f"entries/{old.pk}").json()["changed_at"])
    assert changed_at > datetime.now(UTC) - timedelta(minutes=1)


def test_a_search_finds_the_same_as_pages(program, person):
    source = a_follow(person).source
    found, read = (a_posting(source, title="Ships", text=f"Ship {n} sailed to Bergen.") for n in range(2))
    a_posting(source, title="Trains", text="Trains went home.")
    a_posting(text="Another one sailed to Bergen.")  # of a source that they do not follow
    a_mark(person, read, read=True, starred_at=NOON)
    consume()
    assert set(program.entries(search="bergen")[1]) == {found.pk, read.pk}
    assert program.entries(search="bergen", status="unread") == (1, [found.pk])
    assert program.entries(search="bergen", starred="true") == (1, [read.pk])
    assert program.entries(f"categories/{category_id_of(a_folder(person).pk)}/entries", search="bergen") == (0, [])


def test_lists_have_a_hundred_entries_and_a_thousand_at_most(program, person):
    some_postings(120, a_follow(person).source)
    assert program.entries()[0] == 120
    assert len(program.entries()[1]) == 100
    assert len(program.entries(limit=0)[1]) == len(program.entries(limit=5_000)[1]) == 120
    assert program.entries(status="removed") == (0, [])


def test_lists_are_oldest_first_by_default(program, person):
    newest_first = [posting.pk for posting in some_postings(3, a_follow(person).source)]
    assert program.entries()[1] == newest_first[::-1]
    assert program.entries(direction="desc")[1] == newest_first


@pytest.mark.parametrize(
    "query", [{}, {"status": "unread"}, {"starred": "true"}, {"order": "id"}, {"changed_after": 5, "status": "read"}]
)
def test_a_list_takes_the_same_queries_for_many_entries(person, program, query):
    def cost():
        with CaptureQueriesContext(
            connection,
        ) as queries_made:
            program.entries(limit=40, **query)
        return len(queries_made)

    folder = a_folder(person)
    follows = [a_follow(person, folders=(folder,)) for _ in range(2)]
    for follow in follows:
        for posting in some_postings(10, follow.source):
            a_mark(person, posting, read=False, starred_at=NOON)
    program.entries(limit=40, **query)  # which notes that the token is used
    few = cost()
    for _ in range(10):
        for posting in some_postings(6, a_follow(person, folders=(folder,)).source):
            a_mark(person, posting, read=False, starred_at=NOON)
    many = cost()
    assert many - few <= 2  # where there is more than a page of them, they are counted
    assert many < 24


@pytest.mark.parametrize("path", ["feeds", "categories", "feeds/counters", "categories?counts=true", "me", "export"])
def test_all_feeds_take_the_same_queries(person, program, path):
    def cost():
        with CaptureQueriesContext(connection) as queries_made:
            assert program.request("get", path).status_code == 200
        return len(queries_made)

    def more():
        folder = a_folder(person, parent=a_folder(person))
        some_postings(3, a_follow(person, folders=(folder,)).source)

    more()
    cost()
    few = cost()
    for _ in range(10):
        more()
    assert cost() == few < 10
