"""The feed formats: bytes of any dialect in, one shape out. Pure: no clock, no network, no database."""

from apps.sources.formats.characters import to_utf8, with_references_mended
from apps.sources.formats.documents import MAX_DOCUMENT_BYTES, Document, describe, is_web_page, read_tree
from apps.sources.formats.fallback import read_loosely
from apps.sources.formats.feed import NotAFeed, ParsedFeed
from apps.sources.formats.json_feed import read_json_feed
from apps.sources.formats.xml_feed import read_feed_element

__all__ = ["parse"]


def parse(content: bytes, *, content_type: str = "", url: str = "") -> ParsedFeed:
    """Read a feed, whatever its dialect (RSS, RDF, Atom, JSON Feed) and however broken.

    Parameters
    ----------
    content
        The body of the response, no longer compressed; at most 20 MB.
    content_type
        The header of the response: its charset goes before the one that the document declares.
    url
        Where the document was found: relative addresses in it are relative to this one.

    Raises
    ------
    NotAFeed
        For everything that is no feed; the message says what it looks like. Nothing else is ever raised.

    Notes
    -----
    lxml reads what is well-formed, or was but for an ampersand or an entity of HTML. feedparser is ten to thirty times
    slower, but forgives more: it reads the rest.

    Examples
    --------
    >>> feed = parse(b"<rss><channel><title>Tea</title><item><title>First flush</title></item></channel></rss>")
    >>> feed.kind, feed.title, [entry.title for entry in feed.entries]
    ('rss', 'Tea', ['First flush'])
    >>> parse(b"<!doctype html><title>Tea</title>")
    Traceback (most recent call last):
    apps.sources.formats.feed.NotAFeed: This is a web page, not a feed.
    """
    if len(content) > MAX_DOCUMENT_BYTES:
        raise NotAFeed(f"The document is larger than {MAX_DOCUMENT_BYTES // 2**20} MB; feeds that large are not read.")
    utf8, problems = to_utf8(content, content_type)
    if utf8.startswith((b"{", b"[")):
        return read_json_feed(utf8, url, problems)
    document = read_tree(utf8, url, problems)
    if not document.well_formed and b"<!ENTITY" not in utf8:
        # A bare ampersand or an entity of HTML is most often all that is wrong.
        utf8 = with_references_mended(utf8)
        document = read_tree(utf8, url, document.problems)
    feed = read_feed_element(document) if document.well_formed else _read_broken(utf8, document)
    if feed is None:
        raise NotAFeed(describe(utf8))
    return feed


def _read_broken(utf8: bytes, document: Document) -> ParsedFeed | None:
    if is_web_page(utf8):
        return None
    feed = read_loosely(utf8, document.url, document.problems)
    if feed is not None and (feed.entries or feed.title):
        return feed
    # What lxml could save still counts when feedparser finds nothing, fails, or was never asked for lack of time.
    try:
        return read_feed_element(document)
    except ValueError:  # broken trees hold names that lxml itself refuses
        return None
