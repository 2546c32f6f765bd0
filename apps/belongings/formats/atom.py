"""An Atom feed (RFC 4287) that is written entry by entry."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lxml import etree

ATOM = "http://www.w3.org/2005/Atom"
_NAMESPACE: dict[Any, str] = {None: ATOM}  # the one without a prefix
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Entry:
    id: str
    title: str
    url: str
    html: str
    author: str
    published: datetime
    updated: datetime
    source_title: str
    source_url: str


def feed(title: str, id: str, updated: datetime, entries: Iterable[Entry]) -> Iterator[bytes]:
    """The feed in pieces, one an entry.

    >>> from datetime import UTC
    >>> b"".join(feed("Starred", "urn:x", datetime(2024, 5, 1, tzinfo=UTC), [])).decode().splitlines()[1]
    '<feed xmlns="http://www.w3.org/2005/Atom">'
    """
    yield b'<?xml version="1.0" encoding="utf-8"?>\n'
    yield f'<feed xmlns="{ATOM}">\n'.encode()
    for name, text in (("title", title), ("id", id), ("updated", updated.isoformat())):
        yield _written(_element(name, text))
    for entry in entries:
        yield _written(_entry(entry))
    yield b"</feed>\n"


def _entry(entry: Entry) -> etree._Element:
    element = _element("entry")
    element.append(_element("id", entry.id))
    element.append(_element("title", entry.title))
    if entry.url:
        element.append(_element("link", rel="alternate", href=entry.url))
    element.append(_element("published", entry.published.isoformat()))
    element.append(_element("updated", entry.updated.isoformat()))
    author = _element("author")
    author.append(_element("name", entry.author or entry.source_title or entry.source_url))
    element.append(author)
    source = _element("source")
    source.append(_element("id", entry.source_url))
    source.append(_element("title", entry.source_title))
    source.append(_element("updated", entry.updated.isoformat()))
    source.append(_element("link", rel="self", href=entry.source_url))
    element.append(source)
    element.append(_element("content", entry.html, type="html"))
    return element


def _element(name: str, text: str = "", **attributes: str) -> etree._Element:
    element = etree.Element(f"{{{ATOM}}}{name}", nsmap=_NAMESPACE)
    for attribute, value in attributes.items():
        element.set(attribute, _UNWRITABLE.sub("", value))
    element.text = _UNWRITABLE.sub("", text) or None
    return element


def _written(element: etree._Element) -> bytes:
    # Each piece would declare the namespace that the feed around it declares already.
    return etree.tostring(element, encoding="utf-8").replace(f' xmlns="{ATOM}"'.encode(), b"", 1) + b"\n"
