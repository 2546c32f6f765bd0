"""Atom 1.0 (RFC 4287), Atom 0.3 and what came before it."""

from dataclasses import replace
from functools import partial

from lxml import etree

from apps.sources.formats.documents import XML_LANG, Children, Document, children_by_name, first, first_of, first_text
from apps.sources.formats.extensions import (
    Link,
    channel_picture,
    media_description,
    page_link,
    read_extensions,
    read_links,
    related,
    update_hints,
)
from apps.sources.formats.feed import ParsedEntry, ParsedFeed
from apps.sources.formats.markup import html_of_construct, title_of
from apps.sources.formats.rss import MAX_DESCRIPTION, MAX_ENTRIES, too_many
from apps.sources.formats.text import MAX_IDENTIFIER, MAX_LANGUAGE, one_line, plain_text, unescaped_title, web_address


def read_atom(document: Document, root: etree._Element) -> ParsedFeed:
    """The feed below a <feed> element, or the one entry of an <entry> document."""
    is_entry = root.tag.endswith("}entry")
    children = {} if is_entry else children_by_name(root)
    entries = [root] if is_entry else children.get("entry") or children.get("item", [])
    links = read_links(document, children)
    described = first(children, "subtitle", "tagline", "info")
    return ParsedFeed(
        kind="atom",
        title=_title(children, "title"),
        link=page_link(links) or web_address(first_text(children, "id")),
        description="" if described is None else plain_text(html_of_construct(document, described), MAX_DESCRIPTION),
        language=one_line(root.get(XML_LANG) or first_text(children, "dc:language", "language"), MAX_LANGUAGE),
        image_url=channel_picture(document, children),
        self_url=next(iter(related(links, "self")), ""),
        new_url=web_address(first_text(children, "itunes:new-feed-url"), document.url),
        hub_urls=related(links, "hub"),
        hints=update_hints(children),
        entries=tuple(_entry(document, element) for element in entries[:MAX_ENTRIES]),
        problems=document.problems if len(entries) <= MAX_ENTRIES else (*document.problems, too_many(len(entries))),
    )


def _entry(document: Document, element: etree._Element) -> ParsedEntry:
    children, media, links, entry = read_extensions(document, element)
    guid = first_text(children, "id", "guid")[:MAX_IDENTIFIER]
    return replace(
        entry,
        guid=guid,
        link=_link(document, children, links, guid),
        title=unescaped_title(_title(children, "title", "dc:title") or _title(media, "media:title")),
        summary=_construct(document, children, "summary", "description", "dc:description") or media_description(media),
        content=_construct(document, children, "content", "body", "xhtml:body"),
        language=one_line(element.get(XML_LANG) or first_text(children, "dc:language"), MAX_LANGUAGE),
    )


def _title(children: Children, *names: str) -> str:
    return first_of(children, partial(title_of, is_construct=True), *names)


def _construct(document: Document, children: Children, *names: str) -> str:
    return first_of(children, partial(html_of_construct, document), *names)


def _link(document: Document, children: Children, links: list[Link], guid: str) -> str:
    """The entry's page: its link, or where its content lies, or an id that is a web address."""
    address = page_link(links)
    if address:
        return address
    content = first(children, "content")
    source = web_address(content.get("src"), document.base(content)) if content is not None else ""
    video = first_text(children, "yt:videoid")
    return source or web_address(f"https://www.youtube.com/watch?v={video}" if video else guid)
