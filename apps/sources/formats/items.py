"""Entries from the values that paths found in a document, for all kinds of sources that are read by paths."""

import html
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, NamedTuple, Self

from lxml import etree

from apps.sources.formats.dates import parse_date
from apps.sources.formats.expressions import Path, xpath
from apps.sources.formats.feed import NotAFeed, ParsedEntry
from apps.sources.formats.json_paths import elements_of, json_path, type_of
from apps.sources.formats.text import (
    MAX_CONTENT,
    MAX_IDENTIFIER,
    escaped,
    one_line,
    paragraphs,
    plain_text,
    web_address,
    with_absolute_addresses,
)

MAX_ITEMS = 500
MAX_AUTHORS = 50
_TAG = re.compile(r"<(?:!--|/?[a-zA-Z][^<>]*>)")
# How pages for people write dates that no feed would: "2. March 2026", "March 2nd, 2026", "02.03.2026, 10:15".
_ORDINAL = re.compile(r"\b(\d{1,2})(?:\.(?=\s+[^\W\d])|(?:st|nd|rd|th)\b)", re.IGNORECASE)
_WITH_DOTS = re.compile(r"\b(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})\b(?:\D{1,8}(\d{1,2})[:.](\d\d))?")
_STAMP = re.compile(r"(\d{9,10}|\d{12,13})(?:\.\d+)?", re.ASCII)


class FoundItem(NamedTuple):
    """The values that the paths found in one item, as written."""

    title: str = ""  # text or HTML
    description: str = ""  # HTML
    link: str = ""  # absolute or relative
    dates: tuple[str, ...] = ()  # the ways in which it is written, the most exact first
    image: str = ""  # absolute or relative
    authors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recipe:
    """The path of each field; "" where there is none."""

    channel: str = ""  # the part of the document that items are looked for in; the whole document by default
    item: str = ""  # for regular expressions what separates items
    title: str = ""
    description: str = ""
    link: str = ""  # or the one address of all items
    date: str = ""
    image: str = ""  # with "^" before it relative to the channel
    author: str = ""
    more: str = ""  # a line for each page to be followed to a recording

    @classmethod
    def from_json(cls, value: object) -> Self:
        """The inverse of `to_json`; unknown members and values that are not text are ignored."""
        given = value if isinstance(value, Mapping) else {}
        names = [field.name for field in fields(cls)]
        return cls(**{name: given[name] for name in names if isinstance(given.get(name), str)})

    def to_json(self) -> dict[str, str]:
        """The fields that are not empty.

        >>> Recipe(item="//li", title=".//a").to_json()
        {'item': '//li', 'title': './/a'}
        """
        return {field.name: text for field in fields(self) if (text := getattr(self, field.name))}


def entries_of(
    found: Sequence[FoundItem], recipe: Recipe, *, base: str, shared_image: str = ""
) -> tuple[tuple[ParsedEntry, ...], tuple[str, ...]]:
    """The entries of items, and the problems of the others.

    An entry needs a title or a description, and a link. If the link's path is an address, all items share it and are
    identified by their words. Raises NotAFeed if a path found nothing in any of the items.
    """
    problems: Counter[str] = Counter()
    entries = []
    for item in found[:MAX_ITEMS]:
        entry, problem = _entry(item, recipe, base, shared_image)
        if entry is not None:
            entries.append(entry)
        if problem:
            problems[problem] += 1
    if found and not entries:
        raise NotAFeed(f"{_items(len(found))} found, but {problems.most_common(1)[0][0]} in any of them.")
    if len(found) > MAX_ITEMS:
        problems[f"the first {MAX_ITEMS} were read"] = len(found)
    return tuple(entries), tuple(f"{_items(count)}: {problem}." for problem, count in problems.items())


def _items(count: int) -> str:
    return f"{count:,} item" if count == 1 else f"{count:,} items"


def _entry(item: FoundItem, recipe: Recipe, base: str, shared_image: str) -> tuple[ParsedEntry | None, str]:
    title = plain_text(item.title)
    description = with_absolute_addresses(item.description.strip()[:MAX_CONTENT], base)
    if not title and not plain_text(description):
        return None, f"the title path “{recipe.title}” found nothing"
    guid, link = "", web_address(item.link.strip(), base)
    if is_address(recipe.link):
        guid = blake2b(f"{title}\0{description}".encode("utf-8", "replace"), digest_size=8).hexdigest()
        link = f"{web_address(recipe.link)}#{guid}"
    if not link:
        return None, f"the link path “{recipe.link}” found no web address"
    published = next(filter(None, map(date_of, item.dates)), None)
    problem = ""
    if recipe.date and published is None:
        written = one_line(item.dates[0], 50) if item.dates else ""
        problem = f"“{written}” is not a readable date" if written else f"the date path “{recipe.date}” found nothing"
    entry = ParsedEntry(
        guid=guid,
        link=link,
        title=title,
        summary=description,
        published=published,
        authors=tuple(dict.fromkeys(filter(None, map(plain_text, item.authors[:MAX_AUTHORS])))),
        image_url=web_address(item.image.strip(), base) or shared_image,
    )
    return entry, problem


def is_address(link: str) -> bool:
    """Whether a link's path is not a path but the shared address of all items."""
    return link.startswith(("http://", "https://"))


def date_of(text: str) -> datetime | None:
    """The time that a text states, or that is given in seconds or milliseconds since 1970.

    >>> date_of("1700000000").isoformat(), date_of("1700000000123").isoformat()
    ('2023-11-14T22:13:20+00:00', '2023-11-14T22:13:20+00:00')
    >>> date_of("2. March 2026").isoformat(), date_of("02.03.2026, 10:15 Uhr").isoformat()
    ('2026-03-02T00:00:00+00:00', '2026-03-02T10:15:00+00:00')
    """
    text = " ".join(text[:200].split())
    stamp = _STAMP.fullmatch(text)
    if stamp is None:
        return parse_date(text) or parse_date(_ORDINAL.sub(r"\1", text)) or _with_dots(text)
    seconds = int(stamp[1]) // (1_000 if len(stamp[1]) > 10 else 1)
    return datetime.fromtimestamp(seconds, UTC)


def _with_dots(text: str) -> datetime | None:
    match = _WITH_DOTS.search(text)
    if match is None:
        return None
    day, month, year, hour, minute = (int(part or 0) for part in match.groups())
    return parse_date(f"{year}-{month:02}-{day:02}T{hour:02}:{minute:02}")


def markup_of_text(text: str) -> str:
    """A text as HTML, whether it is plain, has entities, or is escaped HTML.

    >>> markup_of_text("<p>Tea</p>"), markup_of_text("&lt;p&gt;Tea&lt;/p&gt;"), markup_of_text("Tea &amp; cake")
    ('<p>Tea</p>', '<p>Tea</p>', '<p>Tea &amp; cake</p>')
    """
    if not _TAG.search(text):
        text = html.unescape(text)
        if not _TAG.search(text):
            return paragraphs(text)
    return text


# --- items of trees ---------------------------------------------------------------------------------------------------
Node = etree._Element | str
_ADDRESSES = ("href", "src", "url", "content", "resource")
_PICTURES = ("data-src", "data-original", "data-lazy-src", "src", "content", "href", "url")
_DATES = ("datetime", "content", "data-date", "data-time", "title")


class TreeReader(NamedTuple):
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
