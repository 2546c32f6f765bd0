"""RSS 0.9x to 2.0 and RDF (RSS 1.0): the channel and its items, with what modules add."""

from dataclasses import replace
from functools import partial

from lxml import etree

from apps.sources.formats.documents import XML_LANG, Children, Document, children_by_name, first, first_of, first_text
from apps.sources.formats.extensions import (
    Link,
    channel_picture,
    cloud,
    media_description,
    page_link,
    read_extensions,
    read_links,
    related,
    update_hints,
)
from apps.sources.formats.feed import ParsedEntry, ParsedFeed
from apps.sources.formats.markup import html_of, html_of_construct, title_of
from apps.sources.formats.text import MAX_IDENTIFIER, MAX_LANGUAGE, one_line, paragraphs, plain_text, web_address

RDF_ABOUT = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}about"
MAX_ENTRIES = 10_000
MAX_DESCRIPTION = 4_000


def read_rss(document: Document, root: etree._Element, kind: str) -> ParsedFeed:
    """The feed below an <rss> or <rdf:RDF> element."""
    around = children_by_name(root)
    channel = first(around, "channel")
    if channel is None:
        channel = root
    children = children_by_name(channel)
    if channel is not root:  # RDF puts the items and the picture beside the channel
        for name in ("item", "image"):
            children.setdefault(name, []).extend(around.get(name, ()))
    links = read_links(document, children)
    items = children.get("item", [])
    described = first(children, "description", "subtitle", "tagline", "dc:description", "itunes:summary")
    return ParsedFeed(
        kind=kind,
        title=_title(children),
        link=page_link(links),
        description="" if described is None else plain_text(html_of(document, described), MAX_DESCRIPTION),
        language=_language(root, channel, children),
        image_url=channel_picture(document, children),
        self_url=next(iter(related(links, "self")), ""),
        new_url=web_address(first_text(children, "itunes:new-feed-url"), document.base(channel)),
        hub_urls=related(links, "hub"),
        cloud=next(filter(None, (cloud(element.items()) for element in children.get("cloud", ()))), None),
        hints=update_hints(children),
        entries=tuple(_entry(document, item) for item in items[:MAX_ENTRIES]),
        problems=document.problems if len(items) <= MAX_ENTRIES else (*document.problems, too_many(len(items))),
    )


def too_many(count: int) -> str:
    """The problem of a feed with more entries than are read."""
    return f"The feed has {count:,} entries; the first {MAX_ENTRIES:,} were read."


def _entry(document: Document, item: etree._Element) -> ParsedEntry:
    children, media, links, entry = read_extensions(document, item)
    guid = (first_text(children, "guid", "id") or item.get(RDF_ABOUT, "").strip())[:MAX_IDENTIFIER]
    return replace(
        entry,
        guid=guid,
        link=_entry_link(item, children, links),
        title=_title(children) or _title(media, "media:title"),
        summary=_summary(document, children, media),
        content=_content(document, children),
        language=_language(item, item, children),
    )


def _title(children: Children, *names: str) -> str:
    def read(element: etree._Element) -> str:
        return title_of(element, is_construct=element.get("type") == "text")

    return first_of(children, read, *(names or ("title", "dc:title", "itunes:title")))


def _entry_link(item: etree._Element, children: Children, links: list[Link]) -> str:
    """The item's page: its link, else its guid when that is an address and may be one, else its name in RDF."""
    address = page_link(links)
    if address:
        return address
    guid = first(children, "guid")
    if guid is not None and (guid.get("isPermaLink") or "true").strip().lower() == "true":
        # A relative guid is far more often a bare identifier than an address.
        return web_address((guid.text or "").strip())
    return web_address(item.get(RDF_ABOUT, ""))


def _content(document: Document, children: Children) -> str:
    markup = first_of(children, partial(html_of, document), "content:encoded", "fullitem", "xhtml:body", "body")
    return markup or first_of(children, partial(html_of_construct, document), "content")


def _summary(document: Document, children: Children, media: Children) -> str:
    markup = first_of(children, partial(html_of, document), "description", "dc:description", "dcterms:abstract")
    markup = markup or first_of(children, partial(html_of_construct, document), "summary")
    if markup:
        return markup
    spoken = first_text(children, "itunes:summary", "itunes:subtitle", "googleplay:description")
    return (spoken if "<" in spoken else paragraphs(spoken)) or media_description(media)


def _language(outer: etree._Element, inner: etree._Element, children: Children) -> str:
    stated = first_text(children, "language", "dc:language")
    return one_line(stated or inner.get(XML_LANG) or outer.get(XML_LANG) or "", MAX_LANGUAGE)
