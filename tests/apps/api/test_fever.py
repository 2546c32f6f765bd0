"""Fever's API: who may sign in, what is answered, and what marks do."""

from datetime import timedelta
from hashlib import md5

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.accounts.actions import make_token, revoke_token
from apps.accounts.models import AppToken
from apps.api.views.access import WRONG_SECRETS
from apps.following import queries
from apps.following.models import Follow, Mark
from apps.following.queries import Scope
from extensions.dialects.fever.formats import MAX_ITEMS
from tests.builders import NOON, a_folder, a_follow, a_mark, a_posting, a_schedule, a_source, a_user, some_postings

pytestmark = pytest.mark.django_db


def key_of(name, secret):
    return md5(f"{name}:{secret}".encode()).hexdigest()


class Program:
    """A program that acts for a person over Fever."""

    def __init__(self, person, scopes=("read", "write")):
        self.token, secret = make_token(person, "Phone", scopes, now=NOON, for_fever=True)
        self.key = key_of(person.username, secret)

    def request(self, query="", status=200):
        answer = Client().post(f"/fever/?api&{query}", {"api_key": self.key})
        assert answer.status_code == status, answer.content
        assert answer.json()["api_version"] == 3
        return answer.json()


@pytest.fixture
def program(person):
    return Program(person)


def ids(data):
    return [int(word) for word in data.split(",") if word]


# --- signing in -------------------------------------------------------------------------------------------------------
def test_a_key_signs_in_by_every_address(program):
    for address in ("/fever/?api", "/fever?api", "/api/fever.php?api"):
        assert Client().post(address, {"api_key": program.key.upper()}).json()["auth"] == 1


def test_without_a_key_nothing_is_returned(program, person, client):
    client.force_login(person)
    for data in ({}, {"api_key": ""}, {"api_key": "0" * 32}):
        answer = client.post("/fever/?api&items&feeds", data)
        assert (answer.status_code, answer.json()) == (200, {"api_version": 3, "auth": 0})
    assert client.get(f"/fever/?api&feeds&api_key={program.key}").json()["auth"] == 0  # addresses are logged


def test_only_a_token_that_was_made_for_it_signs_in(person):
    _, secret = make_token(person, "Phone", ["read"], now=NOON)
    assert Client().post("/fever/?api", {"api_key": key_of("Ada", secret)}).json()["auth"] == 0


def test_the_key_is_not_stored(program):
    kept = " ".join(str(value) for value in AppToken.objects.values_list().get())
    assert program.key not in kept


def test_tokens_that_are_revoked_or_of_locked_users_are_refused(program, person):
    person.is_active = False
    person.save(update_fields=["is_active"])
    assert program.request()["auth"] == 0
    person.is_active = True
    person.save(update_fields=["is_active"])
    assert program.request()["auth"] == 1
    revoke_token(person, program.token.pk)
    assert program.request()["auth"] == 0


def test_wrong_keys_are_limited_and_the_valid_one_still_works(program):
    for _ in range(WRONG_SECRETS + 1):
        answer = Client().post("/fever/?api", {"api_key": "0" * 32})
    assert answer.status_code == 429
    assert program.request()["auth"] == 1


@pytest.mark.parametrize("query", ["mark=item&as=read&id={}", "mark=group&as=read&id=0"])
def test_a_token_that_may_only_read_marks_nothing(person, query):
    posting = a_posting(a_follow(person).source)
    data = Program(person, ["read"]).request(query.format(posting.pk), status=403)
    assert (data["auth"], data["error"]) == (1, "This token does not allow changes.")
    assert queries.unread_counts(person) == {posting.source_id: 1}


def test_the_page_of_tokens_says_how_to_sign_in(client, person):
    client.force_login(person)
    page = client.post(reverse("app_tokens"), {"name": "Phone", "scopes": ["read"], "for_fever": "on"})
    assert "/fever/" in page.text
    assert "<code>Ada</code>" in page.text
    key = key_of("Ada", page.context["secret"])
    assert Client().post("/fever/?api", {"api_key": key}).json()["auth"] == 1
    other = client.post(reverse("app_tokens"), {"name": "Desk", "scopes": ["read"]})
    assert "/fever/" not in other.text
    assert other.text.count(">Fever</span>") == 1


