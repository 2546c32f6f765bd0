"""Miniflux' API: who may what, what lists hold, and what they cost."""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.accounts.actions import make_token
from apps.api.dialects.miniflux.formats.responses import enclosure_id
from apps.api.dialects.miniflux.urls import urlpatterns
from apps.api.queries.feeds import category_id_of
from apps.following import actions, queries
from apps.following.models import Folder, Follow, Mark, Reading
from apps.following.queries import Scope
from apps.search.actions import consume
from tests.builders import (
    NOON,
    a_folder,
    a_follow,
    a_mark,
    a_posting,
    a_schedule,
    a_source,
    a_user,
    some_postings,
)

pytestmark = pytest.mark.django_db

METHODS = ("get", "post", "put", "delete")


class Program:
    """A program that acts for a person."""

    def __init__(self, person, scopes=("read", "write")):
        self.person = person
        self.secret = make_token(person, "Phone", scopes, now=NOON)[1]
        self.client = Client()

    def request(self, method, path, data=None, **query):
        body = {"data": json.dumps(data), "content_type": "application/json"} if data is not None else {}
        address = f"/v1/{path}"
        if query:
            body["QUERY_STRING"] = "&".join(
                f"{name}={value}"
                for name, values in query.items()
                for value in (values if isinstance(values, list) else [values])
            )
        return getattr(self.client, method)(address, headers={"X-Auth-Token": self.secret}, **body)

    def entries(self, path="entries", **query):
        answer = self.request("get", path, **query)
        assert answer.status_code == 200, answer.content
        data = json.loads(answer.getvalue())
        return data["total"], [entry["id"] for entry in data["entries"]]


@pytest.fixture
def person():
    return a_user("Ada")


@pytest.fixture
def program(person):
    return Program(person)


def paths(ids):
    """Every address, with the same numbers in all of them that have any."""
    [root] = urlpatterns
    for each in root.url_patterns:
        yield re.sub(r"<(?:\w+:)?(\w+)>", lambda match: str(ids[match[1]]), str(each.pattern))


def ids_of(follow, folder, posting):
    return {
        "who": follow.user_id,
        "category_id": category_id_of(folder.pk),
        "feed_id": follow.source_id,
        "entry_id": posting.pk,
        "enclosure_id": enclosure_id(posting.pk, 0),
        "rest": "what/ever",
    }


@pytest.fixture
def world():
    """Eve's: a source in a folder, with a posting that has a recording."""
    eve = a_user("Eve")
    folder = a_folder(eve, "Secrets")
    follow = a_follow(eve, a_source(title="Hers"), folders=(folder,))
    posting = a_posting(follow.source, title="Her own", enclosures=[{"url": "https://a.example/1.mp3"}])
    return ids_of(follow, folder, posting)


# --- who may what -----------------------------------------------------------------------------------------------------
def test_every_address_requires_a_token(client, world):
    client.force_login(a_user())  # a browser's session is worth nothing here
    for path in paths(world):
        for method in METHODS:
            answer = getattr(client, method)(f"/v1/{path}")
            assert answer.status_code == 401, (method, path)
            assert "token" in answer.json()["error_message"]


def test_a_token_that_may_only_read_changes_nothing(world):
    reading = Program(a_user(), ["read"])
    for path in paths(world):
        for method in METHODS[1:]:
            assert reading.request(method, path).status_code == 403, (method, path)


def test_data_of_others_is_out_of_reach(program, world):
    before = list(Follow.objects.values()), list(Folder.objects.values()), list(Mark.objects.values())
    count = 0
    for path in paths(world):
        if not any(character.isdigit() for character in path):
            continue
        for method in METHODS:
            for data in (None, {"title": "Mine", "category_id": world["category_id"], "media_progression": 3}):
                answer = program.request(method, path, data if method != "get" else None)
                assert answer.status_code in {400, 403, 404, 405}, (method, path, answer.content)
                assert "Her" not in answer.json()["error_message"]
                count += 1
    assert count > 100
    assert program.request("put", "entries", {"entry_ids": [world["entry_id"]], "status": "read"}).status_code == 204
    for name in ("feed_id", "category_id"):
        assert program.request("get", "entries", **{name: world[name]}).status_code == 400
        data = {"feed_url": "https://a.example/feed", "category_id": world["category_id"]}
        assert program.request("post", "feeds", data).status_code == 400
    assert program.entries() == (0, [])
    assert (list(Follow.objects.values()), list(Folder.objects.values()), list(Mark.objects.values())) == before


