"""Web pages and XML documents as trees for XPath."""

import re
from dataclasses import dataclass, field

from lxml import etree

from apps.sources.formats.characters import to_utf8
from apps.sources.formats.documents import XML_LANG, is_web_page, read_tree
from apps.sources.formats.feed import NotAFeed
from apps.sources.formats.text import MAX_LANGUAGE, one_line, web_address

MAX_DOCUMENT_BYTES = 10 * 2**20  # bytes
MAX_PREFIXES = 50
_PRESCANNED = 1_024  # bytes, in which browsers expect <meta charset>
_META_CHARSET = re.compile(rb"""<meta[^>]{0,400}?charset\s*=\s*["']?\s*([\w:.-]+)""", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Tree:
    root: etree._Element
    base: str  # what relative addresses in it are relative to
    is_html: bool
    title: str = ""
    description: str = ""
    language: str = ""
    namespaces: dict[str, str] = field(default_factory=dict)  # by prefix; elements of the default one have none
    problems: tuple[str, ...] = ()


def decoded(content: bytes, content_type: str) -> tuple[bytes, tuple[str, ...]]:
    """The document in UTF-8, also by the charset in a page's <meta>, and the problems. Raises NotAFeed if too large."""
    if len(content) > MAX_DOCUMENT_BYTES:
        raise NotAFeed(f"The document is larger than {MAX_DOCUMENT_BYTES // 2**20} MB, the maximum.")
    stated = _META_CHARSET.search(content[:_PRESCANNED])
    if stated and "charset" not in content_type.lower():
        # UTF-16 is impossible where "charset" is readable as ASCII.
        charset = stated[1].decode("ascii", "replace")
        content_type = f"{content_type}; charset={'utf-8' if charset.lower().startswith('utf-16') else charset}"
    return to_utf8(content, content_type)


def read_page_tree(content: bytes, *, content_type: str, url: str) -> Tree:
    """The tree of a web page or of any XML document. Raises NotAFeed if it has no elements or is too large."""
    utf8, problems = decoded(content, content_type)
    if not is_web_page(utf8) and (utf8.startswith(b"<?xml") or _says_xml(content_type)):
        return read_xml_tree(utf8, url, problems)
    return _html(utf8, url, problems)


def _says_xml(content_type: str) -> bool:
    kind = content_type.partition(";")[0].strip().lower()
    return kind.endswith(("/xml", "+xml")) and "html" not in kind


def _html(utf8: bytes, url: str, problems: tuple[str, ...]) -> Tree:
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True)
    try:
        root = etree.fromstring(utf8.replace(b"\0", b""), parser) if utf8 else None
    except (etree.LxmlError, ValueError):
        root = None
    if root is None:
        raise NotAFeed("The document has no elements.")
    base = next((each.get("href", "") for each in root.iter("base") if each.get("href")), "")
    metas = list(root.iter("meta"))[:500]
    stated = {(each.get("name") or each.get("property") or "").lower(): each.get("content", "") for each in metas}
    languages = [each.get("content", "") for each in metas if each.get("http-equiv", "").lower() == "content-language"]
    return Tree(
        root=root,
        base=web_address(base, url) or url,
        is_html=True,
        title=one_line(next(("".join(map(str, each.itertext())) for each in root.iter("title")), "")),
        description=one_line(stated.get("description") or stated.get("og:description") or ""),
        language=one_line(root.get("lang") or root.get(XML_LANG) or next(iter(languages), ""), MAX_LANGUAGE),
        problems=problems,
    )


def read_xml_tree(utf8: bytes, url: str, problems: tuple[str, ...]) -> Tree:
    """The tree of an XML document in UTF-8, of a broken one what can be recovered. Raises NotAFeed if nothing can."""
    document = read_tree(utf8, url, problems, recover=True)
    root = document.root
    if root is None:
        raise NotAFeed("The XML document is too broken to be read.")
    namespaces: dict[str, str] = {}
    for _, (prefix, namespace) in etree.iterwalk(root, events=("start-ns",)):
        if prefix and len(namespaces) < MAX_PREFIXES:
            namespaces.setdefault(prefix, namespace)
    for element in root.iter("*"):
        # XPath 1.0 knows no default namespace: elements without a prefix are addressed without one.
        if element.prefix is None and element.tag.startswith("{"):
            element.tag = element.tag.rpartition("}")[2]
    return Tree(
        root=root,
        base=url,
        is_html=False,
        title=one_line(root.findtext("title") or root.findtext("*/title") or ""),
        language=one_line(root.get(XML_LANG) or root.findtext("*/language") or "", MAX_LANGUAGE),
        namespaces=namespaces,
        problems=document.problems,
    )
