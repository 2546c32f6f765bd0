"""States and labels put on items, on whole streams; labels renamed and disabled; numbers."""

from datetime import timedelta

import pytest

from apps.following import actions, queries
from apps.following.models import Reading
from apps.following.queries import Scope
from apps.postings.algorithms.times import microseconds
from apps.postings.models import Posting
from extensions.dialects.google_reader.formats.ids import long_form
from tests.apps.api.google_reader import (
    BROADCAST,
    FRESH,
    KEPT_UNREAD,
    READ,
    READING_LIST,
    STARRED,
    Program,
    label,
)
from tests.builders import NOON, a_folder, a_follow, a_posting, a_source, a_user, some_postings

pytestmark = pytest.mark.django_db


@pytest.fixture
def person():
    return a_user("ada")


@pytest.fixture
def program(person):
    return Program(person)


@pytest.fixture
def source(person):
    source = a_source()
    a_follow(person, source)
    return source


def unread(person) -> set[int]:
    return set(queries.unread(queries.postings_in(person, Scope("all")), person).values_list("pk", flat=True))


def starred(person) -> set[int]:
    return set(queries.postings_in(person, Scope("starred")).values_list("pk", flat=True))


# --- items ------------------------------------------------------------------------------------------------------------
def test_newsboat_marks_read_and_unread(program, person, source):
    posting = a_posting(source)
    begin = f"i={long_form(posting.pk)}"
    bodies = {
        f"{begin}&a={READ}&r={KEPT_UNREAD}&ac=edit&T=tok\n": set(),
        f"{begin}&r={READ}&a={KEPT_UNREAD}&a=user/-/state/com.google/tracking-kept-unread&ac=edit&T=tok\n": {
            posting.pk
        },
    }
    for body, expected in bodies.items():
        answer = program.send("edit-tag", body)
        assert answer.content == b"OK"
        assert unread(person) == expected
    assert KEPT_UNREAD in program.categories(posting.pk)


@pytest.mark.parametrize("token", ["", "x", "anything\n"])
def test_the_token_of_changes_may_be_anything(program, person, source, token):
    posting = a_posting(source)
    program.does("edit-tag", i=posting.pk, a=READ, T=token)
    assert unread(person) == set()


@pytest.mark.parametrize(
    ("fields", "is_unread"),
    [
        ({"a": READ}, False),
        ({"r": READ}, True),
        ({"a": KEPT_UNREAD}, True),
        ({"a": FRESH}, True),
        ({"a": READ, "r": FRESH}, False),
        ({"a": [READ, KEPT_UNREAD]}, True),
    ],
)
def test_read_states_have_many_forms(program, person, source, fields, is_unread):
    postings = [posting.pk for posting in some_postings(3, source)]
    program.does("edit-tag", i=postings, a=READ if is_unread else KEPT_UNREAD)
    program.does("edit-tag", i=postings, **fields)
    assert unread(person) == (set(postings) if is_unread else set())


def test_no_longer_to_keep_unread_says_nothing_of_reading(program, person, source):
    posting = a_posting(source)
    program.does("edit-tag", i=posting.pk, r=KEPT_UNREAD)
    assert unread(person) == {posting.pk}


def test_items_are_starred_shared_and_tagged_and_that_is_undone(program, person, source):
    first, second = (posting.pk for posting in some_postings(2, source))
    program.does("edit-tag", i=[first, second], a=[STARRED, BROADCAST, label("to read"), label("TCP/IP")])
    assert starred(person) == {first, second}
    assert program.categories(second) == {READING_LIST, FRESH, STARRED, BROADCAST, label("to read"), label("TCP/IP")}
    assert queries.shares_of(person).count() == 2
    program.does("edit-tag", i=first, r=[STARRED, BROADCAST, label("to read")])
    assert starred(person) == {second}
    assert program.categories(first) == {READING_LIST, FRESH, label("TCP/IP")}
    assert [item["marked"] for item in program.items(first, second)] == [False, True]


def test_single_items_marked_read_enter_the_history(program, person, source):
    few, many = a_posting(source), [posting.pk for posting in some_postings(201, source)]
    program.does("edit-tag", i=few.pk, a=READ)
    program.does("edit-tag", i=many, a=READ)
    assert unread(person) == set()
    assert list(Reading.objects.values_list("posting_id", flat=True)) == [few.pk]


