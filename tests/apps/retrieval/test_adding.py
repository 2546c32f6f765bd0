"""Any address leads to a source, to a choice, or to a sentence that says why not; testing a source writes nothing."""

from datetime import UTC, datetime, timedelta

import pytest
from django.test.utils import CaptureQueriesContext

from apps.postings.models import Posting
from apps.retrieval.actions import discover
from apps.retrieval.http.inspection import inspect
from apps.retrieval.models import Retrieval, RobotsRules, Schedule
from apps.sources.models import Source
from apps.web.pages.reasons import shape_of
from lab.worlds.feed import make_feed
from lab.worlds.responses import Options
from tests.builders import a_user
from tests.web import clear_cache, replaying

NOW = datetime.now(UTC)

pytestmark = pytest.mark.django_db


@pytest.fixture
def replay(settings):
    settings.RETRIEVAL_HOST_GAP = 0
    postings = [(NOW - timedelta(hours=hours), f"News of {hours} hours ago") for hours in range(1, 6)]
    with replaying([make_feed(1, postings, title="The Daily")]) as server:
        yield server


def feed_requests(replay) -> int:
    return sum(request.kind == "feed" for request in replay.record.requests)


def test_a_feeds_address_adds_it_with_its_postings_in_one_request(replay):
    found = discover(a_user(), replay.feed_url(1), now=NOW)
    assert found.problem == ""
    source = Source.objects.get(pk=found.source_id)
    assert source.title == "The Daily"
    assert Posting.objects.filter(source=source).count() == 5
    schedule = Schedule.objects.get(pk=source.pk)
    assert schedule.etag
    assert schedule.due_at >= NOW + timedelta(minutes=59)
    assert Retrieval.objects.get().outcome == "new"
    assert feed_requests(replay) == 1


def test_a_pages_address_leads_to_the_feed_that_it_names(replay):
    page = replay.feed_url(1).removesuffix("feed")
    found = discover(a_user(), page, now=NOW)
    assert Source.objects.get(pk=found.source_id).url == replay.feed_url(1)


def test_a_page_whose_feed_the_portal_has_leads_to_it_without_a_request_for_the_feed(replay):
    first = discover(a_user(), replay.feed_url(1), now=NOW)
    clear_cache()  # documents are kept for a short time
    assert discover(a_user(), replay.feed_url(1).removesuffix("feed"), now=NOW) == first
    assert feed_requests(replay) == 1


def test_a_feed_that_a_page_names_is_requested_once_however_large_it_is(settings):
    settings.RETRIEVAL_HOST_GAP = 0
    postings = [(NOW - timedelta(hours=hours), f"{hours} " + "News " * 20_000) for hours in range(1, 15)]
    with replaying([make_feed(1, postings, title="The Daily")]) as large:
        found = discover(a_user(), large.feed_url(1).removesuffix("feed"), now=NOW)
        assert found.source_id is not None
        assert feed_requests(large) == 1


def test_a_known_source_is_found_without_a_request(replay):
    first = discover(a_user(), replay.feed_url(1), now=NOW)
    assert discover(a_user(), f" {replay.feed_url(1)}#top", now=NOW) == first
    assert feed_requests(replay) == 1


def test_a_document_that_was_shown_is_not_fetched_again(replay):
    inspect(replay.feed_url(1), now=NOW)
    discover(a_user(), replay.feed_url(1), now=NOW)
    assert feed_requests(replay) == 1


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("", "empty"),
        ("ftp://example.org/feed", "http"),
        ("hello", "host"),
        ("http://127.0.0.1:8000/feed", "private"),
        ("http://[::1]/feed", "private"),
        ("http://user:secret@example.org/", "password"),
        ("http://nobody.replay.localhost:8700/feed", "private or reserved network"),
    ],
)
def test_an_address_that_leads_nowhere_is_explained_and_nothing_is_written(address, sentence):
    found = discover(a_user(), address, now=NOW)
    assert found.source_id is None
    assert sentence in found.problem
    assert not Source.objects.exists()
    assert not Schedule.objects.exists()


def test_a_page_without_feeds_is_no_source(replay):
    article = replay.record.published[0].link if replay.record.published else f"{replay.feed_url(1)[:-4]}1/item/0"
    found = discover(a_user(), article.replace("/item/", "/nothing/"), now=NOW)
    assert found.source_id is None
    assert "404" in found.problem


def test_robots_txt_is_respected_and_stored(settings):
    settings.RETRIEVAL_HOST_GAP = 0
    with replaying([make_feed(1, [])], options=Options(robots="User-agent: Wirebeat\nDisallow: /feed")) as replay:
        found = discover(a_user(), replay.feed_url(1), now=NOW)
        assert "robots.txt" in found.problem
        assert feed_requests(replay) == 0
        assert RobotsRules.objects.get().body.startswith("User-agent")


class TestInspection:
    def test_a_planned_source_gets_no_extra_request_but_its_latest_document_is_shown(self, replay):
        found = discover(a_user(), replay.feed_url(1), now=NOW)
        adopted = Schedule.objects.get(pk=found.source_id)
        assert adopted.due_at is not None
        inspection = inspect(replay.feed_url(1), now=NOW + timedelta(hours=5))
        assert len(inspection.feed.entries) == 5
        assert feed_requests(replay) == 1

    def test_a_source_without_a_kept_document_shows_its_next_check(self, replay):
        discover(a_user(), replay.feed_url(1), now=NOW)
        clear_cache()
        inspection = inspect(replay.feed_url(1), now=NOW)
        assert "The next check is at" in inspection.problem
        assert feed_requests(replay) == 1

    def test_each_step_and_each_posting_is_shown_and_nothing_is_written(self, replay, django_assert_num_queries):
        with django_assert_num_queries(2) as queries:  # the schedule, and what is known of robots.txt
            inspection = inspect(replay.feed_url(1), now=NOW)
        assert isinstance(queries, CaptureQueriesContext)
        assert all(query["sql"].startswith("SELECT") for query in queries)
        assert [(step.name, step.ok) for step in inspection.steps] == [
            ("Address", True),
            ("Request", True),
            ("Format", True),
            ("Postings", True),
        ]
        known = {shape_of(text)[0] for step in inspection.steps for text in step.details}
        assert {"status {0}, {1} bytes ({2} on the wire)", "{0} found"} <= known
        assert inspection.feed.entries[0].title == "News of 1 hours ago"
        assert "<" in inspection.document or "{" in inspection.document

    def test_a_page_is_distinguished_from_a_feed_and_its_feeds_are_offered(self, replay):
        inspection = inspect(replay.feed_url(1).removesuffix("feed"), now=NOW)
        assert [(step.name, step.ok) for step in inspection.steps][-1] == ("Format", False)
        assert [choice.url for choice in inspection.choices] == [replay.feed_url(1)]

    def test_the_step_that_fails_says_why(self):
        inspection = inspect("http://10.0.0.1/feed", now=NOW)
        assert [(step.name, step.ok) for step in inspection.steps] == [("Address", True), ("Request", False)]
        assert "private" in inspection.problem
