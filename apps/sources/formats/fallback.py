"""Documents that are not well-formed, as feedparser reads them."""

import io
from calendar import timegm
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import feedparser

from apps.sources.formats.dates import parse_date
from apps.sources.formats.extensions import MAX_DURATION, MAX_LENGTH, MAX_LISTED, cloud, number, person, seconds
from apps.sources.formats.feed import MAX_ENTRIES, Enclosure, ParsedEntry, ParsedFeed, UpdateHints, left_out
from apps.sources.formats.text import (
    MAX_CONTENT,
    MAX_DESCRIPTION,
    MAX_IDENTIFIER,
    MAX_LANGUAGE,
    MAX_NAME,
    MAX_TITLE,
    escaped,
    one_line,
    plain_text,
    unescaped_title,
    web_address,
    without_controls,
)

MAX_LOOSE_BYTES = 512 * 1024  # feedparser takes up to 3 s for it


def read_loosely(utf8: bytes, url: str, problems: tuple[str, ...]) -> ParsedFeed | None:
    """The feed as feedparser reads it, or None when it fails or finds no feed."""
    # Without an address it does not resolve relative ones: guids must not depend on the parser.
    headers = {"content-type": "application/xml; charset=utf-8"}
    try:
        # As a file: feedparser takes a bare string for the name of one, and would read it.
        found = feedparser.parse(
            io.BytesIO(utf8), response_headers=headers, sanitize_html=False, resolve_relative_uris=False
        )
    except Exception:  # its parsers raise a dozen kinds of errors on malformed input
        return None
    feed, entries, kind = found["feed"], found["entries"], _kind(_text(found, "version"))
    if not kind and not entries:
        return None
    read = (_entry(entry, url, kind) for entry in entries[:MAX_ENTRIES])
    return ParsedFeed(
        kind=kind or "rss",
        title=plain_text(_text(feed, "title", 8 * MAX_TITLE)),
        link=web_address(_text(feed, "link"), url),
        description=plain_text(_text(feed, "subtitle", MAX_CONTENT), MAX_DESCRIPTION),
        language=one_line(_text(feed, "language"), MAX_LANGUAGE),
        image_url=web_address(_text(_get(feed, "image"), "href"), url),
        self_url=next(_linked(feed, "self", url), ""),
        new_url=web_address(_text(feed, "itunes_new-feed-url"), url),
        hub_urls=tuple(dict.fromkeys(_linked(feed, "hub", url))),
        cloud=cloud((_get(feed, "cloud") or {}).items()),
        hints=_hints(feed),
        entries=tuple(entry for entry in read if entry != ParsedEntry()),
        problems=(*problems, *left_out(len(entries))),
    )


def _kind(version: str) -> str:
    if version in ("rss090", "rss10"):
        return "rdf"
    return version[:4] if version.startswith("atom") else version[:3]


def _entry(entry: Any, url: str, kind: str) -> ParsedEntry:
    contents = [_markup(content) for content in _list(entry, "content")]
    content = next(filter(None, contents), "")
    summary = _markup(_get(entry, "summary_detail")) or _text(entry, "summary", MAX_CONTENT).strip()
    published, updated = _date(entry, "published") or _date(entry, "created"), _date(entry, "updated")
    if kind != "atom" and published is None:  # the date of Dublin Core, of which feedparser thinks as of a change
        published, updated = updated, None
    guid, link = _text(entry, "id").strip(), _text(entry, "link")
    files = _enclosures(entry, url)
    return ParsedEntry(
        guid=guid,
        link=web_address(link, "" if link == guid else url),  # a bare identifier is not a relative address
        title=unescaped_title(plain_text(_text(entry, "title", 8 * MAX_TITLE))),
        summary="" if summary == content else summary,  # feedparser repeats the content as the summary
        content=content,
        published=published,
        updated=updated,
        authors=_authors(entry),
        categories=_categories(entry),
        image_url=_picture(entry, files, url),
        comments_url=web_address(_text(entry, "comments"), url) or web_address(_text(entry, "wfw_commentrss"), url),
        enclosures=files,
    )


def _get(holder: Any, name: str) -> Any:
    # Not by feedparser's own method, which gives one name for another, with a warning.
    return dict.get(holder, name) if isinstance(holder, dict) else None


def _text(holder: Any, name: str, limit: int = MAX_IDENTIFIER) -> str:
    value = _get(holder, name)
    return without_controls(value[:limit]) if isinstance(value, str) else ""


def _list(holder: Any, name: str) -> list[Any]:
    value = _get(holder, name)
    return [each for each in value[:MAX_LISTED] if isinstance(each, dict)] if isinstance(value, list) else []


def _markup(detail: Any) -> str:
    text = _text(detail, "value", MAX_CONTENT).strip()
    is_plain = _text(detail, "type") == "text/plain"
    # In broken XML the declared type of texts is often wrong, too.
    return escaped(text) if is_plain and "</" not in text else text


def _date(entry: Any, name: str) -> datetime | None:
    # The text first: feedparser knows fewer zones, and drops the date for one it cannot read.
    if moment := parse_date(_text(entry, name)):
        return moment
    parts = _get(entry, f"{name}_parsed")
    return datetime.fromtimestamp(timegm(parts), UTC) if parts else None


def _linked(holder: Any, relation: str, url: str) -> Iterator[str]:
    hrefs = (_text(link, "href") for link in _list(holder, "links") if _get(link, "rel") == relation)
    return (address for href in hrefs if (address := web_address(href, url)))


def _authors(entry: Any) -> tuple[str, ...]:
    names = [person(_text(author, "name") or _text(author, "email")) for author in _list(entry, "authors")]
    return tuple(dict.fromkeys(filter(None, names))) or tuple(filter(None, [person(_text(entry, "author"))]))


def _categories(entry: Any) -> tuple[str, ...]:
    names = (plain_text(_text(tag, "label") or _text(tag, "term"), MAX_NAME) for tag in _list(entry, "tags"))
    return tuple(dict.fromkeys(filter(None, names)))


def _enclosures(entry: Any, url: str) -> tuple[Enclosure, ...]:
    duration = seconds(_text(entry, "itunes_duration"))
    found: dict[str, Enclosure] = {}
    for link in _list(entry, "links"):
        address = web_address(_text(link, "href"), url) if _get(link, "rel") == "enclosure" else ""
        if address:
            kind = one_line(_text(link, "type"), MAX_NAME).lower()
            length = number(_text(link, "length"), MAX_LENGTH)
            played = duration if kind.startswith(("audio/", "video/")) else None
            found.setdefault(address, Enclosure(address, kind, length, played, one_line(_text(link, "title"))))
    return tuple(found.values())


def _picture(entry: Any, files: tuple[Enclosure, ...], url: str) -> str:
    thumbnails = [_text(each, "url") for each in _list(entry, "media_thumbnail")]
    contents = [_text(each, "url") for each in _list(entry, "media_content") if _text(each, "medium") == "image"]
    for reference in (*thumbnails, *contents, _text(_get(entry, "image"), "href")):
        if address := web_address(reference, url):
            return address
    return next((file.url for file in files if file.media_type.startswith("image/")), "")


def _hints(feed: Any) -> UpdateHints:
    minutes = number(_text(feed, "ttl"), MAX_DURATION // 60)
    return UpdateHints(ttl=60 * minutes if minutes else None)