# --- what is answered -------------------------------------------------------------------------------------------------
def test_groups_are_folders_with_subfolders(program, person):
    news = a_folder(person, "News")
    inner = a_folder(person, "Local", parent=news)
    top, below = a_follow(person, folders=(news,)), a_follow(person, folders=(inner,))
    a_follow(person, folders=(news,), muted=True)
    loose = a_follow(person)
    a_folder(a_user("Eve"), "Secrets")
    data = program.request("groups&feeds&favicons")
    assert data["groups"] == [{"id": news.pk, "title": "News"}, {"id": inner.pk, "title": "News / Local"}]
    assert data["feeds_groups"] == [
        {"group_id": news.pk, "feed_ids": f"{top.source_id},{below.source_id}"},
        {"group_id": inner.pk, "feed_ids": f"{below.source_id}"},
    ]
    assert {feed["id"] for feed in data["feeds"]} == {follow.source_id for follow in (top, below, loose)}
    assert data["favicons"] == []


def test_a_feed_has_its_times(program, person):
    source = a_source(title="The Daily", site_url="https://daily.example/")
    a_schedule(source, requested_at=NOON)
    a_follow(person, source)
    data = program.request("feeds")
    assert data["last_refreshed_on_time"] == int(NOON.timestamp())
    assert data["feeds"] == [
        {
            "id": source.pk,
            "favicon_id": 0,
            "title": "The Daily",
            "url": source.url,
            "site_url": "https://daily.example/",
            "is_spark": 0,
            "last_updated_on_time": int(NOON.timestamp()),
        }
    ]


def test_an_item_has_the_fields_that_programs_expect(program, person):
    posting = a_posting(a_follow(person).source, title="Ships", author="Cy", html="<p>Sailed.", url="javascript:x")
    a_mark(person, posting, starred_at=NOON)
    assert program.request("items")["items"] == [
        {
            "id": posting.pk,
            "feed_id": posting.source_id,
            "title": "Ships",
            "author": "Cy",
            "html": "<p>Sailed.",
            "url": "",
            "is_saved": 1,
            "is_read": 0,
            "created_on_time": int(posting.published_at.timestamp()),
        }
    ]


def test_an_item_without_a_title_shows_its_first_words(program, person):
    a_posting(a_follow(person).source, title="", html=f"<p>Ships <b>sailed</b> &amp; {'so on ' * 30}</p>")
    [item] = program.request("items")["items"]
    assert item["title"].startswith("Ships sailed & so on")
    assert item["title"].endswith("…")
    assert len(item["title"]) <= 80


def test_items_come_fifty_at_a_time_in_both_directions(program, person):
    follows = [a_follow(person) for _ in range(3)]
    all_ids = sorted(a_posting(follows[number % 3].source).pk for number in range(MAX_ITEMS * 2 + 7))
    some_postings(3, a_follow(person, muted=True).source)
    some_postings(3)
    up, down = [], []
    while page := program.request(f"items&since_id={up[-1] if up else 0}"):
        assert page["total_items"] == len(all_ids)
        if not page["items"]:
            break
        up += [item["id"] for item in page["items"]]
    while found := program.request(f"items&max_id={down[-1] if down else 2**62}")["items"]:
        down += [item["id"] for item in found]
    assert up == all_ids
    assert down == all_ids[::-1]
    assert [item["id"] for item in program.request(f"items&with_ids={up[7]},{up[3]}")["items"]] == [up[7], up[3]]


def test_unread_and_saved_ids(program, person):
    follow = a_follow(person)
    new, read, saved = some_postings(3, follow.source)
    a_mark(person, read, read=True)
    a_mark(person, saved, read=True, starred_at=NOON)
    elsewhere = a_mark(person, a_posting(), starred_at=NOON - timedelta(hours=1)).posting
    data = program.request("unread_item_ids&saved_item_ids")
    assert ids(data["unread_item_ids"]) == [new.pk]
    assert ids(data["saved_item_ids"]) == [saved.pk, elsewhere.pk]
    assert len(program.request(f"items&with_ids={elsewhere.pk}")["items"]) == 1


