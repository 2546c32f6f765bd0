"""Nothing works without a token, no change with a read-only one, and nothing on data of others."""

import pytest
from django.db import transaction
from django.test import Client
from pytest_django import DjangoDbBlocker

from apps.accounts.models import User
from apps.following import actions
from apps.following.models import Folder, Follow, Mark, Share, Tag, Tagging
from extensions.dialects.google_reader.formats.ids import long_form
from extensions.dialects.google_reader.urls import urlpatterns
from tests.apps.api.google_reader import BROADCAST, READ, READING_LIST, STARRED, Program, label, quoted
from tests.builders import NOON, a_folder, a_follow, a_mark, a_posting, a_source, a_user

pytestmark = pytest.mark.django_db

READS = {
    "token": {}, "user-info": {}, "friend/list": {}, "preference/list": {}, "preference/stream/list": {},
    "subscription/list": {}, "subscription/export": {}, "tag/list": {}, "unread-count": {}, "stream/contents": {},
    "stream/contents/{feed}": {}, "stream/items/ids": {"s": "{feed}"}, "stream/items/contents": {"i": "{item}"},
    "stream/items/count": {"s": "{feed}"}, "/reader/atom/{feed}": {}, "/api/greader.php": {},
}  # fmt: skip
CHANGES = {
    "subscription/edit": [
        {"ac": "subscribe", "s": "{feed}"}, {"ac": "edit", "s": "{feed}", "t": "Other", "a": "{label}"},
        {"ac": "edit", "s": "{feed}", "r": "{label}"}, {"ac": "unsubscribe", "s": "{feed}"},
    ],
    "subscription/quickadd": [{"quickadd": "nowhere"}],
    "subscription/import": [{"x": "y"}],
    "rename-tag": [{"s": "{label}", "dest": "user/-/label/Other"}, {"s": "{tag}", "dest": "user/-/label/Other"}],
    "disable-tag": [{"s": "{label}"}, {"s": "{tag}"}],
    "edit-tag": [
        {"i": "{item}", "a": READ}, {"i": "{item}", "r": STARRED}, {"i": "{item}", "a": "{tag}"},
        {"i": "{item}", "r": "{tag}"}, {"i": "{item}", "a": BROADCAST}, {"i": "{item}", "r": BROADCAST},
    ],
    "mark-all-as-read": [{"s": "{feed}"}, {"s": "{label}"}, {"s": "{tag}"}, {"s": STARRED}, {"s": READING_LIST}],
}  # fmt: skip


@pytest.fixture(scope="module")
def rows_of_world(django_db_setup: None, django_db_blocker: DjangoDbBlocker):
    """A person who follows a source of their own and has done everything with its posting.

    Made once for all tests, each of which rolls back what it changes.
    """
    with django_db_blocker.unblock(), transaction.atomic():
        owner = a_user("owner")
        source = a_source(title="Of the owner")
        a_follow(owner, source, title="Private", folders=(a_folder(owner, "Hidden"),))
        posting = a_posting(source, title="Behind the door")
        a_mark(owner, posting, starred_at=NOON, read=False)
        actions.marks.tag(owner, [posting.pk], "secret", NOON)
        actions.marks.share(owner, posting.pk, now=NOON)
        yield {
            "feed": f"feed/{source.pk}",
            "item": long_form(posting.pk),
            "label": label("Hidden"),
            "tag": label("secret"),
            "posting": posting,
            "source": source,
        }
        transaction.set_rollback(True)


@pytest.fixture
def world(rows_of_world, db):
    return rows_of_world | {"owner": User.objects.get(username="owner")}


def filled(text, world):
    names = {name: world[name] for name in ("feed", "item", "label", "tag")}
    return text.format(**names) if isinstance(text, str) else text


def everything():
    return [
        list(model.objects.order_by("pk").values())
        for model in (Follow, Folder, Follow.folders.through, Mark, Tag, Tagging, Share)
    ]


def test_every_address_is_tried():
    named = len(urlpatterns)
    assert named == len(READS) - 1 + len(CHANGES) + 1  # contents have two addresses in one; and one is the root


