"""Sections of the front page: contents, refreshing, and administration."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.reading.pages.news import front_sections
from apps.search import actions as search_actions
from apps.search.algorithms.language import BadQuery
from apps.search.queries import TooCostly
from apps.stories import actions
from apps.stories.actions import consuming
from apps.stories.actions import sections as section_actions
from apps.stories.actions.sections import NotASection, add_section, edit_section, move_section
from apps.stories.models import Section
from apps.stories.queries import sections as queries
from apps.stories.queries.sections import KEPT, RESTING, contents, find, shown_sections
from tests.apps.stories.publishing import BUDGET, STORM, publish
from tests.builders import a_posting, a_source, a_user

pytestmark = pytest.mark.django_db
WORLD = {"slug": "world", "title": "World", "category": "World"}


@pytest.fixture(autouse=True)
def nothing_remembered():
    consuming._memory = None
    cache.clear()


@pytest.fixture
def now():
    return timezone.now()


def index() -> None:
    while actions.consuming.consume():
        pass
    while search_actions.reindexing.consume():
        pass


def a_section(now, **values) -> Section:
    return add_section(dict(WORLD, **values), now=now)


def news(title: str, *, category="World", hours_ago=1.0, listed=True, language="en"):
    source = a_source(category=category, listed=listed, language=language)
    at = timezone.now() - timedelta(hours=hours_ago)
    return a_posting(source, title=title, language=language, published_at=at)


# --- what they find ---------------------------------------------------------------------------------------------------
def test_a_category_finds_its_postings_the_newest_first(now):
    old, new = news("Old", hours_ago=5), news("New")
    news("Sport", category="Sport")
    news("Unlisted", listed=False)
    index()
    assert find(a_section(now), now).posting_ids == (new.pk, old.pk)


def test_a_query_is_narrowed_to_its_category_and_language(now):
    found = news("Storm over the coast")
    news("Storm over the coast", category="Sport")
    news("Orage: storm coast", language="fr")
    news("Calm over the coast")
    index()
    section = a_section(now, query="storm", language="en-GB", order="newest")
    assert find(section, now).posting_ids == (found.pk,)
    assert find(a_section(now, slug="ranked", query="storm coast", order="relevance"), now).posting_ids[0] == found.pk


def test_stories_come_by_their_rank_and_only_those_whose_lead_is_found(now):
    publish(*STORM)
    budget = publish(*BUDGET)
    index()
    every = find(a_section(now, slug="all", category="", language="en", order="stories"), now)
    assert [front.reports for front in every.stories] == [3, 2]
    one = find(a_section(now, slug="money", category="", query="budget", order="stories"), now)
    assert [front.lead_id for front in one.stories] == [budget[0].pk]


# --- refreshing -------------------------------------------------------------------------------------------------------
def test_contents_are_cached_for_a_while_and_then_refreshed(now):
    section = a_section(now)
    news("First")
    index()
    assert contents([section], now)[section.pk].count == 1
    news("Second")
    index()
    assert contents([section], now + KEPT / 2)[section.pk].count == 1
    assert contents([section], now + timedelta(hours=1))[section.pk].count == 2


def test_a_changed_section_is_refreshed_at_once(now):
    section = a_section(now)
    news("Sport", category="Sport")
    index()
    assert contents([section], now)[section.pk].count == 0
    edit_section(section.pk, dict(WORLD, category="Sport"), now=now)
    section.refresh_from_db()
    assert contents([section], now)[section.pk].count == 1


def test_a_costly_section_keeps_what_it_had_and_rests(now, monkeypatch):
    section = a_section(now)
    news("First")
    index()
    contents([section], now)
    calls = []

    def costly(*_args):
        calls.append(1)
        raise TooCostly("This search took too long: make it more specific.")

    monkeypatch.setattr(queries, "find", costly)
    later = now + timedelta(hours=1)
    for at in (later, later + RESTING / 2):
        content = contents([section], at)[section.pk]
        assert content.count == 1
        assert "too long" in content.problem
    assert len(calls) == 1
    contents([section], later + RESTING)
    assert len(calls) == 2


def test_costly_contents_are_cached_longer(now, monkeypatch):
    section = a_section(now)
    assert find(section, now).good_until == now + KEPT
    monkeypatch.setattr(queries, "SHARE", 1e-9)
    content = find(section, now)
    assert content.good_until - now == pytest.approx(timedelta(milliseconds=content.milliseconds) * 1e9, rel=0.01)


def test_during_a_refresh_others_see_the_former_contents(now):
    section = a_section(now)
    news("First")
    index()
    contents([section], now)
    news("Second")
    index()
    cache.set(f"{queries._key(section)}.at_work", 1, 30)
    assert contents([section], now + timedelta(hours=1))[section.pk].count == 1


def test_a_page_refreshes_only_within_its_time_limit(now, monkeypatch):
    sections = [a_section(now, slug=f"s{number}") for number in range(3)]
    monkeypatch.setattr(queries, "ROOM", 0.0)
    assert all(content.found_at is None for content in contents(sections, now).values())


# --- validation -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"query": "storm ("}, BadQuery),
        ({"language": "??"}, BadQuery),
        ({"category": " "}, NotASection),
        ({"slug": "taken"}, NotASection),
    ],
)
def test_a_section_that_cannot_be_is_not_added(now, values, problem):
    a_section(now, slug="taken")
    with pytest.raises(problem):
        a_section(now, **values)
    assert Section.objects.count() == 1


def test_there_are_only_so_many(now, monkeypatch):
    monkeypatch.setattr(section_actions, "MAX_SECTIONS", 2)
    for number in range(2):
        a_section(now, slug=f"s{number}")
    with pytest.raises(NotASection, match="There are 2 sections"):
        a_section(now, slug="another")


def test_sections_change_places_with_their_neighbours(now):
    ids = [a_section(now, slug=slug).pk for slug in ("a", "b", "c")]
    for at, up, expected in (
        (1, True, "bac"),
        (0, False, "bca"),
        (1, True, "bca"),
        (0, False, "bca"),
        (99, True, "bca"),
    ):
        move_section(ids[at] if at < 3 else 10**6, up=up)
        assert "".join(section.slug for section in shown_sections()) == expected


# --- on pages ---------------------------------------------------------------------------------------------------------
def test_the_front_page_shows_sections_with_tabs_and_a_link_to_all(client, now):
    for number in range(4):
        news(f"World news {number}", hours_ago=number + 1)
    a_section(now, front_size=2)
    a_section(now, slug="only-a-tab", title="Only a tab", front_size=0)
    a_section(now, slug="off", title="Switched off", is_on=False)
    a_section(now, slug="empty", title="Nothing of this", category="Empty")
    index()
    for address in (reverse("home"), reverse("stories")):
        text = client.get(address).text
        assert text.count("All of World") == 1
        assert "Only a tab" in text
        assert "Switched off" not in text
        assert "All of Nothing" not in text
    assert [row.title for row in front_sections(AnonymousUser(), now)["parts"][0]["rows"]] == [
        "World news 0",
        "World news 1",
    ]


def test_a_section_is_read_page_by_page(client, now):
    for number in range(12):
        news(f"News {number:02}", hours_ago=number + 1)
    a_section(now, page_size=5)
    index()
    found = []
    for number in (1, 2, 3):
        page = client.get(reverse("section", args=["world"]), {"page": number}).context["page"]
        found += [row.title for row in page["rows"]]
        assert page["next"] == (number + 1 if number < 3 else 0)
    assert found == [f"News {number:02}" for number in range(12)]
    assert client.get(reverse("section", args=["world"]), {"page": "x"}).context["page"]["number"] == 1


def test_an_unknown_section_or_one_that_is_off_gets_404(client, now):
    a_section(now, is_on=False)
    for slug in ("world", "nothing"):
        assert client.get(reverse("section", args=[slug])).status_code == 404
        assert client.get(reverse("section_feed", args=[slug])).status_code == 404


def test_a_section_is_a_feed_of_its_postings_and_of_its_stories_leads(client, now):
    posting = news("Rain & more")
    a_section(now)
    publish(*STORM)
    a_section(now, slug="stories", category="", language="en", order="stories")
    index()
    feed = client.get(reverse("section_feed", args=["world"]))
    assert "<title>Rain &amp; more</title>" in feed.text
    assert reverse("posting", args=[posting.pk]) in feed.text
    assert feed["Content-Type"].startswith("application/rss+xml")
    assert STORM[0] in client.get(reverse("section_feed", args=["stories"])).text


def test_the_front_page_costs_as_much_with_many_sections_as_with_one(client, now, monkeypatch):
    monkeypatch.setattr(queries, "ROOM", 1e9)  # so that the page refreshes none

    def cost() -> int:
        client.get(reverse("stories"))
        with CaptureQueriesContext(connection) as found:
            client.get(reverse("stories"))
        return len(found)

    news("First")
    publish(*STORM)
    a_section(now)
    a_section(now, slug="stories", category="", language="en", order="stories")
    index()
    before = cost()
    for number in range(5):
        a_section(now, slug=f"s{number}")
        a_section(now, slug=f"t{number}", category="", language="en", order="stories")
    assert cost() == before


# --- arranged by staff ------------------------------------------------------------------------------------------------
@pytest.fixture
def staff(client):
    client.force_login(a_user(is_staff=True))


TYPED = {"title": "Storms", "query": "storm", "order": "newest", "page_size": "30", "front_size": "6", "is_on": "on"}


@pytest.mark.parametrize("name", ["add_section", "edit_section"])
def test_only_staff_arranges(client, now, name):
    address = reverse(name, args=[] if name == "add_section" else [a_section(now).pk])
    assert client.get(address).status_code == 302
    client.force_login(a_user())
    assert client.post(address, TYPED).status_code == 403


def test_a_section_is_added_and_edited(client, staff, now):
    assert client.post(reverse("add_section"), TYPED).url == reverse("sections")
    section = Section.objects.get()
    assert (section.slug, section.query, section.is_on) == ("storms", "storm", True)
    assert 'value="Storms"' in client.get(reverse("edit_section", args=[section.pk])).text
    client.post(reverse("edit_section", args=[section.pk]), TYPED | {"title": "Winds", "slug": "winds", "is_on": ""})
    section.refresh_from_db()
    assert (section.title, section.slug, section.is_on, section.revision) == ("Winds", "winds", False, 2)


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ({"query": ""}, "needs a query, a category or a language"),
        ({"query": "storm (coast"}, "is not closed"),
        ({"language": "??"}, "no language with this code"),
        ({"page_size": "1000"}, "less than or equal to 100"),
        ({"title": ""}, "This field is required"),
        ({"title": "世界"}, "has no letters that an address can use"),
        ({"slug": "a b"}, "Enter a valid"),
        ({"query": "x" * 1_001}, "at most 1000 characters"),
    ],
)
def test_an_invalid_section_shows_an_error(client, staff, typed, text):
    assert text in client.post(reverse("add_section"), TYPED | typed).text
    assert not Section.objects.exists()


def test_sections_are_moved_and_deleted(client, staff, now):
    first, second = a_section(now), a_section(now, slug="second", title="Second")
    client.post(reverse("move_section", args=[second.pk]), {"way": "up"})
    assert [each["section"].slug for each in client.get(reverse("sections")).context["page"]["sections"]] == [
        "second",
        "world",
    ]
    client.post(reverse("delete_section", args=[first.pk]))
    assert [section.slug for section in shown_sections()] == ["second"]
    assert client.post(reverse("delete_section", args=[first.pk])).status_code == 404
