"""Elements that all dialects share: links, people, categories, Media RSS, podcasts, update hints."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from lxml import etree

from apps.sources.formats.dates import parse_date
from apps.sources.formats.documents import (
    Children,
    Document,
    all_texts,
    children_by_name,
    first,
    first_of,
    first_text,
    text_of,
)
from apps.sources.formats.feed import Cloud, Enclosure, ParsedEntry, UpdateHints
from apps.sources.formats.text import MAX_NAME, MAX_TITLE, one_line, paragraphs, plain_text, web_address

MAX_LISTED = 50  # categories, enclosures, authors of one entry
MAX_LENGTH = 2**53 - 1  # bytes; what publishers claim must fit a column
MAX_DURATION = 366 * 24 * 3600  # seconds

_PERIODS = {"hourly": 3600, "daily": 86_400, "weekly": 604_800, "monthly": 2_592_000, "yearly": 31_536_000}  # seconds
_FREQUENCIES = _PERIODS | {"minutely": 60, "secondly": 1}
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_EMAIL_AND_NAME = re.compile(r"[^\s@()<>]+@[^\s@()<>]+\s*\(([^()]+)\)")
_NAME_AND_EMAIL = re.compile(r"""["']?([^<>"]+?)["']?\s*[<(](?:mailto:)?[^\s@()<>]+@[^\s@()<>]+[>)]""")
_NO_DOMAIN = re.compile(r"[\s/?#@\\<>]")
_SECONDS = re.compile(r"\d{1,9}(\.\d*)?", re.ASCII)
_PICTURE_NAME = re.compile(r"\.(?:jpe?g|png|gif|webp|avif)(?:\?|$)", re.IGNORECASE)
# Of the author, which WordPress lists beside the posting's pictures.
_PORTRAIT = re.compile(r"https?://[^/]*gravatar\.com/")
# In the order of trust.
_PUBLISHED = (
    "pubdate", "published", "issued", "dcterms:issued", "dc:issued", "dc:date", "dcterms:date", "created",
    "dcterms:created", "dc:created", "dcterms:available", "dcterms:datesubmitted",
)  # fmt: skip
_UPDATED = ("updated", "modified", "dcterms:modified", "dc:modified")


def read_extensions(
    document: Document, element: etree._Element
) -> tuple[Children, Children, list["Link"], ParsedEntry]:
    """The children, Media RSS elements and links of an item, and an entry with all that the dialects write alike."""
    children = children_by_name(element)
    media = _media_children(children)
    links = read_links(document, children)
    files = _enclosures(document, children, links, media)
    entry = ParsedEntry(
        published=next(filter(None, map(parse_date, all_texts(children, *_PUBLISHED))), None),
        updated=next(filter(None, map(parse_date, all_texts(children, *_UPDATED))), None),
        authors=_authors(children),
        categories=_categories({**children, **media} if media else children),
        image_url=_picture(document, children, media, files),
        comments_url=_comments_link(document, children, links),
        enclosures=files,
    )
    return children, media, links, entry


# Links


class Link(NamedTuple):
    relation: str
    address: str
    element: etree._Element


def read_links(document: Document, children: Children) -> list[Link]:
    """Every link to the web, in order: RSS writes the address as text, Atom as an attribute."""
    links = []
    for name in ("link", "atom:link"):
        for element in children.get(name, ()):
            reference = element.get("href") or (element.text or "").strip()
            if address := web_address(reference, document.base(element)):
                links.append(Link((element.get("rel") or "alternate").strip().lower(), address, element))
    return links


def related(links: list[Link], relation: str) -> tuple[str, ...]:
    """The addresses with this relation, each once."""
    return tuple(dict.fromkeys(link.address for link in links if link.relation == relation))


def page_link(links: list[Link]) -> str:
    """The alternate for people: the first declared as HTML, else the first without a type, else any but a feed."""
    pages = [(link.address, _media_type(link.element)) for link in links if link.relation == "alternate"]
    for wanted in (("text/html", "application/xhtml+xml"), ("",)):
        if address := next((address for address, kind in pages if kind in wanted), ""):
            return address
    return next((address for address, kind in pages if not kind.endswith(("+xml", "/xml", "json"))), "")


def _comments_link(document: Document, children: Children, links: list[Link]) -> str:
    """The page of the comments, else their feed."""
    page = first_of(children, lambda each: web_address((each.text or "").strip(), document.base(each)), "comments")
    replies = related(links, "replies")
    return page or next(iter(replies), "") or web_address(first_text(children, "wfw:commentrss"), document.url)


