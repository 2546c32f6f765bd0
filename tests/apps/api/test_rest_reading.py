"""Sources, postings and what is done with them, by our own interface."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.following import queries as following
from apps.following.models import Mark, Note, Reading
from tests.apps.api.programs import Program
from tests.builders import (
    a_folder,
    a_follow,
    a_mark,
    a_posting,
    a_retrieval,
    a_schedule,
    a_source,
    a_user,
    an_edition,
    some_postings,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada():
    return Program(a_user("Ada"))


def all_pages(program, path, **query):
    """The items of all pages, found by the links of each."""
    items, answer = [], program.get(path, **query)
    while True:
        assert answer.status_code == 200, answer.content
        items += answer.json()["items"]
        assert ("Link" in answer) == (answer.json()["next"] is not None)
        if "Link" not in answer:
            return items
        address = answer["Link"].partition("<")[2].partition(">")[0]
        answer = program.get(address.removeprefix("http://testserver"))


def ids(items):
    return [item["id"] for item in items]


# --- sources ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("sort", ["popular", "new", "name"])
def test_the_catalogue_has_pages(ada, sort):
    now = timezone.now()
    made = [
        a_source(listed=True, title=f"Paper {number % 3}", added_at=now - timedelta(days=number % 4))
        for number in range(11)
    ]
    for source in made[:4]:
        a_follow(a_user(), source)
    a_source(listed=False)
    found = all_pages(ada, "sources", sort=sort, limit=3)
    assert len(found) == 11
    assert set(ids(found)) == {source.pk for source in made}
    if sort == "popular":
        assert [source["followers"] for source in found] == [1] * 4 + [0] * 7


def test_the_catalogue_is_narrowed_by_words_category_and_language(ada):
    wanted = a_source(listed=True, title="The Daily Fern", category="plants", language="en-GB")
    for other in ({"title": "The Daily Rock"}, {"category": "stones"}, {"language": "de"}):
        values = {"title": "Fern", "category": "plants", "language": "en"} | other
        a_source(listed=True, **values)
    found = ada.get("sources", words="fern daily", category="plants", language="en").json()["items"]
    assert ids(found) == [wanted.pk]


def test_a_source_says_how_it_answers(ada):
    source = a_source(listed=True)
    a_schedule(source, consecutive_failures=2, reason="back-off after 2 failures in a row")
    a_retrieval(source, outcome="failed", status=503, message="It is not there.")
    result = ada.get(f"sources/{source.pk}").json()
    assert result["health"]["failures"] == 2
    assert result["health"]["reason"] == "back-off after 2 failures in a row"
    assert result["retrievals"][0]["status"] == 503


def test_a_source_that_is_not_offered_is_there_for_its_followers_alone(ada):
    source = a_source(listed=False)
    places = ((f"sources/{source.pk}", {}), ("postings", {"source_id": source.pk}))
    assert [ada.get(path, **values).status_code for path, values in places] == [404, 404]
    a_follow(ada.person, source)
    assert [ada.get(path, **values).status_code for path, values in places] == [200, 200]


# --- lists ------------------------------------------------------------------------------------------------------------
@pytest.fixture
def world(ada):
    """Two sources in nested folders, and one without followers."""
    outer = a_folder(ada.person, "Outer")
    inner = a_folder(ada.person, "Inner", outer)
    near, far, other = a_source(listed=True), a_source(listed=False), a_source(listed=True)
    a_follow(ada.person, near, folders=(inner,))
    a_follow(ada.person, far, title="My own name")
    now = timezone.now()
    return {
        "outer": outer,
        "near": some_postings(5, near, newest_at=now - timedelta(hours=1)),
        "far": some_postings(5, far, newest_at=now - timedelta(hours=2)),
        "other": some_postings(3, other, newest_at=now - timedelta(hours=3)),
    }


@pytest.mark.parametrize("order", ["newest", "oldest"])
def test_all_postings_have_pages_by_time(ada, world, order):
    expected = [posting.pk for posting in world["near"] + world["far"]]
    found = ids(all_pages(ada, "postings", limit=4, order=order))
    assert found == (expected if order == "newest" else expected[::-1])


def test_a_page_stays_where_it_was_while_news_arrive(ada, world):
    first = ada.get("postings", limit=4).json()
    a_posting(world["near"][0].source, published_at=timezone.now())
    second = ada.get("postings", limit=4, cursor=first["next"]).json()
    assert ids(first["items"] + second["items"]) == [posting.pk for posting in (world["near"] + world["far"])[:8]]


def test_lists_of_a_folder_a_source_a_tag_and_starred_postings(ada, world):
    near, far, other = world["near"], world["far"], world["other"]
    ada.patch(f"postings/{far[0].pk}", {"starred": True, "add_tags": ["later"]})
    tag_id = ada.get("tags").json()["items"][0]["id"]
    assert ids(ada.get("postings", folder_id=world["outer"].pk).json()["items"]) == [each.pk for each in near]
    assert ids(ada.get("postings", source_id=other[0].source_id).json()["items"]) == [each.pk for each in other]
    assert ids(ada.get("postings", tag_id=tag_id).json()["items"]) == [far[0].pk]
    assert ids(ada.get("postings", starred=True).json()["items"]) == [far[0].pk]
    assert ada.get("postings", starred=True, tag_id=tag_id).status_code == 422
    assert ids(ada.get("postings", source_id=far[0].source_id).json()["items"]) == [each.pk for each in far]


def test_unread_postings_alone(ada, world):
    a_mark(ada.person, world["near"][0], read=True)
    found = ada.get("postings", unread=True).json()["items"]
    assert ids(found) == [posting.pk for posting in world["near"][1:] + world["far"]]


def test_a_listed_posting_has_the_users_state(ada, world):
    posting = world["far"][0]
    ada.patch(f"postings/{posting.pk}", {"starred": True, "read": True, "add_tags": ["b", "a"]})
    [result] = ada.get("postings", starred=True, content=True).json()["items"]
    assert (result["starred"], result["unread"], result["tags"]) == (True, False, ["a", "b"])
    assert (result["source_title"], result["html"]) == ("My own name", posting.html)
    assert ada.get("postings").json()["items"][0]["html"] is None


# --- one posting ------------------------------------------------------------------------------------------------------
def test_a_posting_in_full(ada):
    carried = [{"url": "https://a.example/1.mp3", "media_type": "audio/mpeg", "length": 7}, {"url": "javascript:x"}]
    posting = a_posting(enclosures=carried, url="javascript:alert(1)")
    an_edition(posting, title="Before")
    result = ada.get(f"postings/{posting.pk}").json()
    assert (result["html"], result["text"], result["url"]) == (posting.html, posting.text, "")
    assert [each["url"] for each in result["enclosures"]] == ["https://a.example/1.mp3"]
    assert [each["title"] for each in result["editions"]] == ["Before"]
    assert result["note"] is None


def test_reading_a_posting_does_not_mark_it_read(ada):
    follow = a_follow(ada.person)
    posting = a_posting(follow.source)
    assert ada.get(f"postings/{posting.pk}").json()["unread"]
    assert not Mark.objects.exists()
    assert not Reading.objects.exists()


def test_marks_change_the_given_fields_alone(ada):
    posting = a_posting(a_follow(ada.person).source)
    assert ada.patch(f"postings/{posting.pk}", {"starred": True}).json()["starred"]
    result = ada.patch(f"postings/{posting.pk}", {"read": True, "add_tags": ["x"]}).json()
    assert (result["starred"], result["unread"], result["tags"]) == (True, False, ["x"])
    result = ada.patch(f"postings/{posting.pk}", {"read": False, "starred": False, "remove_tags": ["x"]}).json()
    assert (result["starred"], result["unread"], result["tags"]) == (False, True, [])


def test_passages_are_highlighted_listed_in_parts_and_removed(ada):
    posting = a_posting(html="<p>The old bridge and the tower.</p>")
    path = f"postings/{posting.pk}/highlights"
    bridge = ada.post(path, {"quote": "old bridge", "note": "Which?"}).json()
    assert (bridge["prefix"], bridge["suffix"], bridge["note"]) == ("The", " and the tower.", "Which?")
    tower = ada.post(path, {"quote": "tower"}).json()
    assert ada.post(path, {"quote": "new bridge"}).status_code == 409
    first = ada.get("highlights", limit=1).json()
    assert [each["id"] for each in first["items"]] == [tower["id"]]
    second = ada.get("highlights", limit=1, cursor=first["next"]).json()
    assert ([each["id"] for each in second["items"]], second["next"]) == ([bridge["id"]], None)
    assert [each["id"] for each in ada.get("highlights", q="which").json()["items"]] == [bridge["id"]]
    assert ada.delete(f"highlights/{bridge['id']}").status_code == 204
    assert ada.delete(f"highlights/{bridge['id']}").status_code == 404


def test_a_note_is_written_replaced_and_deleted(ada):
    posting = a_posting()
    path = f"postings/{posting.pk}/note"
    assert ada.put(path, {"text": "First"}).json()["note"] == "First"
    assert ada.put(path, {"text": "Second"}).json()["note"] == "Second"
    assert ada.delete(path).status_code == 204
    assert not Note.objects.exists()


def test_a_posting_has_a_summary(ada):
    sentences = [f"Line {n} tells of the storm that came over the old harbour of the town at night." for n in range(12)]
    posting = a_posting(text=" ".join(sentences), language="en")
    result = ada.get(f"postings/{posting.pk}/summary", percent=23).json()
    assert result["percent"] == 20
    assert set(result["sentences"]) < set(sentences)
    assert ada.get(f"postings/{posting.pk}/summary", percent=0).status_code == 422


# --- many -------------------------------------------------------------------------------------------------------------
def test_many_are_marked_at_once_and_strangers_left_out(ada, world):
    hidden = a_posting(a_source(listed=False))
    wanted = sorted(posting.pk for posting in world["near"])
    result = ada.post("postings/marks", {"posting_ids": [*wanted, hidden.pk], "read": True, "starred": True})
    assert result.json() == {"posting_ids": wanted}
    assert ids(ada.get("postings", unread=True).json()["items"]) == [posting.pk for posting in world["far"]]
    assert len(ada.get("postings", starred=True).json()["items"]) == 5
    assert ada.post("postings/marks", {"posting_ids": list(range(1, 1_002)), "read": True}).status_code == 422


def test_marking_a_list_read_can_be_undone(ada, world):
    shown_at = ada.get("postings").json()["shown_at"]
    late = a_posting(world["near"][0].source, retrieved_at=timezone.now() + timedelta(seconds=5))
    marked = ada.post("postings/read", {"shown_at": shown_at}).json()
    assert marked["count"] == 10
    assert ids(ada.get("postings", unread=True).json()["items"]) == [late.pk]
    assert ada.post("postings/read/undo", {"undo_id": marked["undo_id"]}).json() == {"count": 10}
    assert ada.post("postings/read/undo", {"undo_id": marked["undo_id"]}).json() == {"count": 0}
    assert sum(following.unread_counts(ada.person).values()) == 11


def test_a_folder_marked_read_leaves_the_rest(ada, world):
    shown_at = ada.get("postings").json()["shown_at"]
    body = {"folder_id": world["outer"].pk, "shown_at": shown_at, "before": world["near"][1].published_at.isoformat()}
    assert ada.post("postings/read", body).json()["count"] == 3
    assert len(ada.get("postings", unread=True).json()["items"]) == 7
    assert ada.post("postings/read", body | {"folder_id": 10**9}).status_code == 404