def test_listed_postings_are_no_entries_without_a_follow(program):
    posting = a_posting()
    assert program.request("get", f"entries/{posting.pk}").status_code == 404
    assert program.request("put", f"entries/{posting.pk}/bookmark").status_code == 404


@pytest.mark.parametrize(
    "query",
    [
        {"limit": "many"},
        {"limit": -1},
        {"offset": -1},
        {"status": "lost"},
        {"order": "taste"},
        {"direction": "up"},
        {"starred": "perhaps"},
        {"published_after": "yesterday"},
        {"published_after": 10**17},
        {"before_entry_id": 2**63},
        {"search": "source:"},
        {"search": "%00"},
        {"search": "x" * 1_001},
    ],
)
def test_a_filter_that_cannot_be_meant_is_named(program, query):
    answer = program.request("get", "entries", **query)
    assert answer.status_code == 400
    assert answer.json()["error_message"]


@pytest.mark.parametrize(
    ("method", "path", "data"),
    [
        ("put", "entries", {"entry_ids": "all", "status": "read"}),
        ("put", "entries", {"entry_ids": [], "status": "read"}),
        ("put", "entries", {"entry_ids": [2**63], "status": "read"}),
        ("put", "entries", {"entry_ids": [True], "status": "read"}),
        ("put", "entries", {"entry_ids": list(range(10_001)), "status": "read"}),
        ("put", "entries", {"entry_ids": [1], "status": "removed"}),
        ("put", "entries", [1]),
        ("post", "categories", {}),
        ("post", "categories", {"title": " "}),
        ("post", "categories", {"title": "x" * 101}),
        ("post", "categories", {"title": "\ud800"}),
        ("post", "categories", {"title": "\0"}),
        ("post", "feeds", {"feed_url": "gopher://a.example"}),
        ("post", "feeds", {"feed_url": 5}),
        ("post", "feeds", {"feed_url": "https://a.example/", "category_id": "News"}),
        ("post", "discover", {}),
    ],
)
def test_a_body_that_cannot_be_meant_changes_nothing(program, method, path, data):
    answer = program.request(method, path, data)
    assert answer.status_code == 400
    assert answer.json()["error_message"]
    assert not Folder.objects.exists()


def test_a_body_may_be_no_larger_than_it_has_to_be(program):
    answer = program.client.put(
        "/v1/entries", b"[" * 500_001, content_type="application/json", headers={"X-Auth-Token": program.secret}
    )
    assert (answer.status_code, "larger" in answer.json()["error_message"]) == (400, True)


# --- lists ------------------------------------------------------------------------------------------------------------
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


# --- categories -------------------------------------------------------------------------------------------------------
def test_folders_are_categories_with_their_paths_as_titles(program, person):
    news = a_folder(person, "News")
    inner = a_folder(person, "Local", parent=news)
    data = program.request("get", "categories").json()
    assert [(each["id"], each["title"]) for each in data] == [
        (1, "All"),
        (category_id_of(news.pk), "News"),
        (category_id_of(inner.pk), "News / Local"),
    ]


def test_a_source_is_in_the_first_of_its_folders_or_in_all(program, person):
    late, early = a_folder(person, "Z"), a_folder(person, "A")
    filed, loose = a_follow(person, folders=(late, early)), a_follow(person)
    by_feed = {feed["id"]: feed["category"] for feed in program.request("get", "feeds").json()}
    assert by_feed[filed.source_id]["title"] == "A"
    assert by_feed[loose.source_id] == {"id": 1, "title": "All", "user_id": person.pk, "hide_globally": False}
    assert program.request("get", f"categories/{category_id_of(late.pk)}/feeds").json() == []
    [only] = program.request("get", "categories/1/feeds").json()
    assert only["id"] == loose.source_id


