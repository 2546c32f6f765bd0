import gzip
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.retrieval.algorithms.crawl.sitemaps import (
    MAX_DECODED_BYTES,
    MAX_ENTRIES,
    MAX_LINKS,
    MAX_SITEMAPS,
    NotASitemap,
    links_in,
    newest_first,
    read_sitemap,
)
from apps.retrieval.algorithms.robots import sitemaps_in

URL = "https://example.org/sitemap.xml"
SPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
moments = st.none() | st.datetimes(datetime(2000, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


def entry(url: str, changed: datetime | None = None, name: str = "url") -> str:
    when = f"<lastmod>{changed.isoformat()}</lastmod>" if changed else ""
    return f"<{name}><loc>{escape(url)}</loc>{when}</{name}>"


def sitemap(*entries: str, root: str = "urlset") -> bytes:
    return f'<?xml version="1.0" encoding="UTF-8"?><{root} {SPACE}>{"".join(entries)}</{root}>'.encode()


@given(st.lists(st.tuples(st.integers(0, 99), moments), min_size=1, max_size=20), st.booleans())
def test_every_entry_is_read_and_the_newest_come_first(rows, packed):
    entries = [(f"https://example.org/story?id={number}&x=1", changed) for number, changed in rows]
    body = sitemap(*(entry(url, changed) for url, changed in entries))
    found = read_sitemap(gzip.compress(body) if packed else body, url=URL)
    assert [(each.url, each.changed) for each in found.entries] == entries
    dates = [each.changed for each in newest_first(found.entries)]
    known = [date for date in dates if date]
    assert known == sorted((changed for _, changed in rows if changed), reverse=True)
    assert dates == known + [None] * (len(dates) - len(known))


def test_a_news_sitemap_says_titles_and_times():
    news = (
        '<url xmlns:n="http://www.google.com/schemas/sitemap-news/0.9" xmlns:i="https://image.example/1"><i:image>'
        "<i:loc>https://example.org/a.jpg</i:loc><i:title>A picture</i:title></i:image>"
        "<loc> https://example.org/a </loc>"
        "<n:news><n:publication><n:name>Daily</n:name><n:language>en</n:language></n:publication>"
        "<n:publication_date>2026-05-12</n:publication_date>"
        "<n:title><![CDATA[Council keeps the old bridge open]]></n:title></n:news></url>"
    )
    found = read_sitemap(sitemap(news), url=URL).entries[0]
    assert (found.url, found.title) == ("https://example.org/a", "Council keeps the old bridge open")
    assert found.changed == datetime(2026, 5, 12, tzinfo=UTC)
    assert links_in(sitemap(news), url=URL)[0].is_headline


def test_only_the_recent_sitemaps_of_an_index_are_followed():
    newest = datetime(2026, 5, 12, tzinfo=UTC)
    old = entry("https://example.org/2019.xml", newest - timedelta(days=900), "sitemap")
    body = sitemap(old, entry("https://example.org/2026.xml", newest, "sitemap"), root="sitemapindex")
    assert read_sitemap(body, url=URL).is_index
    assert [link.url for link in links_in(body, url=URL)] == ["https://example.org/2026.xml"]


def test_an_index_without_dates_is_followed_from_its_beginning():
    names = [f"https://example.org/{number}.xml" for number in range(MAX_SITEMAPS + 5)]
    body = sitemap(*(entry(name, name="sitemap") for name in names), root="sitemapindex")
    assert [link.url for link in links_in(body, url=URL)] == names[:MAX_SITEMAPS]


def test_lines_of_addresses_are_a_sitemap():
    body = "\ufeffhttps://example.org/a\r\n\r\nhttps://example.org/b#c\n".encode()
    assert [each.url for each in read_sitemap(body, url=URL).entries] == [
        "https://example.org/a",
        "https://example.org/b",
    ]


def test_files_and_other_schemes_are_no_pages():
    body = sitemap(*map(entry, ("https://example.org/a.pdf", "ftp://example.org/b", "https://example.org/c")))
    assert [link.url for link in links_in(body, url=URL)] == ["https://example.org/c"]


@pytest.mark.parametrize(
    "body",
    [b"", b"<html><body>https://example.org</body></html>", b"News of today", b"\x1f\x8bnot packed at all",
     b"<!doctype html><p><urlset>", b"<urlset></urlset>", b"<rss><channel/></rss>", b"https://example.org/a\nand more",
     b"\xff\xfe<\x00u\x00"],
)  # fmt: skip
def test_documents_that_are_no_sitemap_are_refused(body):
    with pytest.raises(NotASitemap):
        read_sitemap(body, url=URL)


@given(st.binary(max_size=200))
def test_nothing_but_not_a_sitemap_is_raised(body):
    for content in (body, b"<urlset><url><loc>" + body, gzip.compress(body)):
        with suppress(NotASitemap):
            assert read_sitemap(content, url=URL).entries


def test_declared_entities_are_never_resolved():
    laughs = "".join(f'<!ENTITY e{place + 1} "{f"&e{place};" * 10}">' for place in range(9))
    body = f'<!DOCTYPE u [<!ENTITY e0 "ha"><!ENTITY f SYSTEM "file:///etc/passwd">{laughs}]>' + (
        "<urlset><url><loc>https://example.org/a</loc><lastmod>&e9;&f;</lastmod></url></urlset>"
    )
    try:
        entries = read_sitemap(body.encode(), url=URL).entries
    except NotASitemap:
        return
    assert all("root:" not in repr(each) and len(repr(each)) < 1_000 for each in entries)


def test_a_sitemap_that_breaks_off_is_read_as_far_as_it_goes():
    body = sitemap(*(entry(f"https://example.org/{number}") for number in range(100)))
    assert len(read_sitemap(body[: len(body) // 2], url=URL).entries) >= 40


def test_a_sitemap_is_read_up_to_its_limits():
    body = b"https://example.org/a\n" * (MAX_ENTRIES + 1)
    assert len(read_sitemap(body, url=URL).entries) == MAX_ENTRIES
    bomb = gzip.compress(b"https://example.org/a\n" + b"\n" * (2 * MAX_DECODED_BYTES), compresslevel=1)
    assert len(read_sitemap(bomb, url=URL).entries) == 1
    many = "\n".join(f"https://example.org/{number}" for number in range(MAX_LINKS + 1))
    assert len(links_in(many.encode(), url=URL)) == MAX_LINKS


def test_a_robots_file_names_sitemaps_of_any_host():
    rules = (
        "sitemap:https://cdn.example/a.xml\r\n# Sitemap: https://example.org/no.xml\nSitemap: https://cdn.example/a.xml"
    )
    assert sitemaps_in(rules) == ("https://cdn.example/a.xml",)


@pytest.mark.parametrize("forbidden", ["<a:>b</a:>", "<a>&#xd83c;</a>"])
def test_an_address_survives_characters_beside_it_that_xml_forbids(forbidden):
    content = f"<urlset><url><loc>https://a.example/1</loc>{forbidden}</url></urlset>"
    assert [link.url for link in links_in(content.encode(), url="https://a.example/")] == ["https://a.example/1"]
