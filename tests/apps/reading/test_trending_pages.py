"""The page of trends and their feeds."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils.translation import override
from pytest_django import DjangoDbBlocker
from time_machine import TimeMachineFixture, travel

from apps.postings.models import Posting
from apps.reading.pages.trending import Link, TrendingParameters, trending_strip, trends_page
from apps.sources.models import Source
from apps.stories import actions as stories
from apps.stories.models import Story
from apps.trending import actions
from tests.builders import a_posting, a_source, a_user

pytestmark = pytest.mark.django_db

NOW = datetime(2024, 5, 2, 18, 30, tzinfo=UTC)


@pytest.fixture(scope="class")
def rows_of_trends(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """A story of six sources in English, one in German, and a script in a title.

    Made once for the tests of a class, each of which rolls back what it changes.
    """
    with django_db_blocker.unblock(), transaction.atomic():
        with travel(NOW, tick=False):
            make_trends()
        yield
        transaction.set_rollback(True)


def make_trends() -> None:
    sources = [a_source(listed=True, title="", category="local") for _ in range(6)]
    for number in range(12):
        words = ("Harbour bridge closed after storm", "Storm & harbour bridge <b>", "Ferries replace harbour bridge")
        at = NOW - timedelta(minutes=5 * number)
        title = f"{words[number % 3]} {'abcdefghijkl'[number]}"
        a_posting(sources[number % 6], title=title, text="", language="en", published_at=at)
    for number in range(4):
        title = f"Bundesrat stimmt zu {'abcd'[number]}"
        a_posting(sources[number], title=title, text="", language="de", published_at=NOW)
    while actions.count():
        pass
    while actions.slice_stale():
        pass
    actions.refresh(("hour", "day", "week", "month", "year"), NOW)


@pytest.fixture
def trends(rows_of_trends: None, db: None, time_machine: TimeMachineFixture) -> None:
    time_machine.move_to(NOW, tick=False)


def shown_rows():
    return [
        row for each in trends_page(AnonymousUser(), TrendingParameters("en"), NOW)["lists"] for row in each["rows"]
    ]


def test_the_page_of_an_empty_portal_says_that_nothing_trends(client: Client):
    answer = client.get(reverse("trends"), {"language": "x\x00y", "term": "\x00"})
    assert answer.status_code == 200
    assert "Nothing is trending yet" in answer.content.decode()


def test_the_strip_of_an_empty_portal_is_empty():
    assert trending_strip() == ()


@pytest.mark.usefixtures("trends")
class TestTrends:
    def test_the_page_shows_five_lists_with_searches_curves_related_words_and_the_story(self):
        page = trends_page(a_user(), TrendingParameters(), NOW)
        assert [each["name"] for each in page["lists"]] == ["Last hours", "24 hours", "7 days", "30 days", "12 months"]
        for each in page["lists"]:
            [row] = each["rows"]
            assert row["trend"].term.lower() == "harbour bridge"
            assert row["search"] == f"/search/?q=%22{row['trend'].term.replace(' ', '+')}%22"
            assert row["picture"].startswith("<svg")
            assert row["headline"] is not None
            assert row["is_charted"]
        assert [link.label for link in page["languages"]] == ["English", "Deutsch"]
        assert [link.label for link in page["categories"]] == ["All", "local"]
        with override("de-at"):
            assert trends_page(AnonymousUser(), TrendingParameters(), NOW)["parameters"].language == "de"

    def test_any_word_can_be_drawn_and_taken_away(self, client: Client):
        address = reverse("trends")
        shown = client.get(
            address, {"language": "en", "period": "days", "term": ["ferries", "harbour bridge", "?"]}
        ).content.decode()
        assert "ferries, 2 May: 4" in shown
        assert "harbour bridge, 2 May: 12" in shown
        page = trends_page(a_user(), TrendingParameters("en", terms=("ferries", "harbour bridge")), NOW)
        assert [term["total"] for term in page["charted"]] == [4, 12]
        assert page["charted"][0]["remove"] == "?language=en&term=harbour+bridge"

    def test_every_choice_has_a_page_with_as_many_queries(
        self, client: Client, django_assert_max_num_queries, subtests
    ):
        for period, method in product(["hours", "days", "months", "nonsense"], ["ours", "yioop"]):
            cache.clear()
            with subtests.test(period=period, method=method):
                with django_assert_max_num_queries(6):
                    answer = client.get(reverse("trends"), {"period": period, "method": method, "language": "en"})
                assert answer.status_code == 200
                assert b"<b>" not in answer.content

    def test_the_chart_opens_on_the_hours_while_there_are_no_days_to_compare(self):
        def opened() -> str:
            [link] = [
                link
                for link in trends_page(AnonymousUser(), TrendingParameters("en"), NOW)["periods"]
                if link.is_current
            ]
            return link.label

        assert opened() == "48 hours"
        source = a_source(listed=True)
        for days in range(1, 5):
            at = NOW - timedelta(days=days)
            a_posting(source, title="Harbour bridge", text="", language="en", published_at=at)
        while actions.count():
            pass
        while actions.slice_stale():
            pass
        assert opened() == "30 days"

    def test_headlines_of_formerly_listed_sources_are_not_shown(self, client: Client):
        Source.objects.update(listed=False)
        assert "after storm" not in client.get(reverse("trends")).content.decode()

    def test_the_strip_names_the_terms_of_the_day(self):
        assert [link.label.lower() for link in trending_strip()] == ["harbour bridge"]
        assert [link.label for link in trending_strip("de")] == ["Bundesrat"]

    def test_visitors_find_the_terms_of_the_day_on_the_home_page(self, client: Client):
        shown = client.get("/").content.decode()
        assert '<li><a href="/search/?q=%22' in shown.split('class="trend-strip"')[1]
        assert reverse("trends") in shown

    def test_a_term_leads_to_its_newest_posting_until_two_of_its_postings_share_a_story(self):
        newest = Posting.objects.filter(language="en", published_at__gte=NOW.replace(minute=0)).latest("pk")
        assert {row["headline"] for row in shown_rows()} == {Link(newest.title, reverse("posting", args=[newest.pk]))}
        while stories.consuming.consume():
            pass
        assert stories.maintaining.label_trends() > 0
        story = Story.objects.filter(language="en").latest("reports")
        lead = Posting.objects.get(pk=story.lead_id)
        assert {row["headline"] for row in shown_rows()} == {Link(lead.title, reverse("story", args=[story.pk]))}