def test_items_that_are_gone_are_no_failure_and_those_that_cannot_be_are(program, person, source):
    posting = a_posting(source)
    program.does("edit-tag", i=[posting.pk, 10**9], a=READ)
    assert unread(person) == set()
    assert program.post("edit-tag", i="nonsense", a=STARRED).status_code == 400
    assert program.post("edit-tag", i=posting.pk).status_code == 400
    assert program.post("edit-tag", i=posting.pk, a="user/-/state/com.google/like").status_code == 404
    assert program.post("edit-tag", i=posting.pk, a=f"feed/{source.pk}").status_code == 404
    assert program.post("edit-tag", i=range(10_001), a=READ).status_code == 400


def test_of_a_change_that_cannot_be_made_nothing_is_made(program, person, source):
    posting = a_posting(source)
    answer = program.post("edit-tag", i=posting.pk, a=[STARRED, READ, label("x" * 51)])
    assert answer.status_code == 400
    assert "50 characters" in answer.content.decode()
    assert (starred(person), unread(person)) == (set(), {posting.pk})


def test_so_many_items_are_shared_at_once(program, source):
    postings = [posting.pk for posting in some_postings(101, source)]
    assert program.post("edit-tag", i=postings, a=BROADCAST).status_code == 400


# --- whole streams ----------------------------------------------------------------------------------------------------
def test_a_whole_stream_is_marked_read(program, person, source):
    other, tagged = a_source(), a_source()
    a_follow(person, other, folders=(a_folder(person, "World", a_folder(person, "News")),))
    a_follow(person, tagged)
    here, there, with_tag = a_posting(source), a_posting(other), a_posting(tagged)
    actions.marks.tag(person, [with_tag.pk], "later", NOON)
    program.does("mark-all-as-read", s=f"feed/{source.pk}", T="tok\n")
    assert unread(person) == {there.pk, with_tag.pk}
    program.does("mark-all-as-read", s=label("News"))
    assert unread(person) == {with_tag.pk}
    program.does("mark-all-as-read", s=label("later"))
    assert unread(person) == set()
    assert here.pk not in unread(person)


@pytest.mark.parametrize(
    "stream", [READING_LIST, KEPT_UNREAD, FRESH, STARRED, BROADCAST, "user/-/state/com.google/unread"]
)
def test_a_state_is_marked_read(program, person, source, stream):
    meant, other = a_posting(source), a_posting(source)
    program.does("edit-tag", i=meant.pk, a=[STARRED, BROADCAST])
    program.does("edit-tag", i=other.pk, a=READ)
    if stream == KEPT_UNREAD:
        program.does("edit-tag", i=meant.pk, a=KEPT_UNREAD)
    program.does("mark-all-as-read", s=stream)
    assert unread(person) == set()


@pytest.mark.parametrize("unit", [1, 1_000, 1_000_000, 1_000_000_000])
def test_later_arrivals_stay_unread(program, person, source, unit):
    seen = a_posting(source, published_at=NOON, retrieved_at=NOON + timedelta(microseconds=400))
    new = a_posting(source, published_at=NOON, retrieved_at=NOON + timedelta(seconds=1))
    at = microseconds(seen.retrieved_at) * 1_000 // (1_000_000_000 // unit)  # nanoseconds, in the client's unit
    program.does("mark-all-as-read", s=READING_LIST, ts=at)
    assert unread(person) == {new.pk}


def test_to_mark_all_needs_a_stream_and_a_time_that_is_one(program, source):
    assert program.post("mark-all-as-read").status_code == 400
    assert program.post("mark-all-as-read", s=READING_LIST, ts="soon").status_code == 400
    assert program.post("mark-all-as-read", s=label("nothing")).status_code == 404


# --- labels -----------------------------------------------------------------------------------------------------------
def test_labels_are_folders_and_tags(program, person, source):
    news = a_folder(person, "News")
    a_folder(person, "World", news)
    a_folder(person, "News / World")
    posting = a_posting(source)
    actions.marks.tag(person, [posting.pk], "later", NOON)
    result = program.json("tag/list", output="json")["tags"]
    assert [(tag["id"], tag.get("type")) for tag in result] == [
        (STARRED, None),
        (BROADCAST, None),
        (label("News"), "folder"),
        (label("News / World"), "folder"),
        (label("News // World"), "folder"),
        (label("later"), "tag"),
    ]
    assert result[-1]["unread_count"] == 1


