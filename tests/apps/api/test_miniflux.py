"""Miniflux' API: who may what, and what categories, feeds and entries are."""

import json
import re

import pytest

from apps.api.queries.feeds import category_id_of
from apps.following import actions, queries
from apps.following.models import Folder, Follow, Mark, Reading
from extensions.dialects.miniflux.formats.responses import enclosure_id
from extensions.dialects.miniflux.urls import urlpatterns
from tests.apps.api.miniflux import Program
from tests.builders import (
    NOON,
    a_folder,
    a_follow,
    a_posting,
    a_schedule,
    a_source,
    a_user,
    some_postings,
)

pytestmark = pytest.mark.django_db

METHODS = ("get", "post", "put", "delete")


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
def test_an_entry_has_the_fields_that_programs_expect(program, person):
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
    actions.follows.unfollow(person, follow.source_id)
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
