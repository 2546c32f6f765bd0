"""RSS 0.9x to 2.0, RDF (RSS 1.0), and Atom with its forerunners: the feed and its entries, with what modules add.

Content may be written escaped, as XHTML or as plain text.
"""

import base64
import binascii
from dataclasses import replace
from functools import partial

from lxml import etree

from apps.sources.formats.documents import (
    XML_BASE,
    XML_LANG,
    Children,
    Document,
    canonical_name,
    children_by_name,
    first,
    first_of,
    first_text,
    text_of,
)
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
from apps.sources.formats.feed import MAX_ENTRIES, ParsedEntry, ParsedFeed, left_out
from apps.sources.formats.text import (
    MAX_CONTENT,
    MAX_DESCRIPTION,
    MAX_IDENTIFIER,
    MAX_LANGUAGE,
    escaped,
    one_line,
    paragraphs,
    plain_text,
    unescaped_title,
    web_address,
    with_absolute_addresses,
    without_controls,
)

RDF_ABOUT = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}about"


def read_feed_element(document: Document) -> ParsedFeed | None:
    """The feed that the document's root holds, or None when it is of another kind."""
    root = document.root
    if root is None:
        return None
    if canonical_name(root.tag).endswith((":rss", ":feed")):
        _leave_namespace(root)
    match canonical_name(root.tag):
        case "rdf:rdf" | "rdf":
            # RDF describes many things; feeds are those that declare a namespace of RSS.
            is_feed = any(canonical_name(f"{{{namespace}}}item") == "item" for namespace in root.nsmap.values())
            return _read_rss(document, root, "rdf") if is_feed else None
        case "rss":
            return _read_rss(document, root, "rss")
        case "feed" | "entry":
            return _read_atom(document, root)
        case _:
            return None


def _leave_namespace(root: etree._Element) -> None:
    """Some publishers invent a namespace for the format; its elements are then those in the root's namespace."""
    namespace = root.tag.rpartition("}")[0]
    for element in root.iter(namespace + "}*"):
        element.tag = element.tag.rpartition("}")[2]


# --- RSS and RDF ------------------------------------------------------------------------------------------------------
def _read_rss(document: Document, root: etree._Element, kind: str) -> ParsedFeed:
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
        title=_rss_title(children),
        link=page_link(links),
        description="" if described is None else plain_text(html_of(document, described), MAX_DESCRIPTION),
        language=_rss_language(root, channel, children),
        image_url=channel_picture(document, children),
        self_url=next(iter(related(links, "self")), ""),
        new_url=web_address(first_text(children, "itunes:new-feed-url"), document.base(channel)),
        hub_urls=related(links, "hub"),
        cloud=next(filter(None, (cloud(element.items()) for element in children.get("cloud", ()))), None),
        hints=update_hints(children),
        entries=tuple(_rss_entry(document, item) for item in items[:MAX_ENTRIES]),
        problems=(*document.problems, *left_out(len(items))),
    )


def _rss_entry(document: Document, item: etree._Element) -> ParsedEntry:
    children, media, links, entry = read_extensions(document, item)
    guid = (first_text(children, "guid", "id") or item.get(RDF_ABOUT, "").strip())[:MAX_IDENTIFIER]
    return replace(
        entry,
        guid=guid,
        link=_rss_link(item, children, links),
        title=_rss_title(children) or _rss_title(media, "media:title"),
        summary=_rss_summary(document, children, media),
        content=_rss_content(document, children),
        language=_rss_language(item, item, children),
    )


def _rss_title(children: Children, *names: str) -> str:
    def read(element: etree._Element) -> str:
        return title_of(element, is_construct=element.get("type") == "text")

    return first_of(children, read, *(names or ("title", "dc:title", "itunes:title")))


def _rss_link(item: etree._Element, children: Children, links: list[Link]) -> str:
    """The item's page: its link, else its guid when that is an address and may be one, else its name in RDF."""
    if address := page_link(links):
        return address
    guid = first(children, "guid")
    if guid is not None and (guid.get("isPermaLink") or "true").strip().lower() == "true":
        # A relative guid is far more often a bare identifier than an address.
        return web_address((guid.text or "").strip())
    return web_address(item.get(RDF_ABOUT, ""))


def _rss_content(document: Document, children: Children) -> str:
    markup = first_of(children, partial(html_of, document), "content:encoded", "fullitem", "xhtml:body", "body")
    return markup or _construct(document, children, "content")


def _rss_summary(document: Document, children: Children, media: Children) -> str:
    markup = first_of(children, partial(html_of, document), "description", "dc:description", "dcterms:abstract")
    markup = markup or _construct(document, children, "summary")
    if markup:
        return markup
    spoken = first_text(children, "itunes:summary", "itunes:subtitle", "googleplay:description")
    return (spoken if "<" in spoken else paragraphs(spoken)) or media_description(media)


def _rss_language(outer: etree._Element, inner: etree._Element, children: Children) -> str:
    stated = first_text(children, "language", "dc:language")
    return one_line(stated or inner.get(XML_LANG) or outer.get(XML_LANG) or "", MAX_LANGUAGE)


