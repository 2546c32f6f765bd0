"""The feed formats: bytes of any dialect in, one shape out. Pure: no clock, no network, no database."""

import re

from apps.sources.formats.characters import to_utf8, with_prefixes_declared, with_references_mended
from apps.sources.formats.documents import describe, is_web_page, read_tree
from apps.sources.formats.fallback import MAX_LOOSE_BYTES, read_loosely
from apps.sources.formats.feed import NotAFeed, ParsedFeed
from apps.sources.formats.json_feed import read_json_feed
from apps.sources.formats.xml_feed import read_feed_element

MAX_DOCUMENT_BYTES = 20 * 1024 * 1024
MAX_MENDED_BYTES = 4 * 1024 * 1024

_PAGE = re.compile(rb"(?:\s|<[?!][^>]*>)*<(?:\w+:)?(?:html|body|div)\b", re.IGNORECASE)
_FEED = re.compile(rb"<(?:rss|rdf:RDF|feed)(?=[\s>])")


def parse(content: bytes, *, content_type: str = "", url: str = "") -> ParsedFeed:
    """Parse a feed of any dialect (RSS, RDF, Atom, JSON Feed), also a broken one.

    `content` is the decompressed body, at most 20 MB. The charset in `content_type` takes precedence over the one that
    the document declares. Relative addresses are resolved against `url`. Raises NotAFeed, and nothing else, if it is
    not a feed; the message names what it is.

    lxml parses documents that are well-formed, or would be without ampersands and undeclared prefixes. feedparser, ten
    to thirty times slower and more tolerant, parses the rest.

    >>> feed = parse(b"<rss><channel><title>Tea</title><item><title>First flush</title></item></channel></rss>")
    >>> feed.kind, feed.title, [entry.title for entry in feed.entries]
    ('rss', 'Tea', ['First flush'])
    >>> parse(b"<!doctype html><title>Tea</title>")
    Traceback (most recent call last):
    apps.sources.formats.feed.NotAFeed: This is a web page, not a feed.
    """
    if len(content) > MAX_DOCUMENT_BYTES:
        raise NotAFeed(f"The document is larger than {MAX_DOCUMENT_BYTES // 2**20} MB, the maximum.")
    utf8, problems = to_utf8(content, content_type)
    if inside := _inside_page(utf8):
        utf8, problems = inside, (*problems, "The feed stands inside of a web page.")
    if utf8.startswith((b"{", b"[")):
        return read_json_feed(utf8, url, problems)
    document = read_tree(utf8, url, problems)
    if not document.well_formed and len(utf8) <= MAX_MENDED_BYTES and b"<!ENTITY" not in utf8:
        # These two mistakes are what most broken feeds consist of.
        utf8 = with_prefixes_declared(with_references_mended(utf8))
        document = read_tree(utf8, url, document.problems)
    feed = read_feed_element(document) if document.well_formed else _read_broken(utf8, url, document.problems)
    if feed is None:
        raise NotAFeed(describe(utf8, document.problems))
    return feed


def _inside_page(utf8: bytes) -> bytes:
    """The feed that some servers wrap into a web page, or b""."""
    start = _FEED.search(utf8) if _PAGE.match(utf8) else None
    if start is None:
        return b""
    closing = b"</" + start[0][1:]  # searched from the end, so that no content takes long
    end = utf8.rfind(closing, start.end())
    return utf8[start.start() : end] + closing + b">" if end >= 0 else b""


def _read_broken(utf8: bytes, url: str, problems: tuple[str, ...]) -> ParsedFeed | None:
    if is_web_page(utf8):
        return None
    if len(utf8) > MAX_LOOSE_BYTES:
        utf8 = utf8[:MAX_LOOSE_BYTES].decode("utf-8", "ignore").encode()  # feeds begin with their newest entries
        problems = (*problems, f"The document is broken, and only its first {MAX_LOOSE_BYTES:,} bytes were read.")
    feed = read_loosely(utf8, url, problems)
    if feed is not None and (feed.entries or feed.title):
        return feed
    # What lxml can save still counts when feedparser finds nothing or fails.
    try:
        return read_feed_element(read_tree(utf8, url, problems, recover=True))
    except ValueError:  # broken trees hold names that lxml itself refuses
        return None
