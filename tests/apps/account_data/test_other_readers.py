"""Exports of other readers, written as their programs write them: feeds, stars, tags and what was read."""

import json
import zipfile
from io import BytesIO

import pytest
from django.urls import reverse

from apps.account_data import actions
from apps.account_data.formats.exports import read
from apps.account_data.formats.problems import BadArchive
from apps.accounts.models import User
from apps.following.models import Follow, Mark, Tagging
from apps.following.queries import subscription_list
from apps.postings.actions import Document, store
from apps.postings.models import Posting
from apps.sources.formats.feed import ParsedEntry
from apps.sources.models import Source
from tests.apps.account_data.archives import LATER, archive_of, everything
from tests.builders import NOON, a_source, a_user

pytestmark = pytest.mark.django_db

FEED, OTHER = "https://storms.example/feed", "https://floods.example/rss"
OPML = f"""<?xml version="1.0"?><opml version="2.0"><body>
<outline text="Weather"><outline type="rss" text="Storms" xmlUrl="{FEED}" htmlUrl="https://storms.example/"/></outline>
<outline type="rss" text="Floods" xmlUrl="{OTHER}"/>
<outline type="rss" text="Broken" xmlUrl="mailto:someone"/>
</body></opml>""".encode()


def greader_item(number, *categories, **values):
    return {
        "id": f"guid-{number}",
        "timestampUsec": "1714550400000000",
        "categories": ["wind", *categories],
        "title": f"Storm {number} & rain",
        "author": "Ada",
        "published": 1714500000,
        "alternate": [{"href": f"https://storms.example/{number}", "type": "text/html"}],
        "content": {"content": f"<p>It <b>blows</b> {number}</p><script>alert(1)</script>"},
        "origin": {"streamId": "12", "title": "Storms", "htmlUrl": "https://storms.example/", "feedUrl": FEED},
    } | values


STARRED, READ, UNREAD = (f"user/-/state/com.google/{name}" for name in ("starred", "read", "unread"))
FRESHRSS = {
    "id": "user/ada/state/org.freshrss/starred",
    "title": "List of favourite articles",
    "author": "ada",
    "items": [
        greader_item(1, READ, STARRED, "user/-/label/For later"),
        greader_item(2, UNREAD, STARRED),
        greader_item(3, READ, "user/-/label/For later"),
    ],
}
INOREADER = {
    "direction": "ltr",
    "id": "user/1005/state/com.google/starred",
    "items": [
        greader_item(
            number,
            "user/1005/state/com.google/starred",
            "user/1005/state/com.google/read",
            id=f"tag:google.com,2005:reader/item/{number:016x}",
            canonical=[{"href": f"https://storms.example/{number}"}],
            summary={"content": "<p>It blows</p>"},
            origin={"streamId": f"feed/{FEED}", "title": "Storms", "htmlUrl": "https://storms.example/"},
        )
        for number in (1, 2)
    ],
}
FEEDBIN = [
    {
        "id": number,
        "title": f"Storm {number} & rain",
        "author": None,
        "content": "<p>It blows</p>",
        "url": f"https://storms.example/{number}",
        "published": "2024-04-30T18:00:00.000000Z",
        "created_at": "2024-05-01T08:00:00.000000Z",
    }
    for number in (1, 2)
]
NEWSBLUR = {
    "stories": [
        {
            "id": f"guid-{number}",
            "story_hash": f"7:{number}",
            "story_feed_id": 7,
            "story_title": f"Storm {number} & rain",
            "story_authors": "Ada",
            "story_content": "<p>It blows</p>",
            "story_permalink": f"https://storms.example/{number}",
            "story_date": "2024-04-30 18:00:00",
            "story_timestamp": "1714500000",
            "starred_timestamp": "1714550400",
            "starred": True,
            "user_tags": ["For later"],
            "read_status": 1,
        }
        for number in (1, 2)
    ],
    "feeds": {"7": {"id": 7, "feed_title": "Storms", "feed_address": FEED, "feed_link": "https://storms.example/"}},
}
MINIFLUX = {
    "total": 2,
    "entries": [
        {
            "id": number,
            "feed_id": 7,
            "status": "read",
            "hash": "9f",
            "title": f"Storm {number} & rain",
            "url": f"https://storms.example/{number}",
            "published_at": "2024-04-30T18:00:00Z",
            "changed_at": "2024-05-01T08:00:00.5Z",
            "content": "<p>It blows</p>",
            "author": "Ada",
            "starred": True,
            "feed": {"id": 7, "feed_url": FEED, "site_url": "https://storms.example/", "title": "Storms"},
        }
        for number in (1, 2)
    ],
}
TTRSS = "".join(
    [
        '<?xml version="1.0" encoding="utf-8"?><articles schema-version="146">',
        *(
            f"""<article><guid><![CDATA[2,guid-{number}]]></guid><title><![CDATA[Storm {number} & rain]]></title>
            <content><![CDATA[<p>It blows</p>]]></content><marked><![CDATA[1]]></marked><published></published>
            <score>0</score><note></note><link><![CDATA[https://storms.example/{number}]]></link>
            <tag_cache><![CDATA[wind,rain]]></tag_cache>
            <label_cache><![CDATA[[[-1025,"For later","",""]]]]></label_cache>
            <feed_title><![CDATA[Storms]]></feed_title><feed_url><![CDATA[{FEED}]]></feed_url>
            <updated><![CDATA[2024-04-30 18:00:00]]></updated></article>"""
            for number in (1, 2)
        ),
        "</articles>",
    ]
)
FILES = {
    "starred_2024-05-01.json": json.dumps(FRESHRSS),
    "inoreader.json": json.dumps(INOREADER),
    "starred.json": json.dumps(FEEDBIN),
    "newsblur.json": json.dumps(NEWSBLUR),
    "entries.json": json.dumps(MINIFLUX),
    "tt-rss.xml": TTRSS,
}