def test_marking_a_category_read_marks_its_entries_alone(program, person):
    news = a_folder(person, "News")
    inner = a_folder(person, "Local", parent=news)
    shown, below, quiet = (
        a_follow(person, folders=(news,)),
        a_follow(person, folders=(inner,)),
        a_follow(person, folders=(news,), muted=True),
    )
    postings = [a_posting(follow.source) for follow in (shown, below, quiet)]
    assert program.request("put", f"categories/{category_id_of(news.pk)}/mark-all-as-read").status_code == 204
    counts = queries.unread_counts(person)
    assert [counts.get(posting.source_id, 0) for posting in postings] == [0, 1, 1]


def test_renaming_leaves_a_folder_in_its_place(program, person):
    news = a_folder(person, "News")
    inner = a_folder(person, "Local", parent=news)
    address = f"categories/{category_id_of(inner.pk)}"
    assert program.request("put", address, {"title": "News / Town"}).json()["title"] == "News / Town"
    assert program.request("put", address, {"title": "Village"}).json()["title"] == "News / Village"
    inner.refresh_from_db()
    assert (inner.name, inner.parent) == ("Village", news)


def test_categories_are_deleted_from_the_inside(program, person):
    news = a_folder(person, "News")
    inner = a_folder(person, "Local", parent=news)
    follow = a_follow(person, folders=(inner,))
    outer, inside = (f"categories/{category_id_of(folder.pk)}" for folder in (news, inner))
    assert program.request("delete", outer).status_code == 400
    assert [program.request("delete", address).status_code for address in (inside, outer)] == [204, 204]
    assert program.request("delete", "categories/1").status_code == 400
    assert queries.follow_of(person, follow.source_id) is not None


def test_a_category_exists_once(program):
    assert program.request("post", "categories", {"title": "News"}).status_code == 201
    again = program.request("post", "categories", {"title": "News"})
    assert (again.status_code, again.json()["error_message"]) == (400, "This category already exists.")


# --- feeds ------------------------------------------------------------------------------------------------------------
def test_a_feed_has_its_check_times(program, person):
    source = a_source(state="gone", site_url="javascript:alert(1)")
    a_schedule(source, requested_at=NOON, due_at=None, consecutive_failures=4)
    a_follow(person, source, title="Mine", muted=True, full_text="page")
    feed = program.request("get", f"feeds/{source.pk}").json()
    assert feed["title"] == "Mine"
    assert feed["checked_at"] == "2024-05-01T12:00:00Z"
    assert (feed["disabled"], feed["hide_globally"], feed["crawler"]) == (True, True, True)
    assert (feed["parsing_error_count"], feed["icon"], feed["site_url"]) == (4, None, source.url)


def test_a_moved_feed_is_in_its_new_category_alone(program, person):
    old, second, new = (a_folder(person, name) for name in "ABC")
    follow = a_follow(person, folders=(old, second))
    address = f"feeds/{follow.source_id}"
    whole = program.request("get", address).json()
    before = Follow.objects.values().get(pk=follow.pk)
    assert program.request("put", address, whole | {"category_id": whole["category"]["id"]}).status_code == 201
    assert set(follow.folders.all()) == {old, second}  # data again, it changes nothing
    assert Follow.objects.values().get(pk=follow.pk) == before
    assert program.request("put", address, {"category_id": category_id_of(new.pk)}).json()["category"]["title"] == "C"
    assert set(follow.folders.all()) == {new}
    assert program.request("put", address, {"category_id": 1}).json()["category"]["title"] == "All"