def test_a_folder_is_renamed_and_goes_where_its_label_says(program, person):
    world = a_folder(person, "World", a_folder(person, "News"))
    program.does("rename-tag", s=label("News / World"), dest=label("Papers / Abroad"))
    world.refresh_from_db()
    assert (world.name, world.parent.name) == ("Abroad", "Papers")


def test_a_tag_is_renamed_and_disabled(program, person, source):
    posting = a_posting(source)
    actions.marks.tag(person, [posting.pk], "later", NOON)
    program.does("rename-tag", t="later", dest=label("now"))
    assert label("now") in program.categories(posting.pk)
    program.does("disable-tag", s=label("now"))
    assert not queries.tags_of(person)
    assert Posting.objects.filter(pk=posting.pk).exists()


def test_several_labels_or_streams_change_together_or_not_at_all(program, person, source):
    folder = a_folder(person, "News")
    a_folder(person, "World", folder)
    posting = a_posting(source)
    assert program.post("disable-tag", s=[label("News"), label("nothing")]).status_code == 404
    assert program.post("mark-all-as-read", s=[READING_LIST, label("nothing")]).status_code == 404
    assert queries.folders_of(person).count() == 2
    assert unread(person) == {posting.pk}
    program.does("disable-tag", s=[label("News"), label("News / World")])
    program.does("mark-all-as-read", s=[READING_LIST, STARRED])
    assert queries.folders_of(person).count() == 0
    assert unread(person) == set()


def test_to_disable_a_folder_keeps_its_feeds(program, person):
    follow = a_follow(person, folders=(a_folder(person, "News"),))
    program.does("disable-tag", s=label("News"))
    assert not queries.folders_of(person)
    assert list(queries.follows_of(person)) == [follow]


@pytest.mark.parametrize(
    ("path", "fields", "status"),
    [
        ("rename-tag", {"s": label("nothing"), "dest": label("x")}, 404),
        ("rename-tag", {"s": label("News")}, 400),
        ("rename-tag", {"s": label("News"), "dest": label("Sport")}, 400),
        ("rename-tag", {"s": label("News"), "dest": label("News / Below")}, 400),
        ("rename-tag", {"s": label("News"), "dest": label("x" * 101)}, 404),
        ("rename-tag", {"s": label("News"), "dest": label(" / x")}, 404),
        ("rename-tag", {"s": STARRED, "dest": label("x")}, 404),
        ("disable-tag", {"s": label("nothing")}, 404),
        ("disable-tag", {}, 400),
    ],
)
def test_invalid_changes_of_labels_are_refused(program, person, path, fields, status):
    for name in ("News", "Sport"):
        a_folder(person, name)
    assert program.post(path, **fields).status_code == status
    assert {folder.name for folder in queries.folders_of(person)} == {"News", "Sport"}


# --- numbers ----------------------------------------------------------------------------------------------------------
def test_numbers_are_those_of_the_portals_own_pages(program, person, source):
    world = a_folder(person, "World", a_folder(person, "News"))
    filed, muted = a_source(), a_source()
    a_follow(person, filed, folders=(world, a_folder(person, "Also", world.parent)))
    a_follow(person, muted, muted=True, folders=(world,))
    posting, *_ = some_postings(2, filed)
    a_posting(muted)
    read = a_posting(source, retrieved_at=NOON)
    actions.marks.mark_read(person, [read.pk], read=True, now=NOON)
    actions.marks.tag(person, [posting.pk, read.pk], "later", NOON)
    result = program.json("unread-count", output="json", all="true")
    counts = {entry["id"]: entry["count"] for entry in result["unreadcounts"]}
    assert counts == {
        f"feed/{source.pk}": 0,
        f"feed/{filed.pk}": 2,
        f"feed/{muted.pk}": 1,
        label("News"): 2,
        label("News / World"): 2,
        label("News / Also"): 2,
        label("later"): 1,
        READING_LIST: 2,
    }
    assert result["max"] == 2
    newest = {entry["id"]: entry["newestItemTimestampUsec"] for entry in result["unreadcounts"]}
    assert newest[f"feed/{source.pk}"] == newest[READING_LIST] == str(microseconds(NOON))


def test_a_person_without_feeds_has_numbers_too(program):
    result = program.json("unread-count")
    assert result == {
        "max": 0,
        "unreadcounts": [{"id": READING_LIST, "count": 0, "newestItemTimestampUsec": "0"}],
    }
