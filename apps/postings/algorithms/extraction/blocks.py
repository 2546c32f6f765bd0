"""A page cut into blocks of text: what stands between two tags that are no inline markup.

This is the thesis's cut of the source at its non-keen tags, made on the tree of elements.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from lxml import etree

from apps.postings.algorithms.extraction.words import words_of
from apps.postings.algorithms.players import player_of

SKIPPED = frozenset({
    "script", "style", "noscript", "template", "svg", "math", "iframe", "object", "embed", "canvas", "select", "option",
    "textarea", "input", "button", "head", "video", "audio", "map", "datalist", "dialog", "link", "meta", "source",
    "track", "img", "picture", "amp-img", "amp-ad", "amp-analytics",
})  # fmt: skip
INLINE = frozenset({
    "a", "b", "strong", "i", "em", "u", "span", "font", "mark", "small", "big", "sub", "sup", "time", "abbr", "acronym",
    "cite", "code", "q", "label", "s", "strike", "del", "ins", "kbd", "samp", "var", "tt", "wbr", "bdi", "bdo", "data",
    "dfn", "nobr", "ruby", "rt", "rb", "rp",
})  # fmt: skip
HARD = frozenset({
    "nav", "aside", "footer", "form", "ul", "ol", "table", "figure", "header", "section", "article", "main", "hr",
    "fieldset", "dl",
})  # fmt: skip
# Elements that say something about all text inside them, one bit each.
MEANINGFUL = (
    "article", "main", "section", "aside", "nav", "footer", "header", "figure", "figcaption", "ul", "ol", "li", "table",
    "form", "blockquote", "dl",
)  # fmt: skip
PICTURES = frozenset({"img", "picture", "amp-img"})
EMPHASIS, STRONG, TIME = 1, 2, 4  # inline markup that a block holds, one bit each
ALL_EMPHASIS, ALL_STRONG = 8, 16  # and that all of its text stands in

MAX_BLOCKS = 8_000  # per page; the rest is ignored
MAX_ELEMENTS = 60_000

_INSIDE = {tag: 1 << place for place, tag in enumerate(MEANINGFUL)}
_MARKUP = {"em": EMPHASIS, "i": EMPHASIS, "strong": STRONG, "b": STRONG, "time": TIME}
BREAK = "\x01"  # stands for <br>; `read_page` leaves no such character in a text
_MAX_CLASS_LENGTH = 200  # characters of a class attribute that count for the kind
_MAX_STYLE_LENGTH = 1_000  # characters
_HIDDEN = re.compile(r"display\s*:\s*none", re.IGNORECASE)
# Scripts without spaces between their words; one character says about as much as two Latin ones.
_DENSE = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+")


@dataclass(slots=True, eq=False)
class Place:
    """An element that contains blocks, with the purposes of it and of the elements around it."""

    element: etree._Element
    tag: str
    outer: "Place | None"
    depth: int  # 1 for the body
    words: int  # of the element alone, as `words_of` gives them
    inside: int  # bits of MEANINGFUL elements, itself included
    hidden: bool
    _near: tuple[int, int, int, int] | None = None
    _kind: str = ""
    _signature: str = ""
    _names: str | None = None

    def outwards(self) -> Iterator["Place"]:
        place: Place | None = self
        while place is not None:
            yield place
            place = place.outer

    def above(self, steps: int) -> "Place":
        """The place `steps` outwards, or the outermost."""
        place = self
        for _ in range(steps):
            if place.outer is None:
                break
            place = place.outer
        return place

    def nearest(self, tag: str, known: "dict[Place, Place | None]") -> "Place | None":
        """This place or the first outwards that has the tag; what was found is kept in `known`."""
        if self.tag == tag:
            return self
        if self.outer is None:
            return None
        if self not in known:
            known[self] = self.outer.nearest(tag, known)
        return known[self]

    @property
    def near(self) -> tuple[int, int, int, int]:
        """Words of the element, of one or two above it, of three to five and of six to nine; the body has none."""
        if self._near is None:
            near = [0, 0, 0, 0]
            for distance, place in enumerate(self.outwards()):
                if distance > 9 or place.outer is None:
                    break
                near[0 if distance == 0 else 1 if distance < 3 else 2 if distance < 6 else 3] |= place.words
            self._near = (near[0], near[1], near[2], near[3])
        return self._near

    @property
    def signature(self) -> str:
        """A key that blocks at the same place of a site's template share."""
        if not self._signature:
            parent, grandparent = self.above(1), self.above(2)
            self._signature = f"{self.tag}|{parent.kind}|{grandparent.kind}"
        return self._signature

    @property
    def names(self) -> str:
        if self._names is None:
            get = self.element.attrib.get
            self._names = " ".join([get(name, "")[:_MAX_CLASS_LENGTH] for name in ("class", "id", "role", "style")])
        return self._names

    @property
    def kind(self) -> str:
        if not self._kind:
            self._kind = f"{self.tag}.{(self.element.get('class') or '')[:_MAX_CLASS_LENGTH]}"
        return self._kind


@dataclass(slots=True, eq=False)
class Block:
    text: str  # white space collapsed; a line for each <br>
    characters: int  # n
    size: int  # L: characters, those of Chinese, Japanese, Korean and Thai counted twice
    link_size: int  # ll: characters inside links, at most n
    links: int
    place: Place
    section: int  # blocks of the same section have no boundary of a list, table, form, ... between them
    markup: int  # bits of the inline markup in it
    pieces: list[tuple[etree._Element, str]] = field(repr=False)  # source text with the innermost element around it
    pictures: list[etree._Element] = field(repr=False)  # and players that stand between the block before and this one

    @property
    def tag(self) -> str:
        return self.place.tag

    @property
    def signature(self) -> str:
        return self.place.signature

    @property
    def good(self) -> int:
        """The size less twice the links: what of it reads like prose."""
        return self.size - 2 * self.link_size