@pytest.mark.parametrize(
    "query",
    [
        "items&with_ids=" + ",".join(map(str, range(51))),
        "items&with_ids=some",
        "items&since_id=x",
        "items&max_id=" + "9" * 30,
        "mark=item&as=read",
        "mark=item&as=lost&id=1",
        "mark=feed&as=saved&id=1",
        "mark=feed&as=read&id=1&before=noon",
    ],
)
def test_invalid_parameters_are_named(program, query):
    data = program.request(query, status=400)
    assert (data["auth"], bool(data["error"])) == (1, True)


def test_everything_takes_the_same_queries_for_many(program, person):
    names = "groups&feeds&favicons&items&links&unread_item_ids&saved_item_ids"

    def cost():
        with CaptureQueriesContext(connection) as queries_made:
            program.request(names)
        return len(queries_made)

    def more():
        source = a_follow(person, folders=(a_folder(person, parent=a_folder(person)),)).source
        for posting in some_postings(3, source):
            a_mark(person, posting, starred_at=NOON, read=False)

    more()
    cost()  # which counts all items, and notes that the token is used
    few = cost()
    for _ in range(20):
        more()
    assert cost() == few < 32


# --- marks ------------------------------------------------------------------------------------------------------------
def test_items_are_marked(program, person):
    posting = a_posting(a_follow(person).source)
    assert program.request(f"mark=item&as=read&id={posting.pk}")["unread_item_ids"] == ""
    assert queries.unread_counts(person) == {}
    program.request(f"mark=item&as=unread&id={posting.pk}")
    assert queries.unread_counts(person) == {posting.source_id: 1}
    assert program.request(f"mark=item&as=saved&id={posting.pk}")["saved_item_ids"] == str(posting.pk)
    assert list(queries.postings_in(person, Scope("starred"))) == [posting]
    program.request(f"mark=item&as=unsaved&id={posting.pk}")
    assert not queries.postings_in(person, Scope("starred")).exists()


def test_lists_are_marked_as_of_the_programs_last_request(program, person):
    folder = a_folder(person)
    early, late, loose = a_follow(person, folders=(folder,)), a_follow(person, folders=(folder,)), a_follow(person)
    for follow in (early, late, loose):
        a_posting(follow.source, published_at=NOON - timedelta(days=2))
    newer = a_posting(late.source, published_at=NOON)
    program.request(f"mark=group&as=read&id={folder.pk}&before={int(NOON.timestamp())}")
    assert queries.unread_counts(person) == {newer.source_id: 1, loose.source_id: 1}
    program.request(f"mark=feed&as=read&id={late.source_id}")
    assert queries.unread_counts(person) == {loose.source_id: 1}
    program.request("mark=group&as=read&id=0")
    assert queries.unread_counts(person) == {}


def test_data_of_others_is_out_of_reach(program):
    eve = a_user("Eve")
    folder = a_folder(eve)
    follow = a_follow(eve, a_source(listed=True), folders=(folder,))
    posting = a_posting(follow.source)
    a_mark(eve, posting, starred_at=NOON)
    before = list(Mark.objects.values()), list(Follow.objects.values())
    for kind, id in (("item", posting.pk), ("feed", follow.source_id), ("group", folder.pk), ("group", 0)):
        for state in ("read",) if kind != "item" else ("read", "unread", "saved", "unsaved"):
            program.request(f"mark={kind}&as={state}&id={id}")
    assert (list(Mark.objects.values()), list(Follow.objects.values())) == before
    data = program.request(f"groups&feeds&items&with_ids={posting.pk}&unread_item_ids&saved_item_ids")
    assert [data[name] for name in ("groups", "feeds", "items", "unread_item_ids", "saved_item_ids")] == [
        [],
        [],
        [],
        "",
        "",
    ]
