"""Functions that parse untrusted bytes, each with its documented errors, first inputs, and words for mutations.

A target accepts any bytes. An error that is not documented is a finding, and so is a broken invariant.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO

from apps.account_data.formats.container import Container, packed
from apps.account_data.formats.problems import BadArchive
from apps.account_data.formats.records import record, record_list, records
from apps.account_data.members import MEMBERS, AboutPostings
from apps.account_data.members.base import identifiers_in
from apps.api.formats.parameters import BadRequest
from apps.postings.algorithms.markup import clean
from apps.postings.algorithms.times import microseconds
from apps.retrieval.algorithms.reading import read_index, read_site_page
from apps.retrieval.algorithms.robots import allows, rules_in
from apps.retrieval.http.decoding import Decoder, TooLarge, Undecodable
from apps.retrieval.http.fetching import BODY_LIMIT
from apps.search.algorithms.language import BadQuery, parse, to_text
from apps.sources import formats
from apps.sources.algorithms.hubs import discover
from apps.sources.formats import opml
from apps.sources.formats.feed import NotAFeed, ParsedFeed
from apps.websub.algorithms.forms import refusal_of
from apps.websub.algorithms.leases import granted
from apps.websub.algorithms.signatures import is_signed
from extensions.dialects.google_reader.formats.forms import Fields, read_moment
from extensions.dialects.google_reader.formats.ids import long_form, read_item_id
from extensions.dialects.google_reader.formats.streams import BadStream, label_of, path_of, read_stream

NOW = datetime(2026, 3, 1, tzinfo=UTC)
URL = "https://news.example/feed"
HEADER_LINES = 4
_DOCUMENT = BODY_LIMIT // 10  # bytes that a compressed input may unpack to


class Broken(Exception):
    """A promise of the function does not hold."""


@dataclass(frozen=True, slots=True)
class Target:
    run: Callable[[bytes], None]
    documented: tuple[type[Exception], ...] = ()
    seeds: tuple[bytes, ...] = (b"",)
    words: tuple[bytes, ...] = ()
    suffixes: tuple[str, ...] = ()  # of files that hold further seeds


def _feed(content: bytes) -> None:
    _check_feed(formats.parse(content, url=URL))


def _check_feed(feed: ParsedFeed) -> None:
    for address in [feed.link, *(entry.link for entry in feed.entries)]:
        if address and not address.startswith(("http://", "https://")):
            raise Broken(f"The link {address[:100]!r} is no web address.")
    for date in [each for entry in feed.entries for each in (entry.published, entry.updated) if each]:
        if date.utcoffset() is None:
            raise Broken("A date has no offset.")


def _page(content: bytes) -> None:
    read_index(content, content_type="", url=URL)
    read_site_page(content, content_type="", url=URL)


def _markup(content: bytes) -> None:
    first = clean(content.decode("utf-8", "surrogateescape"), base_url=URL)
    again = clean(first.html, base_url=URL)
    if (again.html, again.text) != (first.html, first.text):
        raise Broken("What is clean does not stay as it is.")


def _query(content: bytes) -> None:
    tree = parse(content.decode("utf-8", "replace"))
    if parse(to_text(tree)) != tree:
        raise Broken("The query as written is another one.")


def _opml(content: bytes) -> None:
    document = opml.read(content)
    again = opml.read(opml.write(document, NOW)) if document.subscriptions else document
    if {each.xml_url for each in again.subscriptions} != {each.xml_url for each in document.subscriptions}:
        raise Broken("The list as written has other subscriptions.")


def _archive(content: bytes) -> None:
    _read_archive(Container(BytesIO(content)))


def _records(content: bytes) -> None:
    """Every member consists of the same bytes, so that mutations need not find their checksums."""
    archive = packed([(member.name, [content]) for member in MEMBERS], NOW)
    container = Container(BytesIO(b"".join(archive)))
    for member in MEMBERS:
        try:
            _read_member(container, member.name, member.take)
        except BadArchive:
            continue


def _read_archive(container: Container) -> None:
    record(container, "archive.json")
    for member in MEMBERS:
        _read_member(container, member.name, member.take)


def _read_member(container: Container, name: str, take: object) -> None:
    if name not in container:
        return
    if isinstance(take, AboutPostings):
        for line in records(container, name):
            identifiers_in(line)
            take.read(line, NOW)
    elif name.endswith(".json"):
        record_list(container, name, most=100)
    elif name.endswith(".jsonl"):
        list(records(container, name))
    else:
        container.whole(name)


def _robots(content: bytes) -> None:
    rules = rules_in(200, content)
    for address in (URL, "https://news.example/", "https://news.example/%zz?q=é#x"):
        allows(rules, address, crawling=True)


def _google_reader(content: bytes) -> None:
    text = content.decode("utf-8", "replace")
    for check in (_item_id, _stream, _form, _moment, _label):
        try:
            check(text)
        except (BadRequest, BadStream):
            continue


def _item_id(text: str) -> None:
    number = read_item_id(text)
    if read_item_id(long_form(number)) != number:
        raise Broken("The id as written is another one.")


def _stream(text: str) -> None:
    stream = read_stream(text, ["reader"])
    if read_stream(str(stream), []) != stream:
        raise Broken("The stream as written is another one.")


def _form(text: str) -> None:
    fields = Fields(text)
    fields.all("i")
    fields.number("n", 20, most=1_000)


def _moment(text: str) -> None:
    for last in (False, True):
        microseconds(read_moment(text, last=last))


def _label(text: str) -> None:
    path = path_of(text)
    if path_of(label_of(path)) != path:
        raise Broken("The folder as written is another one.")


def _delivery(content: bytes) -> None:
    """Four header lines (coding, type, signature, lease or links), and the body."""
    *headers, body = content.split(b"\n", HEADER_LINES)
    coding, media_type, signature, lease = (
        each.decode("latin-1") for each in (headers + [b""] * HEADER_LINES)[:HEADER_LINES]
    )
    is_signed(signature, body, ["tea"])
    granted(lease)
    refusal_of(body)
    discover(lease, None, body, URL)
    decoder = Decoder(coding, limit=_DOCUMENT)
    decoder.feed(body)
    _check_feed(formats.parse(decoder.finish(), content_type=media_type, url=URL))


_FEED = (
    b"<rss version='2.0'><channel><title>Tea</title><link>/</link><item><title>A</title><guid>1</guid>"
    b"<pubDate>Sun, 01 Mar 2026 10:00:00 GMT</pubDate><description>&lt;p&gt;B</description></item></channel></rss>",
    b'{"version":"https://jsonfeed.org/version/1.1","title":"Tea","items":[{"id":"1","url":"/1","content_html":"A"}]}',
)
_LINE = b'{"source":"https://a.example/","guid":"1","url":"/1","title":"A","changed_at":"2026-03-01T10:00:00+00:00"}\n'
_XML_WORDS = (
    b"<![CDATA[",
    b"]]>",
    b"<!--",
    b"<!DOCTYPE a [<!ENTITY b 'c'>]>",
    b"&#0;",
    b"&#xd800;",
    b"&nbsp;",
    b"xml:base=",
)

TARGETS: dict[str, Target] = {
    "feeds": Target(
        _feed,
        (NotAFeed,),
        (
            *_FEED,
            b"<feed xmlns='http://www.w3.org/2005/Atom'><entry><id>1</id><updated>2026-03-01T10:00:00Z</updated></entry></feed>",
        ),
        (
            *_XML_WORDS,
            b"encoding='utf-16'",
            b"<item>",
            b"</item>",
            b"<pubDate>",
            b'"items":[',
            b"<itunes:duration>1:2:3",
            b"<ttl>",
        ),
        (".xml", ".json"),
    ),
    "pages": Target(
        _page,
        (NotAFeed,),
        (
            b"<title>A</title><article><h1>A</h1><p>One <a href='/2'>two</a></article><li><a href='/3'>Three</a>",
            b"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>http://a.example/</loc></url></urlset>",
        ),
        (
            *_XML_WORDS,
            b"<base href=",
            b"<meta charset=",
            b"<script type='application/ld+json'>",
            b"<h2>",
            b"<time datetime=",
        ),
        (".html",),
    ),
    "markup": Target(
        _markup,
        (),
        (
            b"<p>One <a href='/2'>two</a><img src=a.png srcset='b.png 2x'><table><tr><td>3</table>",
            b"<svg><style><img onerror=a>",
        ),
        (
            b"<script>",
            b"</p>",
            b"<math><mtext>",
            b"<template>",
            b"<noscript>",
            b"javascript:",
            b"data:image/png;base64,",
            b"&amp;",
            b"<!--",
            b" style=",
        ),
        (".txt", ".html"),
    ),
    "query": Target(
        _query,
        (BadQuery,),
        (
            b'paris (talks OR "climate summit") -lang:de,fr',
            'author:"A B" after:2026-03-01 北京 e-mail NOT is:unread'.encode(),
        ),
        (
            b"OR",
            b"AND",
            b"NOT",
            b"(",
            b")",
            b'"',
            b"before:",
            b"source:",
            b"intitle:",
            b" -",
            b"|",
            b",",
            "“".encode(),
            "«".encode(),
        ),
    ),
    "opml": Target(
        _opml,
        (opml.BrokenOpml,),
        (
            b'<opml><head><title>A</title></head><body><outline text="A"><outline xmlUrl="http://a.example/"/></outline></body></opml>',
        ),
        (
            *_XML_WORDS,
            b"<outline ",
            b"xmlUrl='http://b.example/'",
            b"</outline>",
            b"text=",
            b"title=",
            b"category='/a/b,c'",
        ),
        (".opml",),
    ),
    "archives": Target(
        _archive,
        (BadArchive,),
        (b"".join(packed([("archive.json", [b'{"format":"wirebeat-archive"}']), ("marks.jsonl", [_LINE])], NOW)),),
        (
            b"PK\x03\x04",
            b"PK\x01\x02",
            b"PK\x05\x06",
            b"PK\x06\x06",
            b"\xff\xff\xff\xff",
            b"marks.jsonl",
            b"\x0e\x00",
            b"\x63\x00",
        ),
    ),
    "archive records": Target(
        _records,
        (),
        (_LINE, b'{"tag":"A","tagged_at":"2026-03-01T10:00:00+00:00"}\n', b'[{"query":"a","rules":[]}]'),
        (
            b"null",
            b"1e400",
            b"[",
            b"{",
            b'"\\ud800"',
            b'"\\u0000"',
            b'"text":',
            b'"read":',
            b'"starred_at":',
            b'"at":',
            b'"seconds":',
            b'"kind":',
            b"-1",
        ),
    ),
    "robots": Target(
        _robots,
        (),
        (b"User-agent: *\nDisallow: /private\nAllow: /*.html$\nCrawl-delay: 1.5\nSitemap: /sitemap.xml\n",),
        (
            b"User-agent:",
            b"Disallow:",
            b"Allow:",
            b"Crawl-delay:",
            b"Request-rate: 1/5s 0600-0845",
            b"Visit-time:",
            b"*",
            b"$",
            b"%2F",
            b"\xef\xbb\xbf",
        ),
        (),
    ),
    "google reader": Target(
        _google_reader,
        (),
        (
            b"tag:google.com,2005:reader/item/000000000000001f",
            b"user/-/label/News / World",
            b"i=1&i=2&n=5",
            b"1709208000",
            b"feed/https:/a.example/",
        ),
        (
            b"user/-/state/com.google/",
            b"feed/",
            b"tag:google.com,2005:reader/item/",
            b"%00",
            b"&n=",
            b"/",
            b" / ",
            b"-1",
            "٣".encode(),
            b"9" * 30,
        ),
    ),
    "websub": Target(
        _delivery,
        (NotAFeed, TooLarge, Undecodable),
        (
            b"\ntext/xml\nsha1=26257ba6679cc01f9f63d21c8e009bf4e48308a1\n86400\n" + _FEED[0],
            b"gzip\n\n\n<a>; rel=hub\n\x1f\x8b\x08",
        ),
        (
            b"gzip",
            b"deflate",
            b"br",
            b"charset=utf-7",
            b"sha256=",
            b"rel=hub",
            b'success="false" msg="',
            b"<a href=",
            b"\n",
        ),
    ),
}