@pytest.mark.parametrize("data", [{"feed_url": "https://b.example/"}, {"disabled": True}, {"crawler": 3}])
def test_shared_fields_of_a_feed_cannot_be_changed(program, person, data):
    follow = a_follow(person)
    before = Follow.objects.values().get(pk=follow.pk)
    assert program.request("put", f"feeds/{follow.source_id}", data | {"title": "New"}).status_code == 400
    assert Follow.objects.values().get(pk=follow.pk) == before


def test_the_title_of_the_source_is_not_stored_as_the_users(program, person):
    follow = a_follow(person, title="Mine")
    program.request("put", f"feeds/{follow.source_id}", {"title": follow.source.title})
    follow.refresh_from_db()
    assert follow.title == ""


# --- entries ----------------------------------------------------------------------------------------------------------
def test_an_entry_is_what_programs_expect(program, person):
    source = a_source(title="The Daily")
    a_follow(person, source)
    posting = a_posting(
        source,
        title="Ships",
        html="<p>Sailed.</p>",
        text="Sailed. " * 400,
        author="Cy",
        url="javascript:alert(1)",
        categories=["sea"],
        enclosures=[{"url": "https://a.example/1.mp3", "media_type": "audio/mpeg", "length": 7}],
    )
    data = program.request("get", f"entries/{posting.pk}").json()
    assert data["feed"]["title"] == "The Daily"
    assert {name: data[name] for name in ("id", "feed_id", "title", "content", "author", "status", "starred")} == {
        "id": posting.pk,
        "feed_id": source.pk,
        "title": "Ships",
        "content": "<p>Sailed.</p>",
        "author": "Cy",
        "status": "unread",
        "starred": False,
    }
    assert data["url"] == ""  # other programs would run it
    assert (data["published_at"], data["tags"], data["reading_time"]) == ("2024-05-01T11:00:00Z", ["sea"], 2)
    [enclosure] = data["enclosures"]
    assert (enclosure["url"], enclosure["mime_type"], enclosure["size"]) == ("https://a.example/1.mp3", "audio/mpeg", 7)


def test_newsboats_form_is_read_as_the_json_that_it_is(program, person):
    posting = a_posting(a_follow(person).source)
    answer = program.client.put(
        "/v1/entries",
        json.dumps({"entry_ids": [posting.pk], "status": "read"}),
        content_type="application/x-www-form-urlencoded",
        headers={"X-Auth-Token": program.secret},
    )
    assert (answer.status_code, answer.content, answer.has_header("Content-Type")) == (204, b"", False)
    assert queries.unread_counts(person) == {}


def test_a_single_entry_marked_read_enters_the_history(program, person):
    postings = some_postings(3, a_follow(person).source)
    program.request("put", "entries", {"entry_ids": [postings[0].pk], "status": "read"})
    program.request("put", "entries", {"entry_ids": [postings[1].pk, postings[2].pk], "status": "read"})
    assert [reading.posting for reading in Reading.objects.all()] == [postings[0]]
    assert program.request("delete", "flush-history").status_code == 202
    assert not Reading.objects.exists()
    assert queries.unread_counts(person) == {}


def test_a_starred_posting_stays_when_its_source_is_followed_no_more(program, person):
    follow = a_follow(person)
    posting = a_posting(follow.source)
    assert program.request("put", f"entries/{posting.pk}/star").status_code == 204
    actions.unfollow(person, follow.source_id)
    assert program.entries(starred="true") == (1, [posting.pk])
    assert program.entries() == (0, [])
    assert program.request("get", f"entries/{posting.pk}").json()["feed"]["category"]["title"] == "All"
    program.request("put", f"entries/{posting.pk}/star")
    assert program.request("get", f"entries/{posting.pk}").status_code == 404


def test_a_thousand_entries_are_complete_and_in_order(program, person):
    """They are streamed in pieces, each with its own queries."""
    newest = [posting.pk for posting in some_postings(230, a_follow(person).source)]
    assert program.entries(direction="desc", limit=1_000) == (230, newest)
    assert program.entries(direction="desc", limit=150, offset=70) == (230, newest[70:220])
    assert program.entries(direction="desc", limit=150, offset=2_000) == (230, [])
