"""Contents and order of streams, and the fields of items."""

from datetime import timedelta
from itertools import pairwise

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.http import parse_http_date
from django.utils.timezone import now
from lxml import etree

from apps.following import actions
from apps.postings.algorithms.times import microseconds
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
    quoted,
)
from tests.builders import NOON, a_folder, a_follow, a_mark, a_posting, a_source, a_user, some_postings

pytestmark = pytest.mark.django_db


@pytest.fixture
def person():
    return a_user("ada")


@pytest.fixture
def program(person):
    return Program(person)


def ids_of(postings):
    return [posting.pk for posting in postings]


# --- what streams hold ------------------------------------------------------------------------------------------------
@pytest.fixture
def library(person):
    """Two feeds, one in a folder in a folder, the other muted; a stranger's feed; and marks of every kind."""
    world = a_folder(person, "World", a_folder(person, "News"))
    filed, muted, strange = a_source(), a_source(), a_source()
    a_follow(person, filed, folders=(world,))
    a_follow(person, muted, muted=True)
    read, starred, kept, plain = postings = some_postings(4, filed)
    quiet, hidden = a_posting(muted), a_posting(strange)
    a_mark(person, read, read=True)
    a_mark(person, starred, starred_at=NOON)
    a_mark(person, kept, read=False)
    actions.marks.tag(person, [plain.pk, quiet.pk], "later", NOON)
    actions.marks.share(person, plain.pk, now=NOON)
    a_mark(a_user(), hidden, starred_at=NOON, read=False)
    return {"read": read, "starred": starred, "kept": kept, "plain": plain, "quiet": quiet} | {
        "feed": filed, "muted": muted, "strange": strange, "all": postings,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("stream", "held"),
    [
        (READING_LIST, "read starred kept plain"),
        (READ, "read"),
        (STARRED, "starred"),
        (KEPT_UNREAD, "kept"),
        (FRESH, "starred plain"),
        ("user/-/state/com.google/unread", "starred kept plain"),
        (BROADCAST, "plain"),
        (label("News"), "read starred kept plain"),
        (label("News / World"), "read starred kept plain"),
        (label("later"), "plain quiet"),
        ("user/ada/state/com.google/starred", "starred"),
    ],
)
def test_streams_contain_the_postings_of_the_portal(program, library, stream, held):
    wanted = {library[name].pk for name in held.split()}
    assert set(program.ids(s=stream, n=100)) == wanted
    assert {item["id"] for item in program.json(f"stream/contents/{quoted(stream)}")["items"]} == set(
        map(long_form, wanted)
    )
    assert program.get("stream/items/count", s=stream).content == f"{len(wanted)}\n".encode()


def test_a_feed_is_named_by_its_number_or_its_address(program, library):
    for stream in (f"feed/{library['feed'].pk}", f"feed/{library['feed'].url}"):
        assert program.ids(s=stream) == ids_of(library["all"])
    assert program.ids(s=f"feed/{library['muted'].pk}") == [library["quiet"].pk]


@pytest.mark.parametrize(
    ("fields", "held"),
    [
        ({"xt": READ}, "starred kept plain"),
        ({"it": "user/-/state/com.google/unread"}, "starred kept plain"),
        ({"xt": STARRED}, "read kept plain"),
        ({"xt": [READ, STARRED]}, "kept plain"),
        ({"xt": KEPT_UNREAD}, "read starred plain"),
        ({"xt": FRESH}, "read kept"),
        ({"it": STARRED}, "starred"),
        ({"it": READ}, "read"),
        ({"it": KEPT_UNREAD}, "kept"),
        ({"it": label("later")}, "plain"),
        ({"xt": label("later")}, "read starred kept"),
        ({"xt": label("News")}, ""),
        ({"it": BROADCAST, "xt": READ}, "plain"),
    ],
)
def test_included_and_excluded_states_filter_items(program, library, fields, held):
    assert set(program.ids(s=READING_LIST, **fields)) == {library[name].pk for name in held.split()}


def test_several_streams_are_one(program, library):
    streams = [STARRED, label("later"), f"feed/{library['feed'].pk}"]
    assert program.ids(s=streams, merge="true") == [*ids_of(library["all"]), library["quiet"].pk]
    assert program.ids(s=streams, n=2, r="o") == [library["quiet"].pk, library["plain"].pk]


def test_a_label_is_a_folder_and_a_tag(program, person, library):
    actions.marks.tag(person, [library["quiet"].pk], "News", NOON)
    assert set(program.ids(s=label("News"))) == {*ids_of(library["all"]), library["quiet"].pk}
    assert program.get("stream/items/count", s=label("News")).content == b"5\n"


