"""What a person follows, seen and changed by a program."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart
from django.test.utils import CaptureQueriesContext

from apps.following import queries
from apps.retrieval.models import Schedule
from apps.sources.formats import opml
from apps.sources.models import Source
from tests.apps.api.google_reader import STARRED, Program, label
from tests.builders import a_folder, a_follow, a_source, a_user
from tests.web import HTML, RSS, serving_pages

pytestmark = pytest.mark.django_db

FEED = b"<rss version='2.0'><channel><title>Sport</title><item><title>Won</title><guid>1</guid></item></channel></rss>"
PAGE = b"""<!doctype html><title>A site</title>
<link rel="alternate" type="application/rss+xml" title="News" href="/news">
<link rel="alternate" type="application/rss+xml" title="Sport" href="/sport">"""


@pytest.fixture
def person():
    return a_user("ada")


@pytest.fixture
def program(person):
    return Program(person)


@pytest.fixture
def web(settings):
    settings.RETRIEVAL_HOST_GAP = 0
    settings.RETRIEVAL_MIN_GAP = 0
    with serving_pages({"/": (HTML, PAGE), "/news": (RSS, FEED), "/sport": (RSS, FEED)}) as web:
        yield web


def folders_of_feeds(program) -> dict[str, list[str]]:
    result = program.json("subscription/list", output="json")["subscriptions"]
    return {entry["id"]: [category["label"] for category in entry["categories"]] for entry in result}


def followed(person) -> set[str]:
    return set(queries.follows_of(person).values_list("source__url", flat=True))


def a_form(file: bytes | None) -> tuple[bytes, str]:
    """A body with its type."""
    fields = {"field": "text"} if file is None else {"opml": SimpleUploadedFile("list.opml", file)}
    return encode_multipart(BOUNDARY, fields), MULTIPART_CONTENT


# --- the list ---------------------------------------------------------------------------------------------------------
def test_subscriptions_have_the_users_titles_and_folders(program, person):
    source = a_source(title="The Times", site_url="https://times.example/", image_url="https://times.example/a.png")
    a_follow(person, source, title="Times", folders=(a_folder(person, "World", a_folder(person, "News")),))
    a_follow(a_user(), a_source())
    assert program.json("subscription/list")["subscriptions"] == [
        {
            "id": f"feed/{source.pk}",
            "title": "Times",
            "categories": [{"id": label("News / World"), "label": "News / World"}],
            "sortid": "00000000",
            "url": source.url,
            "htmlUrl": "https://times.example/",
            "iconUrl": "https://times.example/a.png",
        }
    ]


@pytest.mark.parametrize("path", ["subscription/list", "unread-count", "tag/list"])
def test_lists_take_as_many_queries_for_much_as_for_little(program, person, path):
    program.get(path)
    counts = set()
    for _ in range(2):
        for number in range(5):
            a_follow(person, folders=(a_folder(person),) if number else ())
        with CaptureQueriesContext(connection) as captured:
            program.get(path)
        counts.add(len(captured))
    assert len(counts) == 1


# --- subscribing ------------------------------------------------------------------------------------------------------
def test_a_feed_that_is_known_is_followed_in_its_folders_under_its_name(program, person):
    listed = a_source(listed=True)
    program.does(
        "subscription/edit",
        ac="subscribe",
        s=f"feed/{listed.url}",
        t="  My  Times ",
        a=[label("News / World"), label("Best")],
    )
    assert folders_of_feeds(program) == {f"feed/{listed.pk}": ["Best", "News / World"]}
    assert queries.follows_of(person).get().title == "My Times"
    assert Schedule.objects.get(source=listed).due_at is not None
    program.does("subscription/edit", ac="subscribe", s=f"feed/{listed.pk}")
    assert queries.follows_of(person).get().title == "My Times"
    assert folders_of_feeds(program) == {f"feed/{listed.pk}": ["Best", "News / World"]}


def test_an_unknown_address_is_retrieved(program, person, web):
    program.does("subscription/edit", ac="subscribe", s=f"feed/{web.url('/sport')}", a=label("Play"))
    [source] = Source.objects.filter(follows__user=person)
    assert (source.url, source.title) == (web.url("/sport"), "Sport")
    assert folders_of_feeds(program) == {f"feed/{source.pk}": ["Play"]}


@pytest.mark.parametrize("path", ["/", "/gone"])
def test_an_address_without_one_feed_says_so(program, person, web, path):
    answer = program.post("subscription/edit", ac="subscribe", s=f"feed/{web.url(path)}")
    assert answer.status_code == 400
    assert "/news" in answer.content.decode() or "404" in answer.content.decode()
    assert not followed(person)


def test_several_addresses_are_added_without_retrieval(program, person):
    known = a_source(listed=True)
    addresses = ["https://a.example/feed", known.url, "https://b.example/feed"]
    program.does(
        "subscription/edit", ac="subscribe", s=[f"feed/{url}" for url in addresses], t=["A", "", "B"], a=label("All")
    )
    assert followed(person) == set(addresses)
    assert dict(queries.follows_of(person).values_list("source__url", "title")) == dict(
        zip(addresses, ["A", "", "B"], strict=True)
    )
    assert set(map(tuple, folders_of_feeds(program).values())) == {("All",)}


def test_quickadd_finds_a_feed_and_takes_the_first_of_several(program, person, web):
    result = program.post("subscription/quickadd", quickadd=web.url("/")).json()
    follow = queries.follows_of(person).select_related("source").get()
    assert follow.source.url == web.url("/news")
    assert result == {
        "numResults": 1,
        "query": web.url("/"),
        "streamId": f"feed/{follow.source_id}",
        "streamName": "Sport",
    }
    nothing = program.post(f"subscription/quickadd?quickadd={web.url('/gone')}").json()
    assert nothing["numResults"] == 0
    assert "404" in nothing["error"]


# --- editing ----------------------------------------------------------------------------------------------------------
def test_feeds_are_named_and_moved_between_folders(program, person):
    first, second = (a_follow(person, folders=(a_folder(person, name),)) for name in ("Old", "Kept"))
    feeds = [f"feed/{follow.source_id}" for follow in (first, second)]
    program.does(
        "subscription/edit", ac="edit", s=feeds, t=["One", ""], a=label("New"), r=[label("Old"), label("Never")]
    )
    assert folders_of_feeds(program) == {feeds[0]: ["New"], feeds[1]: ["Kept", "New"]}
    assert [follow.title for follow in queries.follows_of(person).order_by("pk")] == ["One", ""]


def test_feeds_are_followed_no_more(program, person):
    follows = [a_follow(person) for _ in range(3)]
    feeds = [f"feed/{follow.source_id}" for follow in follows]
    program.does("subscription/edit", ac="unsubscribe", s=feeds[:2])
    assert list(folders_of_feeds(program)) == feeds[2:]


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"ac": "edit", "s": "feed/999999", "t": "x"}, 404),
        ({"ac": "edit", "s": "feed/LISTED", "t": "x"}, 404),
        ({"ac": "subscribe", "s": "feed/999999"}, 404),
        ({"ac": "subscribe", "s": STARRED}, 404),
        ({"ac": "subscribe", "s": "feed/LISTED", "a": STARRED}, 404),
        ({"ac": "subscribe", "s": "feed/LISTED", "a": label("x" * 101)}, 404),
        ({"ac": "subscribe", "s": "feed/LISTED", "a": label(" / ".join("123456789"))}, 400),
        ({"ac": "subscribe", "s": "feed/LISTED", "t": "x" * 1_001}, 400),
        ({"ac": "subscribe", "s": "feed/javascript:alert(1)"}, 404),
        ({"ac": "subscribe", "s": ["feed/https://a.example/", "feed/nonsense://"]}, 404),
        ({"ac": "subscribe"}, 400),
        ({"ac": "other", "s": "feed/LISTED"}, 400),
    ],
)
def test_invalid_subscriptions_are_refused_and_change_nothing(program, person, fields, status):
    listed = a_source(listed=True)
    written = {
        name: value.replace("LISTED", str(listed.pk)) if isinstance(value, str) else value
        for name, value in fields.items()
    }
    assert program.post("subscription/edit", **written).status_code == status
    assert not followed(person)
    assert not queries.folders_of(person)


# --- OPML -------------------------------------------------------------------------------------------------------------
def test_an_exported_list_is_imported(program, person):
    a_follow(person, title="Mine", folders=(a_folder(person, "World", a_folder(person, "News")),))
    document = program.get("subscription/export").content
    assert opml.read(document).subscriptions[0].folders == (("News", "World"),)
    other = Program(a_user())
    answer = other.send("subscription/import", document, "text/x-opml")
    assert answer.content == b"OK"
    assert followed(other.person) == followed(person)
    assert folders_of_feeds(other) == folders_of_feeds(program)


def test_a_list_may_be_the_file_of_a_form(program, person):
    document = b'<opml><body><outline text="A &amp; B" xmlUrl="https://a.example/"/></body></opml>'
    answer = program.send("subscription/import", *a_form(document))
    assert answer.content == b"OK"
    assert followed(person) == {"https://a.example/"}


@pytest.mark.parametrize("form", [("x=y",), a_form(b"no list"), a_form(None)])
def test_an_invalid_list_is_refused(program, form):
    assert program.send("subscription/import", *form).status_code == 400
