"""What few feeds do, but some: odd types, JSON as content, Dublin Core's dates, fractions, a page around the feed."""

import base64
from datetime import UTC, datetime

import pytest

from apps.sources.formats import parse
from apps.sources.formats.dates import parse_date
from apps.sources.formats.feed import NotAFeed

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
MODULES = 'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/"'
RSS = f'<rss version="2.0" {MODULES}><channel><title>T</title><item><title>Tea</title>{{}}</item></channel></rss>'
ATOM = '<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title><entry><id>urn:1</id>{}</entry></feed>'
XHTML = '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>F</title></head><body>{}</body></html>'


def entry_of(feed: str):
    return parse(feed.encode()).entries[0]


@pytest.mark.parametrize("kind", ["application/octet-stream", "application/x-words", "image/png", "base64", "unknown"])
def test_an_atom_title_of_unknown_type_is_what_it_says(kind):
    assert entry_of(ATOM.format(f'<title type="{kind}">Tea &lt;blink&gt; time</title>')).title == "Tea <blink> time"


def test_an_atom_title_of_unknown_type_in_base64_is_decoded():
    hidden = base64.b64encode("Thé & <b>café</b>".encode()).decode()
    assert entry_of(ATOM.format(f'<title type="application/octet-stream">{hidden}</title>')).title == "Thé & café"


@pytest.mark.parametrize("kind", ["application/json", "application/ld+json", "text/json; charset=utf-8"])
def test_json_as_the_content_is_shown_as_it_is_written(kind):
    entry = entry_of(ATOM.format(f'<title>a</title><content type="{kind}">{{"tea": "&lt;b&gt;"}}</content>'))
    assert entry.content == '{"tea": "&lt;b&gt;"}'


def test_a_picture_as_the_content_is_not_shown():
    entry = entry_of(ATOM.format('<title>a</title><content type="image/png">iVBORw0KGgo=</content>'))
    assert entry.content == ""


@pytest.mark.parametrize(
    "name",
    ["dc:date", "dc:issued", "dc:created", "dcterms:date", "dcterms:issued", "dcterms:created", "dcterms:available",
     "dcterms:dateSubmitted"],
)  # fmt: skip
def test_every_date_of_dublin_core_says_when_the_entry_was_published(name):
    entry = entry_of(RSS.format(f"<{name}>2026-03-04T12:00:00Z</{name}>"))
    assert (entry.published, entry.updated) == (NOON, None)


@pytest.mark.parametrize("name", ["dc:modified", "dcterms:modified"])
def test_a_change_in_dublin_core_is_an_update(name):
    entry = entry_of(RSS.format(f"<{name}>2026-03-04T12:00:00Z</{name}>"))
    assert (entry.published, entry.updated) == (None, NOON)


def test_the_first_date_that_can_be_read_counts():
    assert entry_of(RSS.format("<pubDate>soon</pubDate><dc:date>2026-03-04T12:00Z</dc:date>")).published == NOON


@pytest.mark.parametrize(
    "text",
    ["start=2026-03-04T12:00:00Z; end=2026-03-09", "name=Tea week; start=2026-03-04T12:00Z; scheme=W3C-DTF",
     "2026-03-04T12:00:00Z/2026-03-09", "2026-03-04T12:00Z/P5D"],
)  # fmt: skip
def test_of_a_period_the_start_counts(text):
    assert parse_date(text) == NOON


def test_a_period_of_days_starts_on_the_first():
    assert parse_date("2026-03-04/2026-03-09") == datetime(2026, 3, 4, tzinfo=UTC)


@pytest.mark.parametrize("fraction", ["", ".5", ",25", ".123456789", "."])
@pytest.mark.parametrize(
    "form",
    ["2026-03-04T12:00:00{}Z", "2026-03-04 12:00:00{} UTC", "2026-03-04T07:00:00{} EST", "2026-03-04 13:00:00{} +0100",
     "2026-03-04T12:00:00{}Z[UTC]", "2026-03-03T24:00:00{}-12:00", "Wed, 04 Mar 2026 12:00:00{} GMT"],
)  # fmt: skip
def test_fractions_of_seconds_are_read_over_in_every_form(form, fraction):
    assert parse_date(form.format(fraction)) == NOON


def test_a_leap_second_is_the_one_before():
    assert parse_date("2016-12-31T23:59:60.5Z") == datetime(2016, 12, 31, 23, 59, 59, tzinfo=UTC)


@pytest.mark.parametrize("text", ["2026-13-04 12:00:00 UTC", "2026-00-04 12:00:00.5 UTC", "2026/03/04", "1/2"])
def test_texts_that_only_look_like_dates_or_periods_are_none(text):
    assert parse_date(text) is None


@pytest.mark.parametrize(
    "page",
    [XHTML, '<!DOCTYPE html><html><head><meta charset="utf-8"><title>F</title></head><body><p>{}</body></html>',
     '<x:html xmlns:x="http://www.w3.org/1999/xhtml"><x:body><x:div>{}</x:div></x:body></x:html>', "<div>{}</div>"],
    ids=["xhtml", "html", "prefixed", "div"],
)  # fmt: skip
@pytest.mark.parametrize("feed", [RSS.format("<guid>1</guid>"), ATOM.format("<title>Tea</title>")], ids=["rss", "atom"])
def test_a_feed_inside_of_a_page_is_read_and_the_page_is_a_problem(page, feed):
    found = parse(page.format(feed).encode())
    assert (found.title, [entry.title for entry in found.entries]) == ("T", ["Tea"])
    assert found.problems[0] == "The feed stands inside of a web page."


@pytest.mark.parametrize(
    "inside", ["<p>How to write &lt;rss&gt;</p>", "<rss>", "<feeder>1</feeder>", "<rss>" * 100_000]
)
def test_a_page_without_a_whole_feed_is_a_page(inside):
    with pytest.raises(NotAFeed, match="a web page"):
        parse(XHTML.format(inside).encode())