@pytest.mark.parametrize(
    "stream", ["feed/999999", "feed/https://unknown.example/", label("nothing"), "user/-/state/com.google/like"]
)
def test_unknown_streams_are_named(program, library, stream):
    answer = program.get("stream/items/ids", s=stream)
    assert answer.status_code == 404
    assert stream.rpartition("/")[2][:10] in answer.content.decode()


def test_the_count_includes_the_day_of_the_newest(program, library):
    assert program.get("stream/items/count", s=READING_LIST, a="true").content == b"4#May 01, 2024\n"


# --- order and parts --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("order", ["n", "o"])
@pytest.mark.parametrize("fields", [{}, {"xt": READ}, {"xt": STARRED}, {"ot": "1"}])
def test_parts_follow_each_other_while_news_arrive(program, person, order, fields):
    source = a_source()
    a_follow(person, source)
    postings = some_postings(7, source)
    expected = ids_of(postings if order == "n" else postings[::-1])
    found, place = [], ""
    while True:
        result = program.json("stream/items/ids", s=READING_LIST, n=2, r=order, c=place, **fields)
        found += [int(ref["id"]) for ref in result["itemRefs"]]
        place = result.get("continuation", "")
        if not place:
            break
        assert isinstance(place, str)
        late = NOON - timedelta(days=1) if order == "o" else NOON + timedelta(days=1)
        a_posting(source, published_at=late)  # before postings that were listed already
    assert found == expected


def test_an_invalid_continuation_is_refused(program):
    assert program.get("stream/items/ids", s=READING_LIST, c="CKXJ4").status_code == 400


def test_responses_have_twenty_items_by_default_and_are_limited(program, person):
    source = a_source()
    a_follow(person, source)
    some_postings(21, source)
    assert len(program.ids(s=READING_LIST)) == 20
    assert len(program.ids(s=READING_LIST, n=10**9)) == 21
    assert len(program.json("stream/contents/")["items"]) == 20


def test_times_are_those_at_which_items_reached_us(program, person):
    source = a_source()
    a_follow(person, source)
    early, late = (a_posting(source, published_at=NOON, retrieved_at=NOON + timedelta(hours=hours)) for hours in (1, 2))
    since = int((NOON + timedelta(hours=2)).timestamp())
    for fields in ({}, {"xt": READ}, {"xt": STARRED}):
        assert program.ids(s=READING_LIST, ot=since, **fields) == [late.pk]
        assert program.ids(s=READING_LIST, nt=since - 1, **fields) == [early.pk]
        assert program.ids(s=READING_LIST, ot=since * 1_000_000, nt=since, **fields) == [late.pk]
        assert program.ids(s=READING_LIST, ot=0, **fields) == [late.pk, early.pk]


def test_newsplus_gets_no_empty_list(program):
    assert program.json("stream/items/ids", s=READING_LIST)["itemRefs"] == []
    assert program.json("stream/items/ids", s=READING_LIST, client="newsplus")["itemRefs"] == [{"id": "0"}]
    assert program.items(0) == []


