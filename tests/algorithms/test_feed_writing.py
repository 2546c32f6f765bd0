"""Written feeds are read back by any parser, and deltas contain exactly the missing entries."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from apps.published_feeds.algorithms.states import delta, tag_of, takes_deltas
from apps.published_feeds.formats import FORMS
from apps.published_feeds.formats.feed import Entry, Feed
from apps.sources.formats import parse
from apps.sources.formats.feed import Enclosure
from apps.sources.formats.text import without_controls

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
ATOM = {"a": "http://www.w3.org/2005/Atom"}
texts = st.text(max_size=40)


def an_entry(number: int = 1, **values) -> Entry:
    at = NOON - timedelta(minutes=number)
    given = {
        "id": f"https://portal.example/posting/{number}/",
        "url": f"https://news.example/{number}",
        "title": f"Posting {number}",
        "html": f"<p>Words of {number}</p>",
        "published": at,
        "updated": at,
        "listed": at,
    }
    return Entry(**given | values)


def a_feed(entries=(), **values) -> Feed:
    return Feed("Mine", "https://portal.example/", "https://portal.example/feed", tuple(entries), **values)


entries = st.lists(
    st.builds(
        an_entry, st.integers(0, 30), title=texts, html=texts, author=texts, categories=st.tuples(texts), language=texts
    ),
    max_size=5,
    unique_by=lambda entry: entry.id,
)


def newlines(text: str) -> str:
    return without_controls(text).replace("\r\n", "\n").replace("\r", "\n")


@given(entries)
def test_any_parser_reads_what_was_written(made):
    feed = a_feed(made)
    items = etree.fromstring(FORMS["rss"].write(feed)).findall("channel/item")
    atoms = etree.fromstring(FORMS["atom"].write(feed)).findall("a:entry", ATOM)
    jsons = json.loads(FORMS["json"].write(feed))["items"]
    for entry, item, atom, written in zip(made, items, atoms, jsons, strict=True):
        for form in (item.findtext("description", ""), atom.findtext("a:content", "", ATOM), written["content_html"]):
            assert newlines(form) == newlines(entry.html)
        for form in (item.findtext("title", ""), atom.findtext("a:title", "", ATOM), written.get("title", "")):
            assert newlines(form) == newlines(entry.title)
        assert item.findtext("guid") == atom.findtext("a:id", None, ATOM) == written["id"] == entry.id


@pytest.mark.parametrize("name", FORMS)
def test_our_own_parser_reads_all_of_it(name):
    form = FORMS[name]
    sound = Enclosure("https://news.example/1.mp3", "audio/mpeg", 1_000, 60, "The sound")
    entry = an_entry(author="Ann", categories=("World", "News"), enclosures=(sound,), source_title="Gazette")
    content = form.write(a_feed([entry], description="About"))
    read = parse(content, content_type=form.media_type, url="https://portal.example/feed")
    assert read.title == "Mine"
    [found] = read.entries
    assert (found.title, found.authors, found.link) == ("Posting 1", ("Ann",), "https://news.example/1")
    assert (found.content or found.summary) == entry.html
    assert found.published == entry.published
    assert list(found.categories) == ["World", "News"]
    assert [each.url for each in found.enclosures] == [sound.url]


def test_feed_without_entries_is_valid():
    for form in FORMS.values():
        assert parse(form.write(a_feed()), content_type=form.media_type, url="https://x.example/").entries == ()


# --- deltas -----------------------------------------------------------------------------------------------------------
changes = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 3)), max_size=8, unique_by=lambda change: change[0])


@given(st.lists(changes, min_size=1, max_size=6))
def test_deltas_add_up_to_the_feed(states):
    had: dict[str, Entry] = {}
    header = ""
    for state in states:
        feed = a_feed(an_entry(number, title=f"Edition {edition}") for number, edition in state)
        for entry in (delta(feed, header) or feed).entries:
            had[entry.id] = entry
        header = tag_of(feed)
        assert {entry.id: entry for entry in feed.entries}.items() <= had.items()


@given(entries)
def test_state_survives_its_entity_tag(made):
    feed = a_feed(made)
    tag = tag_of(feed)
    assert delta(feed, tag) == delta(feed, f'"other", W/{tag}') == (a_feed() if made else None)
    assert delta(feed, tag[:-2] + '"') is None


def test_state_without_present_entries_gets_the_whole_feed():
    assert delta(a_feed([an_entry(1)]), tag_of(a_feed([an_entry(2)]))) is None
    assert delta(a_feed([an_entry(1)]), tag_of(a_feed())) is None


def test_edited_entry_is_new_and_relisted_one_is_not():
    feed = a_feed([an_entry(1), an_entry(2)])
    again = a_feed([entry._replace(listed=NOON + timedelta(days=1)) for entry in feed.entries])
    assert tag_of(again) == tag_of(feed)
    edited = a_feed([an_entry(1), an_entry(2, html="<p>Other</p>")])
    found = delta(edited, tag_of(feed))
    assert found is not None
    assert found.entries == (edited.entries[1],)


def test_a_tag_fits_into_the_headers_of_any_server():
    assert len(tag_of(a_feed(an_entry(number) for number in range(100)))) < 600


@given(st.text(max_size=30))
def test_any_header_is_accepted(header):
    assert takes_deltas(header) in (True, False)
    assert delta(a_feed([an_entry(1)]), header) is None