def _media_type(link: etree._Element) -> str:
    return link.get("type", "").partition(";")[0].strip().lower()


# People and categories


def person(text: str) -> str:
    """The name out of "mail@example.org (Name)" or "Name <mail@example.org>"; the text itself when it is neither.

    >>> person("editor@example.org (Ada Lovelace)"), person("Ada <ada@example.org>"), person("Ada")
    ('Ada Lovelace', 'Ada', 'Ada')
    """
    text = plain_text(text.strip()[:MAX_TITLE])
    match = _EMAIL_AND_NAME.fullmatch(text) or _NAME_AND_EMAIL.fullmatch(text)
    return match[1].strip() if match else text


def _authors(children: Children) -> tuple[str, ...]:
    """The distinct authors: the format's own, Dublin Core's, else the podcast's."""
    names = [_author(element) for name in ("author", "dc:creator", "dc:author") for element in children.get(name, ())]
    if not any(names):
        names = [person(text) for text in all_texts(children, "itunes:author", "googleplay:author")]
    return tuple(dict.fromkeys(name for name in names[:MAX_LISTED] if name))


def _author(element: etree._Element) -> str:
    if not len(element):
        return person(element.text or "")
    parts = children_by_name(element)
    return person(first_text(parts, "name", "email") or text_of(element))


def _categories(children: Children) -> tuple[str, ...]:
    """Categories, subjects and keywords, each once, in order."""
    found: dict[str, None] = {}
    for name in ("category", "dc:subject", "media:category"):
        for element in children.get(name, ()):
            found[plain_text(element.get("label") or element.get("term") or text_of(element), MAX_NAME)] = None
    for element in children.get("itunes:category", ()):
        found[one_line(element.get("text") or "", MAX_NAME)] = None
    for text in all_texts(children, "itunes:keywords", "media:keywords", "keywords"):
        found.update(dict.fromkeys(one_line(word, MAX_NAME) for word in text.split(",")[:MAX_LISTED]))
    found.pop("", None)
    return tuple(found)[:MAX_LISTED]


# Pictures, sounds and films


def _media_children(children: Children) -> Children:
    """The Media RSS elements of an entry, those within groups and contents included."""
    if not any(name.startswith("media:") for name in children):
        return {}
    found: Children = {}
    pending = [children]
    while pending:
        level = pending.pop(0)
        for name in [name for name in level if name.startswith("media:")]:
            found.setdefault(name, []).extend(level[name])
            if name in ("media:group", "media:content"):
                pending.extend(children_by_name(element) for element in level[name] if len(element))
    return found


def _enclosures(document: Document, children: Children, links: list[Link], media: Children) -> tuple[Enclosure, ...]:
    """Files to play or download, each address once: RSS enclosures, Atom's, and the sounds and films of Media RSS."""
    found: dict[str, Enclosure] = {}
    duration = seconds(first_text(children, "itunes:duration"))
    stated = [(element, "url") for element in children.get("enclosure", ())]
    stated += [(link.element, "href") for link in links if link.relation == "enclosure"]
    for element, attribute in stated:
        plays = _plays(element.get("type") or "")
        _add(found, document, element, attribute, duration=duration if plays else None)
    for element in media.get("media:content", ()):
        duration = seconds(element.get("duration") or "")
        if duration or element.get("medium") in ("audio", "video") or _plays(element.get("type") or ""):
            _add(found, document, element, "url", duration=duration)
    return tuple(found.values())[:MAX_LISTED]


def _plays(media_type: str) -> bool:
    return media_type.lower().startswith(("audio/", "video/"))


def _add(
    found: dict[str, Enclosure], document: Document, element: etree._Element, attribute: str, *, duration: int | None
) -> None:
    address = web_address(element.get(attribute), document.base(element))
    if address and address not in found:
        length = number(element.get("length") or element.get("fileSize") or "", MAX_LENGTH)
        title = one_line(element.get("title") or "")
        found[address] = Enclosure(
            address, one_line(element.get("type") or "", MAX_NAME).lower(), length, duration, title
        )


def number(text: str, most: int) -> int | None:
    """A count of at least one, as publishers write it, or None."""
    text = text.strip().replace(",", "")
    value = int(text) if text.isdecimal() and len(text) < 20 else 0
    return value if 0 < value <= most else None


