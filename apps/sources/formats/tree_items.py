"""Items of web pages, XML and JSON documents, by paths within their trees."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from lxml import etree

from apps.sources.formats.expressions import Path, xpath
from apps.sources.formats.feed import NotAFeed
from apps.sources.formats.items import MAX_AUTHORS, FoundItem, markup_of_text
from apps.sources.formats.json_paths import elements_of, json_path, type_of
from apps.sources.formats.text import MAX_CONTENT, MAX_IDENTIFIER, escaped, one_line

Node = etree._Element | str
_ADDRESSES = ("href", "src", "url", "content", "resource")
_PICTURES = ("data-src", "data-original", "data-lazy-src", "src", "content", "href", "url")
_DATES = ("datetime", "content", "data-date", "data-time", "title")


@dataclass(frozen=True, slots=True)
class TreeReader:
    """Evaluates the paths of one kind on one tree."""

    is_json: bool
    is_html: bool
    namespaces: dict[str, str]

    def path(self, name: str, expression: str) -> "NamedPath":
        compiled = json_path(expression) if self.is_json else xpath(expression, self.namespaces)
        return NamedPath(name, expression, compiled)

    def text(self, node: Node) -> str:
        if isinstance(node, str):
            return node
        return "\n".join(filter(None, map(str, node.itertext()))) if self.is_json else words_of(node)

    def words(self, node: Node) -> str:
        """Its text as HTML: only that of web pages is known not to be HTML already."""
        return escaped(self.text(node)) if self.is_html else self.text(node)

    def markup(self, node: Node) -> str:
        if isinstance(node, str):
            return markup_of_text(node)
        if self.is_json or (not self.is_html and not len(node)):
            return markup_of_text(self.text(node))
        inner = (etree.tostring(child, method="html", encoding="unicode") for child in node)
        return (escaped(node.text or "") + "".join(inner))[:MAX_CONTENT]

    def address(self, node: Node) -> str:
        """What it links to: its own attribute, that of the first link within, or its text."""
        if isinstance(node, str):
            return node
        within: Iterable[etree._Element] = () if self.is_json else node.iterdescendants("a")
        for each in (node, *within):
            if value := next((value for name in _ADDRESSES if (value := each.get(name))), ""):
                return value
        if self.is_json and type_of(node) == "object":
            return next((self.text(child) for child in node if child.get("key") in _ADDRESSES), "")
        return self.text(node)[:MAX_IDENTIFIER]

    def picture(self, node: Node) -> str:
        if isinstance(node, str):
            return node
        names = ("img", "source", "image", "thumbnail")
        within: Iterable[etree._Element] = () if self.is_json else node.iterdescendants(*names)
        for each in (node, *within):
            stated = (each.get(name) or "" for name in _PICTURES)
            if value := next((value for value in stated if value and not value.startswith("data:")), ""):
                return value
            if candidates := (each.get("srcset") or each.get("data-srcset") or "").split():
                return candidates[0].rstrip(",")
        return self.address(node)

    def dates(self, node: Node) -> tuple[str, ...]:
        if isinstance(node, str):
            return (node,)
        within = () if self.is_json else node.iterdescendants("time")
        stated = (each.get(name) for each in (node, *within) for name in _DATES)
        return tuple(filter(None, (*stated, one_line(self.text(node)))))


class NamedPath:
    """A compiled path with its name and expression, for messages."""

    def __init__(self, name: str, expression: str, compiled: Path) -> None:
        self.name, self.expression = name, expression
        self._compiled = compiled

    def nodes(self, context: etree._Element) -> list[Node]:
        """The nodes found from a node on, in the order of the document. Raises NotAFeed if it cannot be evaluated."""
        try:
            found = self._compiled(context)
        except etree.XPathError as error:
            raise NotAFeed(f"{self} cannot be evaluated: {error}.") from None
        if isinstance(found, bool):
            return []
        if isinstance(found, float):
            return [f"{found:.15g}"]
        if isinstance(found, str):
            return [found]
        return [node for node in found if isinstance(node, (str, etree._Element))]

    def first(self, context: etree._Element) -> Node | None:
        return next(iter(self.nodes(context)), None)

    def __str__(self) -> str:
        return f"{self.name} path “{self.expression}”"


# Code and styles are no words, unless one addresses them.
_WORDS = xpath("descendant::text()[not(parent::script or parent::style)]")


def words_of(node: etree._Element) -> str:
    """All text within an element of a page."""
    return "".join(_WORDS(node)) or (node.text or "" if node.tag in ("script", "style") else "")


def items_at(reader: TreeReader, item: NamedPath, channel: etree._Element) -> list[etree._Element]:
    """The elements that the item path finds; arrays stand for their elements. Raises NotAFeed if it finds none."""
    found: Iterable[Node] = item.nodes(channel)
    elements = [node for node in found if isinstance(node, etree._Element)]
    if reader.is_json:
        elements = [each for node in elements for each in elements_of(node)]
    if not elements:
        raise NotAFeed(f"{item} found nothing in the document.")
    return elements


def found_item(reader: TreeReader, paths: dict[str, NamedPath], element: etree._Element) -> FoundItem:
    """What the paths find in one item."""

    def first(name: str, read: Callable[[Node], Any], otherwise: Any = "") -> Any:
        node = paths[name].first(element) if name in paths else None
        if reader.is_json and isinstance(node, etree._Element) and type_of(node) == "array":
            node = next(elements_of(node), None)
        return otherwise if node is None else read(node)

    authors = paths["author"].nodes(element) if "author" in paths else []
    return FoundItem(
        title=first("title", reader.words),
        description=first("description", reader.markup),
        link=first("link", reader.address),
        dates=first("date", reader.dates, ()),
        image=first("image", reader.picture),
        authors=tuple(map(reader.words, _each(reader, authors)[:MAX_AUTHORS])),
    )


def _each(reader: TreeReader, nodes: list[Node]) -> list[Node]:
    if not reader.is_json:
        return nodes
    return [each for node in nodes for each in (elements_of(node) if isinstance(node, etree._Element) else [node])]