# --- items ------------------------------------------------------------------------------------------------------------
def test_an_item_has_the_fields_that_clients_read(program, person):
    source = a_source(title="The Times", site_url="https://times.example/")
    a_follow(person, source, folders=(a_folder(person, "News"),), title="Times")
    posting = a_posting(
        source,
        url="https://times.example/1",
        title="War & peace",
        author="Ada",
        html="<p>It is <b>over</b>.</p>",
        retrieved_at=NOON + timedelta(microseconds=123_456),
        published_at=NOON,
        enclosures=[
            {"url": "https://times.example/1.mp3", "media_type": "audio/mpeg", "length": 7, "duration": 1, "title": ""}
        ],
    )
    actions.marks.tag(person, [posting.pk], "later", NOON)
    retrieved = microseconds(posting.retrieved_at)
    assert program.items(posting.pk) == [
        {
            "id": f"tag:google.com,2005:reader/item/{posting.pk:016x}",
            "crawlTimeMsec": str(retrieved // 1_000),
            "timestampUsec": str(retrieved),
            "published": int(NOON.timestamp()),
            "updated": int(NOON.timestamp()),
            "title": "War & peace",
            "canonical": [{"href": "https://times.example/1"}],
            "alternate": [{"href": "https://times.example/1", "type": "text/html"}],
            "categories": [READING_LIST, FRESH, label("News"), label("later")],
            "marked": False,
            "origin": {"streamId": f"feed/{source.pk}", "htmlUrl": "https://times.example/", "title": "Times"},
            "summary": {"direction": "ltr", "content": "<p>It is <b>over</b>.</p>"},
            "author": "Ada",
            "enclosure": [{"href": "https://times.example/1.mp3", "type": "audio/mpeg", "length": 7}],
        }
    ]


def test_states_are_categories(program, library):
    for name, states in {
        "read": {READ},
        "starred": {FRESH, STARRED},
        "kept": {KEPT_UNREAD},
        "plain": {FRESH, BROADCAST, label("later")},
    }.items():
        assert program.categories(library[name].pk) == {READING_LIST, label("News / World"), *states}


def test_item_ids_are_accepted_in_every_form_and_keep_their_order(program, library):
    first, second, third, fourth = ids_of(library["all"])
    forms = [f"{second:016x}", str(first), long_form(fourth), f"tag:google.com,2005:reader/item/{third:x}"]
    for answer in (program.post("stream/items/contents", i=forms), program.get("stream/items/contents", i=forms)):
        assert [item["id"] for item in answer.json()["items"]] == list(map(long_form, (second, first, fourth, third)))


def test_addresses_that_lead_nowhere_on_the_web_are_left_out(program, person):
    source = a_source(site_url="javascript:alert(1)")
    a_follow(person, source)
    posting = a_posting(source, url="javascript:alert(1)", enclosures=[{"url": "file:///etc/passwd"}])
    assert "javascript" not in str(program.items(posting.pk))
    assert "passwd" not in str(program.items(posting.pk))


def test_contents_name_their_stream(program, library):
    result = program.json(f"stream/contents/feed/{library['feed'].pk}")
    assert (result["id"], result["title"]) == (f"feed/{library['feed'].pk}", library["feed"].title)
    assert abs(result["updated"] - now().timestamp()) < 60


@pytest.mark.parametrize("path", ["stream/contents/?n=1000", "stream/items/ids?n=1000"])
def test_many_items_take_as_many_queries_as_few(program, person, path):
    source = a_source()
    a_follow(person, source, folders=(a_folder(person),))

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            program.get(path)
        return len(captured)

    counts = []
    for amount in (3, 60):
        postings = some_postings(amount, source)
        for posting in postings[: amount // 2]:
            actions.marks.tag(person, [posting.pk], f"tag {posting.pk % 5}", NOON)
            actions.marks.share(person, posting.pk, now=NOON)
        program.get(path)
        counts.append(queries())
    assert all(before == after for before, after in pairwise(counts))


# --- Atom -------------------------------------------------------------------------------------------------------------
def test_atom_is_answered_304_while_nothing_changed(program, person, library):
    path = f"/reader/atom/feed%2F{library['feed'].pk}?n=20"
    first = program.get(path)
    assert first["Content-Type"].startswith("application/atom+xml")
    assert first["Cache-Control"].startswith("private")

    def again(**headers):
        return program.get(path, headers)

    by_etag, by_time = {"If-None-Match": first["ETag"]}, {"If-Modified-Since": first["Last-Modified"]}
    assert [again(**headers).status_code for headers in (by_etag, by_time, by_etag | by_time)] == [304] * 3
    assert again(**by_etag).content == b""
    actions.marks.mark_read(person, [library["plain"].pk], read=True, now=NOON)
    changed = again(**by_etag | by_time)
    assert changed.status_code == 200
    assert changed["ETag"] != first["ETag"]
    assert parse_http_date(changed["Last-Modified"]) > parse_http_date(first["Last-Modified"])


def test_atom_contains_states_as_in_feedhq(program, library):
    program.does("edit-tag", i=library["plain"].pk, a=label("read"))
    document = etree.fromstring(program.get(f"/reader/atom/feed/{library['feed'].pk}").content)
    names = {"a": "http://www.w3.org/2005/Atom"}
    states = {
        entry.findtext("a:id", namespaces=names): [
            category.get("label")
            for category in entry.iterfind("a:category", names)
            if category.get("scheme") == "http://www.google.com/reader/"
        ]
        for entry in document.iterfind("a:entry", names)
    }
    assert states == {
        long_form(library["read"].pk): ["reading-list", "read"],
        long_form(library["starred"].pk): ["reading-list", "fresh", "starred"],
        long_form(library["kept"].pk): ["reading-list", "kept-unread"],
        long_form(library["plain"].pk): ["reading-list", "fresh", "broadcast"],
    }


def test_atom_represents_any_posting(program, person):
    source = a_source(title="<b>&\x0b")
    a_follow(person, source)
    a_posting(source, title="a\x01b\ufffe", html="<p>&amp;</p>", author="\x02", guid="\x03")
    document = etree.fromstring(program.get(f"/reader/atom/feed/{source.pk}").content)
    assert document.findtext("{*}entry/{*}title") == "ab"
    assert document.findtext("{*}entry/{*}content") == "<p>&amp;</p>"