def import_file(user: User, name: str, content: str | bytes):
    data = content if isinstance(content, bytes) else content.encode()
    return actions.import_file(user, BytesIO(data), name, now=LATER)


def zipped(**members: bytes | str) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def starred(user: User) -> set[str]:
    return set(Mark.objects.filter(user=user, starred_at__isnull=False).values_list("posting__url", flat=True))


def tagged(user: User) -> set[tuple[str, str]]:
    return set(Tagging.objects.filter(tag__user=user).values_list("tag__name", "posting__url"))


URLS = {f"https://storms.example/{number}" for number in (1, 2)}


@pytest.mark.parametrize("name", FILES)
def test_starred_articles_that_no_feed_contains_are_stored_starred_and_safe(name):
    user = a_user()
    report = import_file(user, name, FILES[name])
    assert starred(user) == URLS
    assert report.restored["stored"] == (3 if "2024" in name else 2)
    posting = Posting.objects.get(url="https://storms.example/1")
    assert posting.title == "Storm 1 & rain"
    assert "blows" in posting.html
    assert "script" not in posting.html
    assert f"{posting.published_at:%Y-%m-%d}" == "2024-04-30"
    assert (posting.source.state, posting.source.listed) == ("imported", False)
    assert not hasattr(posting.source, "schedule")


@pytest.mark.parametrize("name", FILES)
def test_an_import_repeated_changes_nothing(name):
    user = a_user()
    import_file(user, "feeds.opml", OPML)
    import_file(user, name, FILES[name])
    before = everything(user), Posting.objects.count(), Source.objects.count()
    again = import_file(user, name, FILES[name])
    assert (everything(user), Posting.objects.count(), Source.objects.count()) == before
    assert sum(again.restored.values()) == 0


@pytest.mark.parametrize("name", FILES)
def test_articles_of_a_feed_are_marked_there(name):
    source, user = a_source(url=FEED), a_user()
    entries = [ParsedEntry(guid=f"guid-{n}", link=f"https://storms.example/{n}", title=f"Storm {n}") for n in (1, 2, 3)]
    store([Document(source.pk, entries, FEED, "", "en", NOON)])
    import_file(user, name, FILES[name])
    if name == "starred.json":  # Feedbin's does not name the feeds
        assert set(Mark.objects.values_list("posting__source__state", flat=True)) == {"imported"}
    else:
        assert starred(user) == URLS
        assert set(Mark.objects.values_list("posting__source_id", flat=True)) == {source.pk}
        assert Source.objects.count() == 1


