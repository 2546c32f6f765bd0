"""Whatever a page is made of, it ends in a sentence, in time, and the worker goes on with the next one."""

import gzip
import time
from datetime import UTC, datetime

import pytest

from apps.postings.models import Posting
from apps.retrieval.actions import adopt_sources
from apps.retrieval.http import fetching
from apps.retrieval.models import Page, Retrieval, Schedule
from apps.sources.actions.editing import add_source
from apps.sources.models import Source
from tests.apps.retrieval.retrieving import retrieve_now
from tests.web import HTML, serving_pages

pytestmark = pytest.mark.django_db(transaction=True)

PROSE = "<p>" + "The council voted on Tuesday to keep the old bridge open to walkers until spring. " * 12 + "</p>"
BOMB = b"""<?xml version="1.0"?><!DOCTYPE urlset [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;">]>
<urlset><url><loc>http://site.example/&d;&d;&d;&d;</loc></url></urlset>"""
PAGES = {
    "/large": (HTML, b"<html><body>" + PROSE.encode() * 9_700),
    "/nested": (HTML, b"<html><body>" + b"<div>" * 100_000 + PROSE.encode()),
    "/broken-encoding": ("text/html; charset=utf-8", b"<html><body>" + b"\xff\xfe\x80\xc3(" * 50_000 + PROSE.encode()),
    "/no-such-charset": ("text/html; charset=klingon", PROSE.encode()),
    "/one-line": (HTML, b"x" * 50 * 2**20),
    "/bomb": ("application/xml", BOMB),
    "/packed": ("application/gzip", gzip.compress(b"<urlset>" + b" " * 60 * 2**20)),
    "/empty": (HTML, b""),
    "/picture": ("image/png", b"\x89PNG\r\n" + bytes(1_000)),
    "/less-than": (HTML, b"<" * 2**20),
    "/comment": (HTML, b"<!--" + b"-" * 2 * 2**20),
    "/links": (HTML, b"<html><body>" + b"<a href='/never'>A link to somewhere that is not there</a>" * 60_000),
}
GOOD_PATH = "/world/council-keeps-the-old-bridge-open"
TITLE = "Council keeps the old bridge open to walkers"
GOOD = (HTML, f"<html><head><title>{TITLE}</title></head><body><article><h1>{TITLE}</h1>{PROSE * 4}</article>".encode())


def test_hostile_pages_of_a_site_end_with_a_reason_and_the_good_one_among_them_is_stored(engine):
    links = "".join(f"<li><a href='{path}'>A headline that leads to {path}</a></li>" for path in [*PAGES, GOOD_PATH])
    with serving_pages(PAGES | {"/": (HTML, f"<ul>{links}</ul>".encode()), GOOD_PATH: GOOD}) as web:
        source_id = add_source(Source(url=web.url("/"), kind="site", always_retrieved=True, min_gap=0))
        adopt_sources(now=datetime.now(UTC))
        began = time.monotonic()
        retrieve_now(engine, source_id)
        while engine.fetch_batch(source_id):
            pass
        elapsed = time.monotonic() - began
        pages = {page.url: page for page in Page.objects.filter(source_id=source_id)}
        assert all(pages[web.url(path)].reason for path in PAGES)
        assert f"{fetching.BODY_LIMIT:,} bytes" in pages[web.url("/one-line")].reason
        assert pages[web.url("/picture")].reason == "It is not a page, but image/png."
        assert pages[web.url(GOOD_PATH)].kind == Page.Kind.NEWS
        assert Posting.objects.filter(url=web.url(GOOD_PATH)).exists()
    assert elapsed < 60


@pytest.mark.parametrize(
    "path", ["/nested", "/broken-encoding", "/one-line", "/bomb", "/empty", "/picture", "/less-than"]
)
def test_a_hostile_first_page_is_an_error_of_its_site_and_of_no_other(engine, path):
    with serving_pages(PAGES) as web:
        source_id = add_source(Source(url=web.url(path), kind="site", always_retrieved=True, min_gap=0))
        adopt_sources(now=datetime.now(UTC))
        retrieve_now(engine, source_id)
        assert Retrieval.objects.filter(source_id=source_id).count() == 1
        assert Schedule.objects.get(pk=source_id).worker == ""
