"""Whole syncs of as many unread items as an answer may have, as clients make them.

Limits are a tenth of the portal's, unless `WIREBEAT_SYNC_ITEMS=10000` says otherwise.
"""

import json
import os
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.following import actions
from apps.following.models import Follow
from apps.postings.models import Posting
from apps.sources.models import Source
from extensions.dialects.google_reader.views import streams
from tests.apps.api.google_reader import READ, READING_LIST, STARRED, Program, label
from tests.builders import NOON, a_folder, a_user

pytestmark = pytest.mark.django_db

FEEDS = 200
ITEMS = int(os.environ.get("WIREBEAT_SYNC_ITEMS", "1000"))
AT_ONCE = ITEMS // 10
WORDS = "<p>Words of a posting as long as most of them are, with <a href='https://a.example/'>a link</a>.</p>" * 10


def follow_feeds(person, how_many: int) -> list[Source]:
    """In ten folders."""
    sources = Source.objects.bulk_create(
        Source(url=f"https://feed{number}.example/", title=f"Feed {number}") for number in range(how_many)
    )
    follows = Follow.objects.bulk_create(
        Follow(user=person, source=source, unread_from=NOON - timedelta(days=365)) for source in sources
    )
    folders = [a_folder(person) for _ in range(10)]
    link = Follow.folders.through
    link.objects.bulk_create(link(follow=follow, folder=folders[number % 10]) for number, follow in enumerate(follows))
    return sources


def publish(sources: list[Source], how_many: int) -> list[int]:
    """Postings of the sources in turn, a second apart, the newest first; their ids."""
    blank = dict.fromkeys(("author", "language", "image_url", "comments_url"), "")
    postings = Posting.objects.bulk_create(
        Posting(
            source=sources[number % len(sources)],
            identity=number.to_bytes(16),
            **dict.fromkeys(("link_key", "content_hash", "text_hash"), bytes(16)),
            guid=str(number),
            url=f"https://feed.example/{number}",
            title=f"Posting {number}",
            html=WORDS,
            text=WORDS,
            categories=[],
            enclosures=[],
            published_at=NOON - timedelta(seconds=number),
            retrieved_at=NOON - timedelta(seconds=number),
            **blank,
        )
        for number in range(how_many)
    )
    return [posting.pk for posting in postings]


@pytest.fixture
def person():
    return a_user("ada")


@pytest.fixture
def program(person):
    return Program(person)


@pytest.fixture
def newest(person, monkeypatch):
    """The ids of all unread items and one that was read, all of them followed, the newest first."""
    monkeypatch.setattr(streams, "MAX_IDS", ITEMS)
    monkeypatch.setattr(streams, "MAX_ITEMS", AT_ONCE)
    newest = publish(follow_feeds(person, FEEDS), ITEMS + 1)
    actions.marks.mark_read(person, [newest[7]], read=True, now=NOON)
    actions.marks.tag(person, newest[:50], "later", NOON)
    actions.marks.mark_for_all([(person.pk, id) for id in newest[:20]], now=NOON, starred_at=NOON)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return newest


def chunks(ids: list[int], size: int) -> list[list[int]]:
    return [ids[start : start + size] for start in range(0, len(ids), size)]


def contents(program: Program, written: list[str]) -> list[dict]:
    answer = program.post("stream/items/contents", i=written, output="json", T="x")
    return json_of(answer)["items"]


def json_of(answer):
    assert answer.status_code == 200
    return json.loads(answer.getvalue())


# --- Reeder -----------------------------------------------------------------------------------------------------------
def test_a_sync_as_reeder_makes_it(program, newest):
    assert len(program.json("subscription/list", output="json")["subscriptions"]) == FEEDS
    assert len(program.json("tag/list", output="json")["tags"]) == 13
    found = program.json("stream/items/ids", s=READING_LIST, n=ITEMS, xt=READ, output="json")
    unread = [int(ref["id"]) for ref in found["itemRefs"]]
    assert unread == [id for id in newest if id != newest[7]]
    assert "continuation" not in found
    assert program.ids(s=STARRED, n=ITEMS) == newest[:20]
    received = [item for chunk in chunks(unread, AT_ONCE) for item in contents(program, [f"{id:016x}" for id in chunk])]
    assert [int(item["id"].rpartition("/")[2], 16) for item in received] == unread
    assert not any(READ in item["categories"] for item in received)
    assert sum(label("later") in item["categories"] for item in received) == 49


# --- NetNewsWire ------------------------------------------------------------------------------------------------------
def test_a_sync_as_netnewswire_makes_it(program, newest):
    """It follows continuations, and uses long ids without leading zeros."""
    assert len(program.json("tag/list", output="json")["tags"]) == 13
    assert len(program.json("subscription/list", output="json")["subscriptions"]) == FEEDS
    unread, place = [], {}
    while True:
        result = program.json("stream/items/ids", s=READING_LIST, n=AT_ONCE, xt=READ, output="json", **place)
        unread += [int(ref["id"]) for ref in result["itemRefs"]]
        if "continuation" not in result:
            break
        place = {"c": result["continuation"]}
    assert unread == [id for id in newest if id != newest[7]]
    since = int((NOON - timedelta(days=90)).timestamp())
    assert program.ids(s=READING_LIST, n=ITEMS, ot=since) == newest[:ITEMS]
    received = [
        item["id"]
        for chunk in chunks(unread, 150)
        for item in contents(program, [f"tag:google.com,2005:reader/item/{id:x}" for id in chunk])
    ]
    assert [int(written.rpartition("/")[2], 16) for written in received] == unread


# --- costs ------------------------------------------------------------------------------------------------------------
def test_items_take_queries_by_the_answer_and_not_by_the_item(person, program):
    newest = publish(follow_feeds(person, 20), 1_001)

    def queries(path: str, **fields) -> int:
        with CaptureQueriesContext(connection) as captured:
            json_of(program.post(path, **fields))
        return len(captured)

    queries("stream/items/contents", i=newest[:1])
    few = queries("stream/items/contents", i=newest[:2])
    assert queries("stream/items/contents", i=newest[:500]) == few
    assert queries("stream/items/contents", i=newest[:1_001]) == few + 2 * 3  # two more pieces of three queries each
    few = queries("stream/items/ids", s=READING_LIST, n=1, xt=READ)
    assert queries("stream/items/ids", s=READING_LIST, n=10_000, xt=READ) == few


@pytest.fixture
def thousand(person, program):
    """A thousand feeds with as many unread items each, on a warm connection."""
    publish(follow_feeds(person, 1_000), ITEMS)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    program.get("token")


def test_numbers_of_a_thousand_feeds(program, thousand):
    result = program.json("unread-count", output="json", all="true")
    assert result["max"] == ITEMS
    assert len(result["unreadcounts"]) == 1_000 + 10 + 1