# --- no token, and one that only reads --------------------------------------------------------------------------------
@pytest.mark.parametrize("path", [*READS, *CHANGES])
@pytest.mark.parametrize("headers", [{}, {"Authorization": "GoogleLogin auth=owner/wb_guessed"}])
def test_every_address_requires_a_token_even_with_a_session(world, path, headers):
    client = Client()
    client.force_login(world["owner"])
    address = filled(path if path.startswith("/") else f"/reader/api/0/{path}", world)
    before = everything()
    methods = [client.post] if path in CHANGES else [client.get] if "atom" in path else [client.get, client.post]
    for method in methods:
        answer = method(address, {"s": world["feed"], "i": world["item"]}, headers=headers)
        assert answer.status_code == 401
        assert b"Behind" not in answer.content
    assert everything() == before


@pytest.mark.parametrize("path", CHANGES)
def test_a_token_that_only_reads_changes_nothing(world, path):
    program = Program(world["owner"], ("read",))
    before = everything()
    for fields in CHANGES[path]:
        answer = program.post(path, **{name: filled(text, world) for name, text in fields.items()})
        assert answer.status_code == 403
    assert everything() == before


@pytest.mark.parametrize("path", READS)
def test_a_token_that_only_reads_reads(world, path):
    program = Program(world["owner"], ("read",))
    assert (
        program.get(
            filled(path, world), **{name: filled(text, world) for name, text in READS[path].items()}
        ).status_code
        == 200
    )


def test_get_requests_change_nothing(world):
    program = Program(world["owner"])
    for path, changes in CHANGES.items():
        assert program.get(path, **{name: filled(text, world) for name, text in changes[0].items()}).status_code == 405


# --- other users ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("path", READS)
def test_data_of_others_cannot_be_read(world, path):
    stranger = Program(a_user("stranger"))
    answer = stranger.get(filled(path, world), **{name: filled(text, world) for name, text in READS[path].items()})
    assert answer.status_code in (200, 404)
    text = answer.content.decode()
    for word in ("Behind", "Private", "Hidden", "secret", "owner", world["source"].url):
        assert word not in text


@pytest.mark.parametrize("path", CHANGES)
def test_data_of_others_cannot_be_changed(world, path):
    stranger = Program(a_user("stranger"))
    before = everything()
    for fields in CHANGES[path]:
        stranger.post(path, **{name: filled(text, world) for name, text in fields.items()})
        assert everything() == before


@pytest.mark.parametrize("state", [STARRED, BROADCAST, READ, "user/-/state/com.google/kept-unread"])
def test_of_a_source_that_both_follow_each_sees_their_own_states(world, state):
    stranger = a_user("stranger")
    a_follow(stranger, world["source"])
    program = Program(stranger)
    assert program.ids(s=state) == []
    [item] = program.items(world["posting"].pk)
    assert set(item["categories"]) == {READING_LIST, "user/-/state/com.google/fresh"}
    assert item["origin"]["title"] == "Of the owner"
    assert program.json("tag/list")["tags"][2:] == []


@pytest.mark.parametrize("who", ["owner", "{pk}"])
def test_streams_of_others_are_refused(world, who):
    program = Program(a_user("stranger"))
    name = who.format(pk=world["owner"].pk)
    for stream in (f"user/{name}/state/com.google/starred", f"user/{name}/label/secret"):
        for path in (f"stream/contents/{quoted(stream)}", f"/reader/atom/{quoted(stream)}"):
            assert program.get(path).status_code == 404
        assert program.get("stream/items/ids", s=stream).status_code == 404
        assert program.post("mark-all-as-read", s=stream).status_code == 404


def test_starred_items_stay_readable_after_unfollowing(world):
    actions.follows.unfollow(world["owner"], world["source"].pk)
    program = Program(world["owner"])
    assert program.ids(s=STARRED) == [world["posting"].pk]
    [item] = program.items(world["posting"].pk)
    assert READING_LIST not in item["categories"]
    assert STARRED in item["categories"]
