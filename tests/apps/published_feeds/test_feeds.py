"""Feeds of all there is, for those who know their addresses; and how little is sent of them."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.following import actions as following
from apps.following.models import Tag, Tagging
from apps.published_feeds import actions
from apps.published_feeds.models import PrivateAddress
from apps.published_feeds.queries.channels import Channel
from apps.search.actions.reindexing import consume
from apps.sources.formats import parse
from apps.stories.models import Section
from tests.builders import NOON, a_folder, a_follow, a_mark, a_posting, a_source, a_user, some_postings

pytestmark = pytest.mark.django_db
FORMS = ("rss", "atom", "json")


def address_of(user, kind, number=0) -> PrivateAddress:
    return actions.make_address(user, kind, number, now=NOON)


def path_of(user, kind, number=0, form="rss") -> str:
    return Channel("private", address_of(user, kind, number).secret).path(form)


def read(answer):
    parsed = parse(answer.content, content_type=answer["Content-Type"], url="https://portal.example/")
    return [entry.title for entry in parsed.entries]


@pytest.fixture
def ann():
    """Follows two sources, one of them in a folder, and has starred, tagged and shared something of others."""
    ann = a_user("annabelle")
    folder = a_folder(ann, "Papers")
    a_posting(a_follow(ann, folders=(folder,)).source, title="In the folder", published_at=NOON)
    a_posting(a_follow(ann).source, title="Outside", published_at=NOON - timedelta(hours=1))
    a_mark(ann, a_posting(title="Starred once"), starred_at=NOON)
    tag = Tag.objects.create(user=ann, name="rain")
    Tagging.objects.create(tag=tag, posting=a_posting(title="Tagged"), tagged_at=NOON)
    following.marks.share(
        ann, a_posting(title="Shown to others", text="A long story", html="<p>A long story</p>").pk, now=NOON
    )
    ann.lists = {
        ("all", 0): ["In the folder", "Outside"],
        ("folder", folder.pk): ["In the folder"],
        ("starred", 0): ["Starred once"],
        ("tag", tag.pk): ["Tagged"],
        ("shared", 0): ["Shown to others"],
    }
    return ann


# --- what they hold ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("form", FORMS)
def test_each_list_is_a_feed_of_its_own_postings(client, ann, form):
    for (kind, number), titles in ann.lists.items():
        answer = client.get(path_of(ann, kind, number, form))
        assert read(answer) == titles
        assert "private" in answer["Cache-Control"]
        assert answer["X-Robots-Tag"] == "noindex"
        assert answer["Referrer-Policy"] == "no-referrer"


def test_an_address_opens_its_own_list_alone(client, ann):
    private = [address_of(ann, kind, number) for kind, number in ann.lists]
    assert len({each.secret for each in private}) == len(private)
    assert client.get(reverse("private_sources", args=[private[0].secret])).status_code == 404
    assert client.get(reverse("search_feed", args=[private[0].secret, "rss"])).status_code == 404
    assert client.get(reverse("private_feed", args=[private[0].secret, "xml"])).status_code == 404
    assert client.get(reverse("private_feed", args=["guessed", "rss"])).status_code == 404


def test_renewed_address_stops_working_and_foreign_one_cannot_be_renewed(client, ann):
    private = address_of(ann, "starred")
    old = Channel("private", private.secret).path("rss")
    assert not actions.renew_address(a_user(), private.pk, now=NOON)
    assert not actions.end_address(a_user(), private.pk)
    assert client.get(old).status_code == 200
    assert actions.renew_address(ann, private.pk, now=NOON)
    assert client.get(old).status_code == 404
    assert client.get(path_of(ann, "starred")).status_code == 200
    assert actions.end_address(ann, private.pk)
    assert not PrivateAddress.objects.filter(pk=private.pk).exists()


def test_the_lists_of_others_get_no_address(ann):
    stranger = a_user()
    for kind, number in (*((kind, number) for kind, number in ann.lists if number), ("nonsense", 0)):
        with pytest.raises(actions.NoSuchList):
            actions.make_address(stranger, kind, number, now=NOON)
    assert not PrivateAddress.objects.exists()


def test_inactive_account_publishes_nothing(client, ann):
    path = path_of(ann, "all")
    ann.is_active = False
    ann.save()
    assert client.get(path).status_code == 404


def test_shared_feed_shows_no_more_than_the_shared_page(client, ann):
    answer = client.get(path_of(ann, "shared", form="json")).json()
    [item] = answer["items"]
    share = ann.shares.get()
    assert item["id"].endswith(reverse("shared", args=[share.secret]))
    assert "A long story" in item["content_html"]
    assert "annabelle" not in str(answer)
    following.marks.unshare(ann, share.posting_id)
    assert read(client.get(path_of(ann, "shared"))) == []


def test_starred_postings_come_in_the_order_in_which_they_were_starred(client):
    user = a_user()
    for days in (3, 1, 2):
        published = NOON - timedelta(days=4 - days)
        a_mark(user, a_posting(title=f"{days}", published_at=published), starred_at=NOON + timedelta(days=days))
    assert read(client.get(path_of(user, "starred"))) == ["3", "2", "1"]


def test_entry_has_all_fields_of_a_posting(client):
    user = a_user()
    source = a_follow(
        user, a_source(title="Gazette", url="https://gazette.example/secret", site_url="https://gazette.example/")
    ).source
    enclosure = {"url": "https://gazette.example/1.mp3", "media_type": "audio/mpeg", "length": 7, "title": "Sound"}
    posting = a_posting(
        source, title="A & B\x0b", html="<p>Safe</p>", author="Ann", categories=["World"], enclosures=[enclosure],
        url="javascript:alert(1)", edited_at=NOON,
    )  # fmt: skip
    [item] = client.get(path_of(user, "all", form="json")).json()["items"]
    assert item["title"] == "A & B"
    assert item["url"] == item["id"] == f"http://localhost:8000/posting/{posting.pk}/"
    assert item["content_html"] == "<p>Safe</p>"
    assert item["attachments"][0]["mime_type"] == "audio/mpeg"
    assert item["date_modified"] == NOON.isoformat()
    for form in FORMS:
        text = client.get(path_of(user, "all", form=form)).text
        assert "Gazette" in text or form == "json"
        assert "secret" not in text.replace(path_of(user, "all", form=form), "")


def test_a_section_is_a_public_feed_in_every_form(client):
    for listed, title in ((True, "Rain"), (False, "Not for everybody")):
        a_posting(a_source(category="Weather", listed=listed), title=title, published_at=timezone.now())
    consume()
    Section.objects.create(
        slug="weather", title="Weather", category="Weather", order=Section.Order.NEWEST, place=1, changed_at=NOON
    )
    for form in FORMS:
        answer = client.get(Channel("section", "weather").path(form))
        assert read(answer) == ["Rain"]
        assert "public" in answer["Cache-Control"]
        assert "private" not in answer["Cache-Control"]
    assert client.get("/section/weather/feed/").status_code == 200
    assert client.get(reverse("section_feed", args=["weather", "xml"])).status_code == 404
    assert client.get(reverse("section_feed", args=["sports"])).status_code == 404


# --- how much is sent -------------------------------------------------------------------------------------------------
@pytest.fixture
def path(ann):
    return path_of(ann, "all")


@pytest.mark.parametrize("form", FORMS)
def test_unchanged_feed_gets_304(client, ann, form):
    path = path_of(ann, "all", form=form)
    answer = client.get(path)
    for headers in (
        {"If-None-Match": answer["ETag"]},
        {"If-None-Match": f"W/{answer['ETag']}", "A-IM": "feed"},
        {"If-Modified-Since": answer["Last-Modified"]},
    ):
        again = client.get(path, headers=headers)
        assert again.status_code == 304
        assert not again.content
        assert again["ETag"] == answer["ETag"]
    assert "A-IM" in answer["Vary"]
    assert "Cookie" not in answer["Vary"]


@pytest.mark.parametrize("form", FORMS)
def test_delta_has_new_and_changed_entries_alone(client, ann, form):
    path = path_of(ann, "all", form=form)
    known = client.get(path)["ETag"]
    follow = ann.follows.order_by("pk")[0]
    new = a_posting(follow.source, title="New", published_at=NOON + timedelta(hours=1))
    changed = follow.source.postings.get(title="In the folder")
    changed.title, changed.edited_at = "Changed", NOON
    changed.save()
    answer = client.get(path, headers={"If-None-Match": known, "A-IM": "feed"})
    assert (answer.status_code, answer["IM"]) == (226, "feed")
    assert "no-store" in answer["Cache-Control"]
    assert read(answer) == ["New", "Changed"]
    whole = client.get(path)
    assert answer["ETag"] == whole["ETag"]
    assert read(whole) == ["New", "Changed", "Outside"]
    assert client.get(path, headers={"If-None-Match": known}).status_code == 200
    new.delete()
    without = client.get(path, headers={"If-None-Match": answer["ETag"], "A-IM": "feed"})
    assert (without.status_code, read(without)) == (226, [])


@pytest.mark.parametrize("known", ['"unknown"', '"1abcdefg.12345"', "*junk", '"1abcdefg.1"', 'W/"'])
def test_whose_state_is_not_known_gets_all(client, path, known):
    answer = client.get(path, headers={"If-None-Match": known, "A-IM": "feed"})
    assert answer.status_code == 200
    assert "IM" not in answer
    assert len(read(answer)) == 2


@pytest.mark.parametrize("change", [lambda tag: tag.replace('"1', '"2'), lambda tag: tag[:-1]])
def test_foreign_or_truncated_tag_gets_the_whole_feed(client, ann, path, change):
    known = change(client.get(path)["ETag"])
    a_posting(ann.follows.order_by("pk")[0].source, title="New", published_at=NOON + timedelta(hours=1))
    answer = client.get(path, headers={"If-None-Match": known, "A-IM": "feed"})
    assert (answer.status_code, len(read(answer))) == (200, 3)


def test_state_of_one_format_is_unknown_in_another(client, ann):
    known = client.get(path_of(ann, "all", form="rss"))["ETag"]
    assert client.get(path_of(ann, "all", form="atom"), headers={"If-None-Match": known}).status_code == 200


def test_old_postings_of_a_source_added_to_a_folder_are_new(client, ann):
    folder = ann.folders.get()
    path = path_of(ann, "folder", folder.pk)
    known = client.get(path)["ETag"]
    ann.follows.order_by("pk")[1].folders.add(folder)
    answer = client.get(path, headers={"If-None-Match": known, "A-IM": "feed"})
    assert (answer.status_code, read(answer)) == (226, ["Outside"])


def test_a_feed_is_compressed_and_its_weak_tag_known_again(client, path):
    answer = client.get(path, headers={"Accept-Encoding": "gzip"})
    assert answer["Content-Encoding"] == "gzip"
    assert answer["ETag"].startswith('W/"')
    assert client.get(path, headers={"If-None-Match": answer["ETag"]}).status_code == 304


@pytest.mark.parametrize("kind", ["all", "folder", "starred", "tag", "shared"])
def test_number_of_queries_is_independent_of_the_length(client, kind):
    taken = []
    for sources, each in ((1, 2), (4, 13)):
        user = a_user()
        folder, tag = a_folder(user), Tag.objects.create(user=user, name="tag")
        for _ in range(sources):
            for posting in some_postings(each, a_follow(user, folders=(folder,)).source):
                a_mark(user, posting, starred_at=NOON)
                Tagging.objects.create(tag=tag, posting=posting, tagged_at=NOON)
                following.marks.share(user, posting.pk, now=NOON)
        path = path_of(user, kind, {"folder": folder.pk, "tag": tag.pk}.get(kind, 0))
        with CaptureQueriesContext(connection) as captured:
            titles = read(client.get(path))
        assert len(titles) == min(sources * each, 100 if kind in {"all", "folder"} else 50)
        taken.append(len(captured))
    assert taken[0] == taken[1] <= 6