# --- Atom -------------------------------------------------------------------------------------------------------------
def _read_atom(document: Document, root: etree._Element) -> ParsedFeed:
    """The feed below a <feed> element, or the one entry of an <entry> document."""
    is_entry = root.tag.endswith("}entry")
    children = {} if is_entry else children_by_name(root)
    entries = [root] if is_entry else children.get("entry") or children.get("item", [])
    links = read_links(document, children)
    described = first(children, "subtitle", "tagline", "info")
    return ParsedFeed(
        kind="atom",
        title=_atom_title(children, "title"),
        link=page_link(links) or web_address(first_text(children, "id")),
        description="" if described is None else plain_text(html_of_construct(document, described), MAX_DESCRIPTION),
        language=one_line(root.get(XML_LANG) or first_text(children, "dc:language", "language"), MAX_LANGUAGE),
        image_url=channel_picture(document, children),
        self_url=next(iter(related(links, "self")), ""),
        new_url=web_address(first_text(children, "itunes:new-feed-url"), document.url),
        hub_urls=related(links, "hub"),
        hints=update_hints(children),
        entries=tuple(_atom_entry(document, element) for element in entries[:MAX_ENTRIES]),
        problems=(*document.problems, *left_out(len(entries))),
    )


def _atom_entry(document: Document, element: etree._Element) -> ParsedEntry:
    children, media, links, entry = read_extensions(document, element)
    guid = first_text(children, "id", "guid")[:MAX_IDENTIFIER]
    return replace(
        entry,
        guid=guid,
        link=_atom_link(document, children, links, guid),
        title=unescaped_title(_atom_title(children, "title", "dc:title") or _atom_title(media, "media:title")),
        summary=_construct(document, children, "summary", "description", "dc:description") or media_description(media),
        content=_construct(document, children, "content", "body", "xhtml:body"),
        language=one_line(element.get(XML_LANG) or first_text(children, "dc:language"), MAX_LANGUAGE),
    )


def _atom_title(children: Children, *names: str) -> str:
    return first_of(children, partial(title_of, is_construct=True), *names)


def _construct(document: Document, children: Children, *names: str) -> str:
    return first_of(children, partial(html_of_construct, document), *names)


def _atom_link(document: Document, children: Children, links: list[Link], guid: str) -> str:
    """The entry's page: its link, or where its content lies, or an id that is a web address."""
    if address := page_link(links):
        return address
    content = first(children, "content")
    source = web_address(content.get("src"), document.base(content)) if content is not None else ""
    video = first_text(children, "yt:videoid")
    return source or web_address(f"https://www.youtube.com/watch?v={video}" if video else guid)


# --- text and markup of an element ------------------------------------------------------------------------------------
_HTML = {"html", "text/html"}
_XHTML = {"xhtml", "application/xhtml+xml"}


def html_of(document: Document, element: etree._Element) -> str:
    """The HTML of an RSS description or content: escaped in the text, or written as elements."""
    markup = _inner(element) if len(element) else (element.text or "")
    return _finished(document, element, markup)


def html_of_construct(document: Document, element: etree._Element) -> str:
    """The HTML of an Atom text construct or content, of Atom 0.3 as of Atom 1.0; "" for pictures and sounds."""
    kind = _kind(element)
    text = element.text or ""
    if not _is_text(kind) or element.get("mode") == "base64":
        markup = _decoded_base64(text) or (escaped(text) if kind.endswith("json") else "")
    elif len(element):
        markup = _inner(element)
    elif kind in _HTML or (kind in _XHTML and "<" in text):
        markup = text
    else:
        markup = escaped(text)
    return _finished(document, element, markup)


def title_of(element: etree._Element, *, is_construct: bool) -> str:
    """The words of a title; Atom declares whether they are HTML, for RSS it is assumed."""
    text, kind = text_of(element), _kind(element)
    if is_construct and (not _is_text(kind) or element.get("mode") == "base64") and (hidden := _decoded_base64(text)):
        return plain_text(hidden)
    is_plain = len(element) > 0 or (is_construct and kind not in _HTML)
    return one_line(text) if is_plain else unescaped_title(plain_text(text))


def _kind(element: etree._Element) -> str:
    return (element.get("type") or "text").partition(";")[0].strip().lower()


def _is_text(kind: str) -> bool:
    # A type without a slash is a slip of the pen. Pictures and other XML are content that no page can show.
    return kind in _XHTML or kind.startswith("text/") or kind == "application/xml" or "/" not in kind


def _finished(document: Document, element: etree._Element, markup: str) -> str:
    markup = markup.strip()[:MAX_CONTENT]
    if document.has_bases and any(XML_BASE in holder.attrib for holder in (element, *element.iterancestors())):
        return with_absolute_addresses(markup, document.base(element))
    return markup


def _inner(element: etree._Element) -> str:
    """The markup between the element's tags, in HTML, without the <div> that Atom requires."""
    outer_text = "".join([element.text or "", *(child.tail or "" for child in element)])
    if len(element) == 1 and not outer_text.strip() and canonical_name(element[0].tag) in ("xhtml:div", "div"):
        element = element[0]
    # Moved into an element of their own, the nodes leave the namespaces of the feed behind.
    holder = etree.Element("div")
    holder.text = element.text
    for child in list(element):
        holder.append(child)
    for node in holder.iter("*"):
        node.tag = node.tag.rpartition("}")[2]
    etree.cleanup_namespaces(holder)
    return etree.tostring(holder, method="html", encoding="unicode").removeprefix("<div>").removesuffix("</div>")


def _decoded_base64(text: str) -> str:
    """The text in base64, or "" for other content, such as a picture."""
    try:
        return without_controls(base64.b64decode("".join(text.split()), validate=True).decode("utf-8"))
    except (binascii.Error, ValueError):
        return ""