def test_labels_become_tags_and_read_states_are_kept():
    user = a_user()
    import_file(user, "starred.json", json.dumps(FRESHRSS))
    assert tagged(user) == {("For later", f"https://storms.example/{n}") for n in (1, 3)}
    read = dict(Mark.objects.filter(user=user).values_list("posting__url", "read"))
    assert read == {f"https://storms.example/{n}": n != 2 for n in (1, 2, 3)}


@pytest.mark.parametrize(
    ("name", "tags"), [("newsblur.json", ["For later"]), ("tt-rss.xml", ["For later", "rain", "wind"])]
)
def test_tags_of_newsblur_and_labels_and_tags_of_ttrss(name, tags):
    user = a_user()
    import_file(user, name, FILES[name])
    assert tagged(user) == {(tag, url) for tag in tags for url in URLS}


def test_read_states_wait_for_their_feed():
    user = a_user()
    import_file(user, "feeds.opml", OPML)
    entries = [entry | {"starred": False} for entry in MINIFLUX["entries"]]
    report = import_file(user, "entries.json", json.dumps({"entries": entries}))
    assert (report.waiting, Posting.objects.count()) == (2, 0)
    source = Source.objects.get(url=FEED)
    store([Document(source.pk, [ParsedEntry(link="https://storms.example/1", title="Storm 1")], FEED, "", "en", LATER)])
    actions.settle(now=LATER + 2 * (LATER - NOON))
    assert list(Mark.objects.values_list("posting__url", "read")) == [("https://storms.example/1", True)]


def test_a_zip_of_freshrss_follows_its_feeds_first():
    user = a_user()
    data = zipped(
        **{
            "starred_2024-05-01.json": json.dumps(FRESHRSS),
            "feeds_2024-05-01.opml.xml": OPML,
            "feed_2024-05-01_1_12.json": json.dumps(FRESHRSS | {"items": [greader_item(9, READ)]}),
            "notes.txt": "ignored",
        }
    )
    report = import_file(user, "freshrss_ada_2024-05-01_export.zip", data)
    follows = Follow.objects.filter(user=user).exclude(source__state="imported")
    assert set(follows.values_list("source__url", flat=True)) == {FEED, OTHER}
    assert [str(folder) for folder in follows.get(source__url=FEED).folders.all()] == ["Weather"]
    assert starred(user) == URLS
    assert report.waiting == 1
    [(place, reason)] = report.skipped
    assert place == "feeds_2024-05-01.opml.xml, line 4"
    assert "mailto" in reason


def test_marks_made_here_take_precedence_over_imported_ones():
    source, user = a_source(url=FEED), a_user()
    store([Document(source.pk, [ParsedEntry(link="https://storms.example/1", title="Storm")], FEED, "", "en", NOON)])
    posting = Posting.objects.get()
    Mark.objects.create(user=user, posting=posting, read=False, changed_at=NOON)  # later than in the export
    import_file(user, "entries.json", json.dumps({"entries": MINIFLUX["entries"][:1]}))
    mark = Mark.objects.get()
    assert (mark.read, mark.starred_at) == (False, None)


def test_a_person_sees_only_own_imported_articles(client):
    ada, bob = a_user(), a_user()
    for user in (ada, bob):
        import_file(user, "starred.json", json.dumps(FEEDBIN))
    assert Source.objects.filter(state="imported").count() == 2
    posting = Posting.objects.get(url="https://storms.example/1", source__follows__user=ada)
    client.force_login(bob)
    assert client.get(reverse("posting", args=[posting.pk])).status_code == 404
    client.force_login(ada)
    assert client.get(reverse("posting", args=[posting.pk])).status_code == 200


