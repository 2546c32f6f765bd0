"""Sources that are no feeds are retrieved like feeds, by the paths of their recipes."""

import json
from datetime import UTC, datetime

import pytest

from apps.postings.models import Posting
from apps.retrieval.actions import adopt_sources
from apps.retrieval.models import Retrieval
from apps.sources.actions.editing import add_source
from apps.sources.models import Source
from tests.apps.retrieval.retrieving import retrieve_now
from tests.web import HTML, RSS, serving_pages

pytestmark = pytest.mark.django_db(transaction=True)

NEWS = [("Bridge stays open", "/bridge"), ("Storm over the harbour", "/storm")]
LIST = "".join(f"<li class='news'><a href='{path}'>{title}</a><p>Words on {path}.</p></li>" for title, path in NEWS)
ROWS = [{"head": title, "url": path, "words": f"Words on {path}."} for title, path in NEWS]
TEXT = "".join(f"ITEM title={title}; link={path}; text=Words on {path}.\n" for title, path in NEWS)
SHOWN = {
    "json": ("application/json", json.dumps({"data": {"rows": ROWS}}).encode()),
    "xpath": (HTML, f"<html><body><ul>{LIST}</ul></body></html>".encode()),
    "regex": ("text/plain", TEXT.encode()),
    "podcast": (
        RSS,
        b"<rss version='2.0'><channel><item><guid>1</guid><title>Bridge stays open</title></item></channel></rss>",
    ),
}
RECIPES = {
    "json": {"item": "data.rows", "title": "head", "link": "url", "description": "words"},
    "xpath": {"item": "//li[@class='news']", "title": "a", "link": "a", "description": "p"},
    "regex": {"item": "ITEM ", "title": "title=([^;]+);", "link": "link=([^;]+);", "description": "text=(.+)"},
    "podcast": {},
}


def a_source_of(url, kind, recipe):
    source_id = add_source(Source(url=url, always_retrieved=True, min_gap=0))
    Source.objects.filter(pk=source_id).update(kind=kind, recipe=recipe)
    adopt_sources(now=datetime.now(UTC))
    return source_id


@pytest.mark.parametrize("kind", SHOWN)
def test_entries_of_each_source_kind_are_stored_once(engine, kind):
    with serving_pages({"/list": SHOWN[kind]}) as web:
        source_id = a_source_of(web.url("/list"), kind, RECIPES[kind])
        assert retrieve_now(engine, source_id).outcome == Retrieval.Outcome.NEW
        retrieve_now(engine, source_id)
        assert Posting.objects.filter(title="Bridge stays open").count() == 1
        if kind != "podcast":
            assert Posting.objects.get(title="Storm over the harbour").url == web.url("/storm")
            assert "Words on /bridge." in Posting.objects.get(title="Bridge stays open").text


def test_a_podcast_on_pages_is_followed_to_its_recording(engine):
    pages = {
        "/": (HTML, b"<a class='latest' href='/episode-7'>Latest</a>"),
        "/episode-7": (HTML, b"<html><title>Tea and bridges</title><audio src='/7.mp3'></audio></html>"),
    }
    with serving_pages(pages) as web:
        source_id = a_source_of(web.url("/"), "scrape", {"more": "//a[@class='latest']\n//audio"})
        assert retrieve_now(engine, source_id).outcome == Retrieval.Outcome.NEW
        [enclosure] = Posting.objects.get().enclosures
        assert enclosure["url"] == web.url("/7.mp3")
        retrieve_now(engine, source_id)  # the first page is the same, so nothing is followed
        assert web.requested_paths.count("/episode-7") == 1


def test_a_path_that_no_longer_finds_anything_is_named_in_the_log(engine):
    with serving_pages({"/list": (HTML, b"<html><body><p>Under construction</p></body></html>")}) as web:
        failed = retrieve_now(engine, a_source_of(web.url("/list"), "xpath", RECIPES["xpath"]))
    assert failed.outcome == Retrieval.Outcome.NOT_A_FEED
    assert "//li[@class='news']" in failed.message


def test_a_lost_page_on_the_way_to_a_recording_is_named_in_the_log(engine):
    with serving_pages({"/": (HTML, b"<a class='latest' href='/episode-7'>Latest</a>")}) as web:
        failed = retrieve_now(engine, a_source_of(web.url("/"), "scrape", {"more": "//a[@class='latest']\n//audio"}))
    assert failed.outcome == Retrieval.Outcome.FAILED
    assert "/episode-7" in failed.message