def seconds(text: str) -> int | None:
    """A duration as podcasts write it.

    >>> seconds("1:02:03"), seconds("62:03"), seconds("90"), seconds("soon")
    (3723, 3723, 90, None)
    """
    parts = text.strip().split(":")
    if len(parts) > 3 or not all(_SECONDS.fullmatch(part) for part in parts):
        return None
    total = 0
    for part in parts:
        total = 60 * total + int(float(part))
    return total if 0 < total <= MAX_DURATION else None


def _picture(document: Document, children: Children, media: Children, files: tuple[Enclosure, ...]) -> str:
    """The entry's picture: Media RSS's thumbnail, its content, the podcast's picture, an enclosure."""
    thumbnails = sorted(media.get("media:thumbnail", ()), key=_width, reverse=True)
    for element in (*thumbnails, *filter(_is_picture, media.get("media:content", ()))):
        address = web_address(element.get("url") or text_of(element), document.base(element))
        if address and not _PORTRAIT.match(address):
            return address
    image = channel_picture(document, children)
    return image or next((file.url for file in files if file.media_type.startswith("image/")), "")


def channel_picture(document: Document, children: Children) -> str:
    """The picture that an element names directly: the podcast's, RSS's <image> or Atom's logo."""

    def read(element: etree._Element) -> str:
        text = first_text(children_by_name(element), "url") if len(element) else text_of(element)
        return web_address(element.get("href") or element.get("url") or text, document.base(element))

    return first_of(children, read, "itunes:image", "image", "googleplay:image", "logo", "icon")


def _width(thumbnail: etree._Element) -> int:
    return number(thumbnail.get("width") or "", 100_000) or 0


def _is_picture(content: etree._Element) -> bool:
    kind = content.get("medium") or content.get("type") or ""
    return kind.startswith("image") or (not kind and _PICTURE_NAME.search(content.get("url") or "") is not None)


def media_description(media: Children) -> str:
    """The HTML of Media RSS's description, which is plain text unless it says otherwise."""
    element = first(media, "media:description")
    text = text_of(element)
    return text if element is not None and element.get("type") == "html" else paragraphs(text)


# Notifications and update hints


def cloud(attributes: Iterable[tuple[object, object]]) -> Cloud | None:
    """The server named by the attributes of a <cloud> element; None for an impossible host or port.

    >>> cloud([("domain", "rpc.example.org"), ("port", "80"), ("path", "/RPC2"), ("protocol", "http-post")])
    Cloud(domain='rpc.example.org', port=80, path='/RPC2', protocol='http-post')
    """
    given = {str(name).lower(): str(value).strip() for name, value in attributes}
    port = number(given.get("port") or "80", 65_535)
    domain = given.get("domain", "")
    if not domain or port is None or _NO_DOMAIN.search(domain):
        return None
    path = given.get("path", "")[:MAX_TITLE]
    return Cloud(
        domain=domain[:MAX_NAME],
        port=port,
        path=path if path.startswith("/") else f"/{path}",
        protocol=given.get("protocol", "")[:MAX_NAME].lower(),
    )


def update_hints(children: Children) -> UpdateHints:
    """The time to live, and the hours and days without news."""
    minutes = number(first_text(children, "ttl"), 366 * 24 * 60)
    ttl = 60 * minutes if minutes else _syndication_period(children) or _recurrence(children)
    hours = (number(text, 24) if text != "0" else 0 for text in _members(children, "skiphours"))
    return UpdateHints(
        ttl=ttl,
        skip_hours=frozenset(hour % 24 for hour in hours if hour is not None),  # RSS 0.91 counts from 1 to 24
        skip_days=frozenset(_DAYS.index(day.lower()) for day in _members(children, "skipdays") if day.lower() in _DAYS),
    )


def _members(children: Children, name: str) -> Iterator[str]:
    element = first(children, name)
    return iter(()) if element is None else (text_of(member) for member in element)


def _syndication_period(children: Children) -> int | None:
    period = _PERIODS.get(first_text(children, "sy:updateperiod").lower())
    times = number(first_text(children, "sy:updatefrequency"), 10**6) or 1
    return max(1, period // times) if period else None


def _recurrence(children: Children) -> int | None:
    """The least distance that a podcast's rule (RFC 5545) leaves between two episodes, as far as it is plain."""
    element = first(children, "podcast:updatefrequency")
    rule = (element.get("rrule") or "").lower() if element is not None else ""
    parts = dict(part.partition("=")[::2] for part in rule.split(";"))
    period = _FREQUENCIES.get(parts.get("freq", ""))
    if period is None or any(name.startswith("by") for name in parts):
        return None
    return min(period * (number(parts.get("interval", ""), 1000) or 1), 31_536_000)