def test_the_source_of_imported_articles_is_not_exported_and_ends_with_the_account():
    user = a_user()
    import_file(user, "starred.json", json.dumps(FEEDBIN))
    a_user(is_superuser=True)
    assert subscription_list(user).subscriptions == ()
    assert archive_of(user)
    actions.delete_account(user, now=LATER)
    assert not Posting.objects.exists()
    assert not Source.objects.exists()


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("starred.json", b'{"items": [', "starred.json, line 1: It is not JSON"),
        ("starred.json", b"\xff\xfe", "starred.json: It is not JSON in UTF-8."),
        ("starred.json", b'{"stars": 3}', "starred.json: It has no articles in a known format"),
        ("page.xml", b"<html><p></html>", "page.xml, line 1: It is not well-formed XML."),
        ("page.xml", b"<html/>", "page.xml: It has no articles in a known format"),
        ("x.opml", b"<opml><body><outline", "x.opml: Line 1"),
        ("a.zip", zipped(**{"starred.json": b"[1"}), "starred.json, line 1: It is not JSON"),
        ("a.zip", zipped(**{"readme.txt": b""}), "It contains no list of feeds and no articles."),
        ("big.json", None, "big.json: It is larger than 30 MB."),
    ],
    ids=range(9),
)
def test_an_unusable_file_is_named_with_the_place_and_nothing_is_imported(name, content, reason):
    user = a_user()
    with pytest.raises(BadArchive) as raised:
        import_file(user, name, b" " * 30_000_001 if content is None else content)
    assert str(raised.value).startswith(reason)
    assert not Follow.objects.exists()


def test_single_articles_that_cannot_be_used_are_reported_with_their_place():
    user = a_user()
    items = ["?", greader_item(1, STARRED, alternate=[{"href": "javascript:alert(1)"}]), greader_item(2, STARRED)]
    report = import_file(user, "starred.json", json.dumps({"items": items}))
    assert report.skipped == (
        ("starred.json, article 1", "“” has no web address."),
        ("starred.json, article 2", "“Storm 1 & rain” has no web address."),
    )
    assert starred(user) == {"https://storms.example/2"}


HOSTILE = (None, 3, "x\0", [], {}, [[]], {"0": "x"}, True, "9" * 400, "[[1]]", float("nan"), "[" * 100_000)


@pytest.mark.parametrize("value", HOSTILE)
def test_hostile_values_are_read_without_an_exception(value):
    names = (
        "categories",
        "published",
        "origin",
        "user_tags",
        "tag_cache",
        "label_cache",
        "published_at",
        "read_status",
    )
    item = dict.fromkeys((*names, "feed", "status", "story_feed_id", "starred", "marked", "title", "id"), value)
    item |= {"url": "https://a.example/1", "story_permalink": "https://a.example/1", "link": "https://a.example/1"}
    for key in ("items", "stories", "entries", "articles"):
        data = json.dumps({key: [item | {"alternate": value, "feed_url": value}], "feeds": value}).encode()
        articles, skipped = read("x.json", data)
        assert len(articles) + len(skipped) == 1
    articles, _skipped = read("x.json", json.dumps([item | {"created_at": value}]).encode())
    assert len(articles) == 1


@pytest.mark.parametrize(
    "written", ["9999-12-31T23:59:00-05:00", "0001-01-01T00:00:00+05:00", "2024-05-01T10:00+23:59"]
)
def test_articles_with_impossible_dates_are_imported_and_can_be_read(client, written):
    user = a_user()
    item = greader_item(1, STARRED, published=written, timestampUsec=written)
    import_file(user, "starred.json", json.dumps({"items": [item]}).encode())
    client.force_login(user)
    assert client.get(reverse("posting", args=[Posting.objects.get().pk])).status_code == 200
    assert "Storm 1" in client.get(reverse("river_starred")).text


def test_the_page_imports_and_reports(client):
    user = a_user()
    client.force_login(user)
    file = BytesIO(json.dumps(FRESHRSS).encode())
    file.name = "starred.json"
    page = client.post(reverse("import_archive"), {"file": file}).content.decode()
    assert "Articles that are no longer in a feed" in page
    file.seek(0)
    assert (
        "Everything in it was already here." in client.post(reverse("import_archive"), {"file": file}).content.decode()
    )
    wrong = BytesIO(b"<html/>")
    wrong.name = "page.html"
    assert "Nothing was imported. page.html" in client.post(reverse("import_archive"), {"file": wrong}).content.decode()
