"""Following, folders, tags and lists of other readers, by our own interface."""

import pytest

from apps.following.models import Folder, Follow, Tag
from apps.retrieval.models import Schedule
from tests.apps.api.programs import Program
from tests.builders import a_folder, a_follow, a_posting, a_source, a_user
from tests.web import HTML, RSS, serving_pages

pytestmark = pytest.mark.django_db

FEED = b"""<rss version="2.0"><channel><title>The Fern</title><link>https://fern.example/</link>
<item><guid>1</guid><title>Spores</title><description>Words</description></item></channel></rss>"""


@pytest.fixture
def ada():
    return Program(a_user("Ada"))


@pytest.fixture
def web(settings):
    settings.RETRIEVAL_HOST_GAP = 0.0
    with serving_pages() as web:
        yield web


# --- follows ----------------------------------------------------------------------------------------------------------
def test_a_followed_source_is_in_folders_and_gets_checked(ada):
    source, folder = a_source(listed=True), a_folder(ada.person)
    first = ada.post("follows", {"source_id": source.pk, "folder_ids": [folder.pk]})
    assert (first.status_code, first.json()["folder_ids"]) == (201, [folder.pk])
    assert Schedule.objects.get(source=source).due_at is not None
    assert ada.post("follows", {"source_id": source.pk}).status_code == 200
    assert ada.delete(f"follows/{source.pk}").status_code == 204
    assert ada.delete(f"follows/{source.pk}").status_code == 404
    assert Schedule.objects.get(source=source).due_at is None


def test_the_address_of_a_feed_or_of_a_page_that_names_one_is_followed(ada, web):
    link = '<link rel="alternate" type="application/rss+xml" href="/{0}" title="{0}">'
    web.pages |= {"/feed": (RSS, FEED), "/": (HTML, f"<html><head>{link.format('feed')}</head></html>".encode())}
    result = ada.post("follows", {"address": web.url("/")})
    assert (result.status_code, result.json()["title"]) == (201, "The Fern")
    assert result.json()["unread"] == 1
    assert ada.post("follows", {"address": web.url("/feed")}).status_code == 200


def test_of_several_feeds_the_program_has_to_choose(ada, web):
    link = '<link rel="alternate" type="application/rss+xml" href="/{0}" title="{0}">'
    web.pages["/"] = (HTML, f"<html><head>{link.format('a')}{link.format('b')}</head></html>".encode())
    result = ada.post("follows", {"address": web.url("/")})
    assert result.status_code == 422
    assert [choice["title"] for choice in result.json()["choices"]] == ["a", "b"]
    assert not Follow.objects.exists()


def test_a_page_without_feed_is_a_problem(ada, web):
    answer = ada.post("follows", {"address": web.url("/nothing")})
    assert answer.status_code == 422
    assert "404" in answer.json()["detail"]


@pytest.mark.parametrize("body", [{}, {"source_id": 1, "address": "https://a.example"}, {"address": "  "}])
def test_either_a_source_or_an_address_is_named(ada, body):
    assert ada.post("follows", body).status_code == 422


def test_a_follow_is_named_filed_and_muted_as_it_is_wished(ada):
    folder, other = a_folder(ada.person), a_folder(ada.person)
    follow = a_follow(ada.person, folders=(folder,), title="Mine")
    path = f"follows/{follow.source_id}"
    result = ada.patch(path, {"muted": True, "view": "cards"}).json()
    assert (result["muted"], result["view"], result["own_title"], result["folder_ids"]) == (
        True,
        "cards",
        "Mine",
        [folder.pk],
    )
    result = ada.patch(path, {"title": "", "folder_ids": [other.pk]}).json()
    assert (result["own_title"], result["title"], result["folder_ids"]) == ("", follow.source.title, [other.pk])
    assert ada.patch(path, {"folder_ids": [10**9]}).status_code == 404
    assert ada.patch(path, {"view": "sideways"}).status_code == 422


def test_follows_have_pages_and_unread_counts(ada):
    follows = [a_follow(ada.person) for _ in range(5)]
    a_posting(follows[0].source)
    first = ada.get("follows", limit=3).json()
    second = ada.get("follows", limit=3, cursor=first["next"]).json()
    assert [each["source_id"] for each in first["items"] + second["items"]] == [each.source_id for each in follows]
    assert [each["unread"] for each in first["items"]] == [1, 0, 0]
    assert second["next"] is None


# --- folders ----------------------------------------------------------------------------------------------------------
def test_nested_folders_count_unread_postings_once(ada):
    outer = ada.post("folders", {"name": "Outer"}).json()
    inner = ada.post("folders", {"name": " In  ner ", "parent_id": outer["id"]}).json()
    assert inner["path"] == ["Outer", "In ner"]
    both = Folder.objects.filter(pk__in=[outer["id"], inner["id"]])
    a_posting(a_follow(ada.person, folders=tuple(both)).source)
    a_posting(a_follow(ada.person, folders=tuple(both), muted=True).source)
    assert [folder["unread"] for folder in ada.get("folders").json()["items"]] == [1, 1]


def test_a_folder_is_renamed_moved_and_deleted(ada):
    outer, inner = a_folder(ada.person, "Outer"), a_folder(ada.person, "Inner")
    path = f"folders/{inner.pk}"
    assert ada.patch(path, {"parent_id": outer.pk}).json()["path"] == ["Outer", "Inner"]
    assert ada.patch(path, {"name": "Core"}).json()["path"] == ["Outer", "Core"]
    assert ada.patch(f"folders/{outer.pk}", {"parent_id": inner.pk}).status_code == 409
    assert ada.patch(path, {"parent_id": None}).json()["path"] == ["Core"]
    assert ada.patch(path, {"name": "Outer"}).status_code == 409
    assert ada.delete(path).status_code == 204
    assert ada.get(path).status_code == 404


# --- tags -------------------------------------------------------------------------------------------------------------
def test_tags_are_counted_renamed_and_deleted(ada):
    ada.patch(f"postings/{a_posting().pk}", {"add_tags": ["one", "two"]})
    one, two = ada.get("tags").json()["items"]
    assert (one["name"], one["postings"]) == ("one", 1)
    assert ada.patch(f"tags/{one['id']}", {"name": "first"}).json()["name"] == "first"
    assert ada.patch(f"tags/{one['id']}", {"name": "two"}).status_code == 409
    assert ada.delete(f"tags/{two['id']}").status_code == 204
    assert ada.delete(f"tags/{two['id']}").status_code == 404
    assert Tag.objects.get().name == "first"


# --- lists ------------------------------------------------------------------------------------------------------------
def test_an_exported_list_can_be_imported_elsewhere(ada):
    a_follow(ada.person, a_source(title="The Fern"), folders=(a_folder(ada.person, "Plants"),))
    a_follow(ada.person)
    taken = ada.get("opml")
    assert taken["Content-Type"].startswith("text/x-opml")
    eve = Program(a_user("Eve"))
    result = eve.request("POST", "opml", taken.content, kind="text/x-opml").json()
    assert (len(result["followed"]), result["already_followed"], result["skipped"]) == (2, 0, [])
    assert eve.get("folders").json()["items"][0]["path"] == ["Plants"]
    assert eve.request("POST", "opml", taken.content, kind="application/xml").json()["already_followed"] == 2


def test_an_invalid_list_is_refused(ada):
    assert ada.request("POST", "opml", b"no list", kind="text/x-opml").status_code == 400
    assert ada.request("POST", "opml", b"{}").status_code == 415
