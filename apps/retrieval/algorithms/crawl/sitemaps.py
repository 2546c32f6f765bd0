"""Sitemaps (https://www.sitemaps.org/protocol.html), indexes of them and plain lists of addresses, gzipped or not.

Of Google's news extension titles and dates are read.
"""

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain, islice

from lxml import etree

from apps.postings.algorithms.extraction.anchors import is_headline
from apps.retrieval.algorithms.crawl.links import Link, is_page_address
from apps.sources.algorithms.addresses import MAX_ADDRESS_LENGTH, absolute
from apps.sources.formats.characters import with_halves_joined
from apps.sources.formats.dates import parse_date
from apps.sources.formats.text import one_line

MAX_ENTRIES = 50_000
MAX_DECODED_BYTES = 10 * 2**20  # bytes
MAX_LINKS = 5_000  # for a crawl from one sitemap
MAX_SITEMAPS = 50  # per index
RECENT = timedelta(days=60)  # before the newest entry of an index; older sitemaps list a site's past
MAX_TITLE_LENGTH = 300  # characters

_PIECE = 2**16  # bytes
_GZIP = b"\x1f\x8b"
_ROOT = re.compile(rb"<(?:[\w.-]{1,50}:)?(urlset|sitemapindex)[\s>/]", re.IGNORECASE)
_HTML = re.compile(rb"<(?:!doctype\s+html|html)\b", re.IGNORECASE)
_EARLIEST = datetime.min.replace(tzinfo=UTC)


class NotASitemap(ValueError):
    """The document is not a sitemap; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class Entry:
    url: str
    changed: datetime | None = None  # aware; of a news sitemap when it was published
    title: str = ""  # of a news sitemap


@dataclass(frozen=True, slots=True)
class Sitemap:
    is_index: bool  # its entries are sitemaps
    entries: tuple[Entry, ...]  # in the order of the document, at most 50,000


def read_sitemap(body: bytes, *, url: str) -> Sitemap:
    """Read a sitemap or an index of sitemaps, in XML or as lines of addresses, gzipped or not.

    At most 10 MB and 50,000 entries are read. Entities that the document declares are never resolved. Raises
    NotASitemap if it is something else, or has no address.

    >>> sitemap = read_sitemap(b"<urlset><url><loc>https://example.org/a</loc></url></urlset>", url="https://example.org/")
    >>> sitemap.is_index, sitemap.entries[0].url
    (False, 'https://example.org/a')
    """
    content = _unpacked(body)
    root = _ROOT.search(content[:4_096])
    if root is not None and not _HTML.search(content[: root.start()]):
        is_index = root[1].lower() == b"sitemapindex"
        entries = tuple(islice((entry for entry in _xml_entries(content, url) if entry.url), MAX_ENTRIES))
    else:
        is_index = False
        entries = tuple(Entry(address) for address in _lines(content))
    if not entries:
        raise NotASitemap("The document is no sitemap: it lists no addresses." if root else "This is no sitemap.")
    return Sitemap(is_index, entries)


def links_in(body: bytes, *, url: str) -> tuple[Link, ...]:
    """Links to the pages of a sitemap, the newest first, or to the recent sitemaps of an index."""
    sitemap = read_sitemap(body, url=url)
    if sitemap.is_index:
        return tuple(Link(entry.url, "") for entry in recent_sitemaps(sitemap.entries))
    pages = (entry for entry in newest_first(sitemap.entries) if is_page_address(entry.url))
    links = {entry.url: Link(entry.url, entry.title, is_headline(entry.title)) for entry in pages}
    return tuple(links.values())[:MAX_LINKS]


def newest_first(entries: tuple[Entry, ...]) -> list[Entry]:
    """The entries with the newest first; those without a date come last, in their own order."""
    return sorted(entries, key=lambda entry: entry.changed or _EARLIEST, reverse=True)


def recent_sitemaps(entries: tuple[Entry, ...]) -> list[Entry]:
    """The sitemaps of an index that may list new pages: changed within 60 days of the newest, at most 50."""
    ordered = newest_first(entries)
    newest = ordered[0].changed if ordered else None
    if newest is None:  # most sites without dates begin with the newest
        return ordered[:MAX_SITEMAPS]
    return [entry for entry in ordered if entry.changed is None or newest - entry.changed <= RECENT][:MAX_SITEMAPS]


def _unpacked(body: bytes) -> bytes:
    """The document's first 10 MB."""
    if not body.startswith(_GZIP):
        return body[:MAX_DECODED_BYTES]
    try:
        return zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(body, MAX_DECODED_BYTES)
    except zlib.error as error:
        raise NotASitemap("The document claims to be packed by gzip, but cannot be unpacked.") from error


def _xml_entries(content: bytes, base: str) -> Iterator[Entry]:
    parser = etree.XMLPullParser(
        events=("end",), recover=True, resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False,
        remove_comments=True, remove_pis=True,
    )  # fmt: skip
    content = with_halves_joined(content)
    for start in range(0, len(content), _PIECE):
        try:
            parser.feed(content[start : start + _PIECE])
        except etree.LxmlError:
            return
        for _, element in parser.read_events():
            if isinstance(element, etree._Element) and _name(element) in ("url", "sitemap"):
                yield _entry(element, base)
                element.clear()


def _entry(element: etree._Element, base: str) -> Entry:
    texts = _texts(element)
    address = absolute(texts.get("loc", ""), base).partition("#")[0]
    news = next((child for child in element.iterchildren("*") if _name(child) == "news"), None)
    story = _texts(*news.iter("*")) if news is not None else {}
    return Entry(
        url=address if len(address) <= MAX_ADDRESS_LENGTH else "",
        changed=_moment(story.get("publication_date", "")) or _moment(texts.get("lastmod", "")),
        title=one_line(story.get("title", ""), MAX_TITLE_LENGTH),
    )


def _moment(text: str) -> datetime | None:
    try:  # in most sitemaps, and a hundred times as fast
        moment = datetime.fromisoformat(text)
    except ValueError:
        return parse_date(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _texts(*elements: etree._Element) -> dict[str, str]:
    """The first text of each name among the children."""
    texts: dict[str, str] = {}
    for child in chain.from_iterable(element.iterchildren("*") for element in elements):
        texts.setdefault(_name(child), (child.text or "").strip())
    return texts


def _name(element: etree._Element) -> str:
    return str(element.tag).rpartition("}")[2].lower()  # QName refuses <a:>


def _lines(content: bytes) -> Iterator[str]:
    """The addresses of a document with one per line."""
    text = content.decode("utf-8", "replace").removeprefix("\ufeff")
    for line in text.splitlines()[:MAX_ENTRIES]:
        if not line.strip():
            continue
        address = absolute(line.strip()) if line.strip().lower().startswith(("http://", "https://")) else ""
        if not address or " " in line.strip():
            raise NotASitemap("This is no sitemap.")
        if len(address) <= MAX_ADDRESS_LENGTH:
            yield address.partition("#")[0]