def cut(root: etree._Element | None) -> list[Block]:
    """The blocks of a page's body in document order, none of them empty; none for a page without elements.

    At most the first 8,000 of them, and of the first 60,000 elements.

    >>> from lxml.html import fromstring
    >>> [block.text for block in cut(fromstring("<div>One <b>two</b><p>three<br>four<li>five<script>6</script>"))]
    ['One two', 'three\\nfour', 'five']
    """
    if root is None:
        return []
    body = next(root.iter("body"), root) if root.tag != "body" else root
    return _Cutter().cut(body)


def _tex_of(formula: etree._Element) -> str:
    """The TeX that most MathML names beside itself, marked as such, or ""."""
    noted = formula.xpath("string(.//annotation[@encoding='application/x-tex'])")
    tex = (formula.get("alttext") or str(noted)).strip()
    begin, end = ("\\[", "\\]") if formula.get("display") == "block" else ("\\(", "\\)")
    return f"{begin}{tex}{end}" if tex else ""


class _Cutter:
    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.place: Place | None = None
        self.section = 0
        self.open_links = 0
        self.open_markup = Counter[int]()
        self.pictures: list[etree._Element] = []
        self._start()

    def _start(self) -> None:
        self.pieces: list[tuple[etree._Element, str]] = []
        self.linked: list[str] = []
        self.links = self.open_links
        self.markup = ALL_EMPHASIS | ALL_STRONG
        self.breaks = 0

    def cut(self, body: etree._Element) -> list[Block]:
        walk = etree.iterwalk(body, events=("start", "end"))
        for event, element in islice(walk, 2 * MAX_ELEMENTS):
            if len(self.blocks) >= MAX_BLOCKS:
                break
            tag = element.tag
            if event == "end":
                self._end(element, tag)
                if element is not body and (tail := element.tail):
                    self._add(element.getparent(), tail)
            elif tag in SKIPPED:
                if tag in PICTURES or (
                    tag == "iframe" and player_of(element.get("data-src") or element.get("src") or "")
                ):
                    self.pictures.append(element)
                elif tag == "math" and (tex := _tex_of(element)):
                    self._add(element.getparent(), tex)
                walk.skip_subtree()
            else:
                self._begin(element, tag)
                if text := element.text:
                    self._add(element, text)
        self._finish()
        return self.blocks[:MAX_BLOCKS]

    def _begin(self, element: etree._Element, tag: str) -> None:
        if tag == "a":
            if element.get("href") is not None:
                self.open_links += 1
                self.links += 1
        elif tag in _MARKUP:
            self.open_markup[_MARKUP[tag]] += 1
        elif tag == "br":
            self._break(element)
        elif tag not in INLINE:
            self._finish()
            self.place = _entered(element, tag, self.place)
            self.section += tag in HARD

    def _end(self, element: etree._Element, tag: str) -> None:
        if tag == "a":
            self.open_links -= element.get("href") is not None
        elif tag in _MARKUP:
            self.open_markup[_MARKUP[tag]] -= 1
        elif tag not in INLINE and tag not in SKIPPED and tag != "br":
            self._finish()
            assert self.place is not None
            self.place = self.place.outer
            self.section += tag in HARD

    def _add(self, around: etree._Element, text: str) -> None:
        if text.isspace():
            if self.pieces:
                self.pieces.append((around, " "))
            return
        self.pieces.append((around, text))
        self.breaks = 0
        for bit, times in self.open_markup.items():
            if times:
                self.markup |= bit
        if not self.open_markup[EMPHASIS]:
            self.markup &= ~ALL_EMPHASIS
        if not self.open_markup[STRONG]:
            self.markup &= ~ALL_STRONG
        if self.open_links:
            self.linked.append(text)

    def _break(self, element: etree._Element) -> None:
        self.breaks += 1
        if self.breaks == 2:
            self._finish()
        elif self.pieces and (parent := element.getparent()) is not None:
            self.pieces.append((parent, BREAK))

    def _finish(self) -> None:
        text = _collapsed("".join([text for _, text in self.pieces])) if self.pieces else ""
        if text and self.place is not None:
            characters = len(text)
            linked = len(" ".join(" ".join(self.linked).split())) if self.linked else 0
            self.blocks.append(
                Block(
                    text=text,
                    characters=characters,
                    size=characters + dense_characters(text),
                    link_size=min(linked, characters),
                    links=self.links if self.linked else 0,
                    place=self.place,
                    section=self.section,
                    markup=self.markup,
                    pieces=self.pieces,
                    pictures=self.pictures,
                )
            )
            self.pictures = []
        self._start()


def _entered(element: etree._Element, tag: str, outer: Place | None) -> Place:
    style = element.get("style")
    hidden = (
        element.get("hidden") is not None
        or element.get("aria-hidden") == "true"
        or (style is not None and _HIDDEN.search(style[:_MAX_STYLE_LENGTH]) is not None)
    )
    if outer is None:
        return Place(element, tag, None, 1, 0, _INSIDE.get(tag, 0), hidden)
    inside = outer.inside | _INSIDE.get(tag, 0)
    return Place(element, tag, outer, outer.depth + 1, words_of(element), inside, outer.hidden or hidden)


def dense_characters(text: str) -> int:
    """How many characters are of a script without spaces between words."""
    return 0 if text.isascii() else sum(map(len, _DENSE.findall(text)))


def _collapsed(text: str) -> str:
    if BREAK not in text:
        return " ".join(text.split())
    lines = (" ".join(line.split()) for line in text.split(BREAK))
    return "\n".join(filter(None, lines))
