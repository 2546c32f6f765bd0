"""The content of a feed's element as HTML, whether written escaped, as XHTML or as plain text."""

import base64
import binascii

from lxml import etree

from apps.sources.formats.documents import XML_BASE, Document, canonical_name, text_of
from apps.sources.formats.text import (
    MAX_CONTENT,
    escaped,
    one_line,
    plain_text,
    unescaped_title,
    with_absolute_addresses,
    without_controls,
)

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
        markup = _decoded_base64(text)
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
    if is_construct and (not _is_text(kind) or element.get("mode") == "base64"):
        return plain_text(_decoded_base64(text))
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
    """The text in base64, or "" for what is no text, such as a picture."""
    try:
        return without_controls(base64.b64decode("".join(text.split()), validate=True).decode("utf-8"))
    except (binascii.Error, ValueError):
        return ""
