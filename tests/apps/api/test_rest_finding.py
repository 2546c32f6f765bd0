"""Search, searches that are kept, what they found, trends and stories, by our own interface."""

from datetime import timedelta

import pytest
from django.core.cache import cache
from django.utils import timezone

from apps.search.actions.reindexing import consume
from apps.search.models import SavedSearch
from apps.search.queries import TooCostly
from apps.stories import actions as stories
from apps.trending.models import Trend
from tests.apps.api.programs import Program, a_person_with_everything
from tests.apps.stories.publishing import STORM, publish
from tests.builders import a_posting, a_source, a_user

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_kept():
    cache.clear()


@pytest.fixture
def ada():
    return Program(a_user("Ada"))


def published(*titles, **values):
    """The newest first."""
    source, now = a_source(listed=True, title="The Fern", category="plants"), timezone.now()
    made = [
        a_posting(source, title=title, language="en", published_at=now - timedelta(hours=number), **values)
        for number, title in enumerate(titles, start=1)
    ]
    consume()
    return made


# --- search -----------------------------------------------------------------------------------------------------------
def test_a_search_explains_its_added_terms(ada):
    spores = published("Ferns spread their spores in spring", "Moss spreads by spores, too", "Trains are late")
    spores += published("Spores of ferns travel with the wind", *(f"Parliament votes on bill {n}" for n in range(30)))
    result = ada.get("search", q="ferns").json()
    assert {found["posting"]["id"] for found in result["items"]} >= {spores[0].pk, spores[3].pk}
    assert (result["query"], result["order"]) == ("ferns", "relevance")
    marked = [piece["text"] for found in result["items"] for piece in found["title"] if piece["is_marked"]]
    assert "Ferns" in marked
    added = {word["word"].lower(): word for word in result["added"]}
    assert "spores" in added
    assert 0 < added["spores"]["weight"] < 1
    assert {origin["posting_id"] for origin in added["spores"]["origins"]} <= {posting.pk for posting in spores}
    assert added["spores"]["origins"][0]["title"]
    without = ada.get("search", q="ferns", without=[added["spores"]["term"]]).json()
    assert "spores" not in {word["word"].lower() for word in without["added"]}
    assert ada.get("search", q="ferns", expansion=False).json()["added"] == []


@pytest.mark.parametrize("order", ["relevance", "fresh", "newest"])
def test_results_have_stable_pages(ada, order):
    made = published(*(f"Ferns of the forest {number}" for number in range(45)))
    found, cursor = [], ""
    while cursor is not None:
        result = ada.get("search", q="ferns", order=order, cursor=cursor).json()
        found += [each["posting"]["id"] for each in result["items"]]
        cursor = result["next"]
        published("Ferns that came later")
    assert len(found) == 45
    assert set(found) == {posting.pk for posting in made}
    assert order != "newest" or found == [posting.pk for posting in made]


def test_an_invalid_query_is_a_problem_with_its_place(ada):
    answer = ada.get("search", q="ferns (moss")
    assert answer.status_code == 400
    [wrong] = answer.json()["errors"]
    assert (wrong["place"], wrong["at"], wrong["piece"]) == ("query.q", 6, "(")


def test_a_search_that_takes_too_long_is_a_problem(ada, monkeypatch):
    def timed_out(*_, **__):
        raise TooCostly("This search took too long: make it more specific.")

    monkeypatch.setattr("apps.api.dialects.rest.views.search.searching.search", timed_out)
    answer = ada.get("search", q="ferns")
    assert (answer.status_code, answer.json()["detail"][:25]) == (422, "This search took too long")


# --- searches that are kept -------------------------------------------------------------------------------------------
def test_a_search_is_saved_changed_and_deleted(ada):
    kept = ada.post("searches", {"name": "Ferns", "query": "fern OR moss", "order": "newest"})
    assert kept.status_code == 201
    path = f"searches/{kept.json()['id']}"
    assert ada.patch(path, {"name": "Plants"}).json()["name"] == "Plants"
    changed = ada.patch(path, {"query": "fern", "order": "fresh"}).json()
    assert (changed["name"], changed["query"], changed["order"]) == ("Plants", "fern", "fresh")
    bad = ada.patch(path, {"query": "fern ("})
    assert (bad.status_code, bad.json()["errors"][0]["place"]) == (400, "body.query")
    ada.post("searches", {"name": "Other", "query": "x"})
    assert ada.patch(path, {"name": "Other", "query": "changed"}).status_code == 409
    assert ada.get(path).json()["query"] == "fern"
    assert ada.delete(path).status_code == 204
    assert [saved.name for saved in SavedSearch.objects.all()] == ["Other"]


def test_a_saved_search_has_hits():
    mine = a_person_with_everything("Ada", size=4)
    ada, path = Program(mine.person), f"searches/{mine.search.pk}"
    first = ada.get(f"{path}/hits", limit=5).json()
    second = ada.get(f"{path}/hits", limit=5, cursor=first["next"]).json()
    found = [hit["posting"]["id"] for hit in first["items"] + second["items"]]
    assert found == sorted(found, reverse=True)
    assert len(found) == len(set(found)) == 8


# --- trends -----------------------------------------------------------------------------------------------------------
def test_trends_name_only_postings_that_the_person_may_read(ada):
    private, public = a_posting(a_source(listed=False)), a_posting()
    now = timezone.now()
    for horizon in ("day", "week"):
        Trend.objects.create(
            language="en", category="", horizon=horizon, method="ours", rank=1, number=1, term="ferns", score=9.0,
            documents=5, expected=None, sources=2, related=["moss"], curve=[1, 4], posting_ids=[private.pk, public.pk],
            listed_at=now, since=now,
        )  # fmt: skip
    result = ada.get("trends").json()
    lists = {each["horizon"]: each["items"] for each in result["lists"]}
    assert lists["day"][0]["term"] == "ferns"
    assert lists["day"][0]["posting_ids"] == [public.pk]
    assert lists["hour"] == []
    assert [each["horizon"] for each in ada.get("trends", horizon="week").json()["lists"]] == ["week"]
    assert ada.get("trends", language="de").json()["lists"][0]["items"] == []


# --- stories ----------------------------------------------------------------------------------------------------------
def test_a_story_has_its_reports(ada):
    storm = publish(*STORM)
    stories.consuming.consume()
    [story] = ada.get("stories").json()["items"]
    assert (story["reports"], story["sources"]) == (3, 3)
    result = ada.get(f"stories/{story['id']}").json()
    assert [report["posting"]["id"] for report in result["reports"]] == [posting.pk for posting in storm]
    assert result["reports"][2]["copy_of"] == storm[0].pk
    assert ada.get("stories/999999999").status_code == 404


def test_stories_keep_their_order_from_page_to_page(ada):
    topics = ("Storm floods {}", "Fire destroys {}", "Strike stops {}", "Festival opens {}", "Election held {}")
    for number, topic in enumerate(topics):
        publish(*[topic.format(f"harbour{number} market{number} castle{number}")] * 2, hours_ago=number + 1)
    stories.consuming.consume()
    whole = [story["id"] for story in ada.get("stories").json()["items"]]
    assert len(whole) == 5
    first = ada.get("stories", limit=3).json()
    publish("Late news of a bridge", "Late news of a bridge", hours_ago=0.1)
    stories.consuming.consume()
    second = ada.get("stories", limit=3, cursor=first["next"]).json()
    assert [story["id"] for story in first["items"] + second["items"]] == whole
