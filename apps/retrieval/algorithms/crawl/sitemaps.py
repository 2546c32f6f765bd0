"""Sitemaps: the lists of a site's pages that publishers keep for crawlers, https://www.sitemaps.org/protocol.html.

Read are sitemaps, indexes of them and plain lists of addresses, packed or not, with Google's news extension.
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
from apps.sources.formats.text import MAX_LANGUAGE, one_line

MAX_ENTRIES = 50_000
MAX_DECODED_BYTES = 10 * 2**20  # bytes
MAX_LINKS = 5_000  # that a crawl is given at once
MAX_SITEMAPS = 50  # of an index
RECENT = timedelta(days=60)  # before the newest entry of an index; older sitemaps hold a site's past
MAX_TITLE_LENGTH = 300  # characters

_PIECE = 2**16  # bytes
_GZIP = b"\x1f\x8b"
_ROOT = re.compile(rb"<(?:[\w.-]{1,50}:)?(urlset|sitemapindex)[\s>/]", re.IGNORECASE)
_HTML = re.compile(rb"<(?:!doctype\s+html|html)\b", re.IGNORECASE)
_SITEMAP_LINE = re.compile(r"^\s*sitemap\s*:\s*(\S+)", re.IGNORECASE)
_EARLIEST = datetime.min.replace(tzinfo=UTC)


class NotASitemap(ValueError):
    """The document is no sitemap; the message says what is wrong."""


@dataclass(frozen=True, slots=True)
class Entry:
    url: str
    last_modified: datetime | None = None  # aware
    title: str = ""  # this and what follows: of a news sitemap
    published: datetime | None = None
    language: str = ""

    @property
    def changed(self) -> datetime | None:
        """When there was last anything new, as far as the sitemap says."""
        return self.published or self.last_modified


@dataclass(frozen=True, slots=True)
class Sitemap:
    is_index: bool  # its entries are sitemaps
    entries: tuple[Entry, ...]  # in the order of the document, at most 50,000
    is_whole: bool  # and none was left out, as the document is not too long


def read_sitemap(body: bytes, *, url: str) -> Sitemap:
    """Read a sitemap or an index of sitemaps, in XML or as lines of addresses; gzip is undone.

    At most 10 MB and 50,000 entries are read. Entities that the document declares are never resolved.

    Raises
    ------
    NotASitemap
        If it is something else, or holds no address.

    Examples
    --------
    >>> sitemap = read_sitemap(b"<urlset><url><loc>https://example.org/a</loc></url></urlset>", url="https://example.org/")
    >>> sitemap.is_index, sitemap.entries[0].url
    (False, 'https://example.org/a')
    """
    content, is_whole = _unpacked(body)
    root = _ROOT.search(content[:4_096])
    if root is not None and not _HTML.search(content[: root.start()]):
        is_index = root[1].lower() == b"sitemapindex"
        found = (entry for entry in _xml_entries(content, url) if entry.url)
        entries = list(islice(found, MAX_ENTRIES + 1))
    else:
        is_index = False
        entries = [Entry(address) for address in _lines(content)]
    if not entries:
        raise NotASitemap("The document is no sitemap: it lists no addresses." if root else "This is no sitemap.")
    return Sitemap(is_index, tuple(entries[:MAX_ENTRIES]), is_whole and len(entries) <= MAX_ENTRIES)


def links_in(body: bytes, *, url: str) -> tuple[Link, ...]:
    """What a crawl does with a sitemap: links to its pages, the newest first, or to an index's recent sitemaps.

    Raises
    ------
    NotASitemap
        As `read_sitemap` does.
    """
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
    """Of the sitemaps of an index those that may hold what is new: changed within 60 days of the newest, at most 50."""
    ordered = newest_first(entries)
    newest = ordered[0].changed if ordered else None
    if newest is None:  # most sites that give no dates begin with the newest
        return ordered[:MAX_SITEMAPS]
    return [entry for entry in ordered if entry.changed is None or newest - entry.changed <= RECENT][:MAX_SITEMAPS]


def robots_sitemaps(rules: str) -> tuple[str, ...]:
    """The addresses of the sitemaps that a robots.txt names, each once.

    >>> robots_sitemaps("User-agent: *\\nDisallow: /a\\nSitemap: https://example.org/news.xml # new\\nSITEMAP: /b.xml")
    ('https://example.org/news.xml',)
    """
    named = (match[1] for line in rules.splitlines() if (match := _SITEMAP_LINE.match(line)))
    return tuple(dict.fromkeys(filter(None, map(absolute, named))))


def _unpacked(body: bytes) -> tuple[bytes, bool]:
    """The document's first 10 MB, and whether that is all of it."""
    if not body.startswith(_GZIP):
        return body[:MAX_DECODED_BYTES], len(body) <= MAX_DECODED_BYTES
    unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        content = unpacker.decompress(body, MAX_DECODED_BYTES)
    except zlib.error as error:
        raise NotASitemap("The document claims to be packed by gzip, but cannot be unpacked.") from error
    return content, unpacker.eof


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
        last_modified=_moment(texts.get("lastmod", "")),
        title=one_line(story.get("title", ""), MAX_TITLE_LENGTH),
        published=_moment(story.get("publication_date", "")),
        language=story.get("language", "")[:MAX_LANGUAGE],
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
    """The addresses of a document that consists of nothing else."""
    text = content.decode("utf-8", "replace").removeprefix("\ufeff")
    for line in text.splitlines()[: MAX_ENTRIES + 1]:
        if not line.strip():
            continue
        address = absolute(line.strip()) if line.strip().lower().startswith(("http://", "https://")) else ""
        if not address or " " in line.strip():
            raise NotASitemap("This is no sitemap.")
        if len(address) <= MAX_ADDRESS_LENGTH:
            yield address.partition("#")[0]
