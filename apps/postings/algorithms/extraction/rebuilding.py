"""The html of an article, rebuilt from its blocks so that nothing else of the page gets in. Not yet made safe."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from urllib.parse import urljoin

from lxml import etree

from apps.postings.algorithms.extraction.blocks import BREAK, Block
from apps.postings.algorithms.extraction.words import BIT, words_of

_OUTER = {
    "ul": "ul", "ol": "ol", "li": "li", "blockquote": "blockquote", "table": "table", "tr": "tr", "td": "td",
    "th": "th", "dl": "dl", "dt": "dt", "dd": "dd", "pre": "pre", "p": "p",
    "figcaption": "figure",
    "h1": "h2", "h2": "h2", "h3": "h3", "h4": "h4", "h5": "h4", "h6": "h4",
}  # fmt: skip
_INSIDE = {"li": ("ul", "ol"), "tr": ("table",), "td": ("tr",), "th": ("tr",), "dt": ("dl",), "dd": ("dl",)}
_ONLY = {"ul": ("li",), "ol": ("li",), "table": ("tr",), "tr": ("td", "th"), "dl": ("dt", "dd")}
_HOLDS_TEXT = frozenset({"li", "td", "th", "dt", "dd", "pre", "p", "figure", "h2", "h3", "h4"})
_TABLE = frozenset({"table", "tr", "td", "th"})
_INLINE = {
    "a": "a", "b": "strong", "strong": "strong", "i": "em", "em": "em", "u": "u", "code": "code", "kbd": "code",
    "samp": "code", "tt": "code", "sub": "sub", "sup": "sup", "q": "q", "cite": "cite", "abbr": "abbr", "time": "time",
    "s": "s", "strike": "s", "del": "s", "mark": "mark", "ruby": "ruby", "rt": "rt", "rp": "rp",
}  # fmt: skip
_ATTRIBUTES = {
    "a": ("href", "title"), "time": ("datetime",), "td": ("colspan", "rowspan"), "th": ("colspan", "rowspan"),
    "q": ("cite",), "blockquote": ("cite",), "abbr": ("title",),
}  # fmt: skip
_ADDRESSES = frozenset({"href", "cite", "src"})
_MAX_DEPTH = 12  # elements around a block that are kept
_MAX_MARKUP_DEPTH = 20  # elements around a text that count as its inline markup
_MAX_PICTURES = 60
_MAX_PIECES = 5_000  # of text with markup; what follows is plain
_MAX_CELL_LENGTH = 400  # characters; a table with a longer one is there for the layout
_MAX_CAPTION = 600
_MIN_PICTURE = 64  # pixels a side
_SOURCES = ("data-src", "data-original", "data-lazy-src", "src")  # of pictures, the real ones before the placeholder
_SOURCE_SETS = ("data-srcset", "srcset", "data-lazy-srcset")
_FOREIGN = sum(BIT[f"n_{name}"] for name in ("rel", "share", "side", "news", "ad", "nav", "foot", "comm", "auth"))
_FOREIGN_TAGS = frozenset({"aside", "nav", "footer", "form", "header"})
_SPACE = re.compile(r"\s+")
_NUMBER = re.compile(r"\d+")

Path = list[tuple[etree._Element, str]]


def plain_text(blocks: Sequence[Block]) -> str:
    """The text of chosen blocks; paragraphs stand apart by an empty line, items of lists begin with "- "."""
    return "\n\n".join(f"- {block.text}" if block.tag == "li" else block.text for block in blocks)


def rebuilt(blocks: Sequence[Block], run: Sequence[int], root: etree._Element | None) -> str:
    """The html of the blocks of a run and of the pictures between its first and its last.

    Paragraphs, headings (h2 to h4), lists, quotations, preformatted text and tables that hold data stay what they are;
    inline markup and links stay. Addresses are as written, resolved only against a <base> of the page.
    """
    if not run:
        return ""
    base = root.find(".//base[@href]") if root is not None else None
    writer = _Writer(blocks, run, (base.get("href") or "").strip() if base is not None else "")
    chosen = set(run)
    for position in range(run[0], run[-1] + 1):
        block = blocks[position]
        for picture in block.pictures[-_MAX_PICTURES:]:
            if position > run[0] or block.place.element in picture.iterancestors():
                writer.add_picture(picture)
        if position in chosen:
            writer.add_block(block)
    return writer.finish()


class _Writer:
    def __init__(self, blocks: Sequence[Block], run: Sequence[int], base: str) -> None:
        self._out: list[str] = []
        self._open: Path = []
        self._base = base
        self._layout = _layout_tables([blocks[position] for position in run])
        self._figures: set[etree._Element] = set()
        self._captions = _captions([blocks[position] for position in run])
        self._sources: set[str] = set()
        self._pieces = 0

    def finish(self) -> str:
        self._close(0)
        return "".join(self._out)

    def add_block(self, block: Block) -> None:
        path = self._path(block)
        common = 0
        while common < min(len(path), len(self._open)) and path[common] == self._open[common]:
            common += 1
        if path and common == len(path) == len(self._open):  # two blocks of one element, with an empty line between
            if path[-1][1] == "p":
                common -= 1
            else:
                self._out.append("\n" if path[-1][1] == "pre" else "<br>")
        self._close(common)
        for element, tag in path[common:]:
            self._out.append(self._start_tag(element, tag))
            self._open.append((element, tag))
        inner = self._inner(block, preformatted=bool(path) and path[-1][1] == "pre")
        self._out.append(inner if path and path[-1][1] in _HOLDS_TEXT else f"<p>{inner}</p>")

    def add_picture(self, picture: etree._Element) -> None:
        source = next(filter(None, map(_source, _image_elements(picture))), "")
        if not source or source in self._sources or len(self._sources) >= _MAX_PICTURES or _is_foreign(picture):
            return
        self._sources.add(source)
        alternative = next((alt for img in picture.iter("img", "amp-img") if (alt := img.get("alt"))), "")
        image = f'<img src="{escape(self._address(source))}" alt="{escape(_SPACE.sub(" ", alternative).strip())}">'
        if any(tag in _TABLE for _, tag in self._open):
            return  # it would break up the table
        self._close(0)
        if picture.tag == "iframe":
            self._out.append(f'<iframe src="{escape(source)}" title="{escape(picture.get("title") or "")}"></iframe>')
            return
        figure = next((each for each in picture.iterancestors("figure")), None)
        caption = "" if figure is None or figure in self._figures else _caption(figure, self._captions)
        if figure is not None:
            self._figures.add(figure)
        self._out.append(f"<figure>{image}{f'<figcaption>{escape(caption)}</figcaption>' if caption else ''}</figure>")

    def _close(self, length: int) -> None:
        while len(self._open) > length:
            self._out.append(f"</{self._open.pop()[1]}>")

    def _path(self, block: Block) -> Path:
        """The elements around a block that are kept, from the outermost; only combinations that html knows."""
        found: Path = []
        for depth, place in enumerate(block.place.outwards()):
            tag = _OUTER.get(place.tag)
            if depth < _MAX_DEPTH and tag and not (tag in _TABLE and self._is_layout(place.element)):
                found.append((place.element, tag))
        path: Path = []
        for element, tag in reversed(found):
            outer = path[-1][1] if path else ""
            if tag in _INSIDE and outer not in _INSIDE[tag]:
                continue
            if outer in _ONLY and tag not in _ONLY[outer]:
                path.pop()
            if outer in ("p", "h2", "h3", "h4", "pre"):
                continue
            path.append((element, tag))
        while path and path[-1][1] in _ONLY:
            path.pop()
        return path

    def _is_layout(self, element: etree._Element) -> bool:
        table = element if element.tag == "table" else next(element.iterancestors("table"), None)
        return table is None or table in self._layout or next(table.iterancestors("table"), None) is not None

    def _inner(self, block: Block, *, preformatted: bool) -> str:
        self._pieces += len(block.pieces)
        if self._pieces > _MAX_PIECES:
            return escape(block.text, quote=False)
        out: list[str] = []
        open_tags: Path = []
        paths: dict[etree._Element, Path] = {}
        spaced = True  # so that the block does not begin with white space
        last = max((place for place, (_, text) in enumerate(block.pieces) if text.strip(BREAK).strip()), default=0)
        for around, text in block.pieces[: last + 1]:
            if text == BREAK:
                out.append("\n" if preformatted else "<br>")
                spaced = True
                continue
            if not preformatted:
                text = _SPACE.sub(" ", text)
                text = text.removeprefix(" ") if spaced else text
                if not text:
                    continue
                spaced = text.endswith(" ")
            if around not in paths:
                paths[around] = _inline_path(around, block)
            path = paths[around]
            common = 0
            while common < min(len(path), len(open_tags)) and path[common][0] is open_tags[common][0]:
                common += 1
            out.extend(f"</{tag}>" for _, tag in reversed(open_tags[common:]))
            out.extend(self._start_tag(element, tag) for element, tag in path[common:])
            open_tags = path
            out.append(escape(text, quote=False))
        out.extend(f"</{tag}>" for _, tag in reversed(open_tags))
        return "".join(out).rstrip()

    def _start_tag(self, element: etree._Element, tag: str) -> str:
        attributes = []
        for name in _ATTRIBUTES.get(tag, ()):
            if value := element.get(name):
                value = self._address(value) if name in _ADDRESSES else value
                attributes.append(f' {name}="{escape(value)}"')
        return f"<{tag}{''.join(attributes)}>"

    def _address(self, written: str) -> str:
        try:
            return urljoin(self._base, written.strip()) if self._base else written.strip()
        except ValueError:  # "http://[" is not an address
            return ""


def _layout_tables(chosen: Sequence[Block]) -> set[etree._Element]:
    """Tables that hold most of the text, or long texts."""
    sizes: Counter[etree._Element] = Counter()
    layout = set()
    for block in chosen:
        for place in block.place.outwards():
            if place.tag == "table":
                sizes[place.element] += block.size
                if block.size > _MAX_CELL_LENGTH:
                    layout.add(place.element)
    total = sum(block.size for block in chosen)
    return layout | {table for table, size in sizes.items() if size > total / 2}


def _inline_path(around: etree._Element, block: Block) -> Path:
    path: Path = []
    element: etree._Element | None = around
    for _ in range(_MAX_MARKUP_DEPTH):
        if element is None or element is block.place.element:
            break
        if (tag := _INLINE.get(element.tag)) and tag not in (each for _, each in path):
            path.append((element, tag))
        element = element.getparent()
    if block.link_size and all(tag != "a" for _, tag in path):
        # A link may hold whole blocks.
        link = next((each for each in block.place.element.iterancestors("a") if each.get("href")), None)
        path += [(link, "a")] if link is not None else []
    return [(each, tag) for each, tag in reversed(path) if tag != "a" or each.get("href")]


def _image_elements(picture: etree._Element) -> Iterator[etree._Element]:
    yield from picture.iter("img", "amp-img", "iframe", "source")
    following = picture.getnext()  # for readers without scripts
    if following is not None and following.tag == "noscript":
        yield from following.iter("img")


def _source(element: etree._Element) -> str:
    for name in _SOURCES:
        if (value := (element.get(name) or "").strip()) and not value.startswith(("data:", "about:")):
            return value
    for name in _SOURCE_SETS:
        # "small.jpg 300w, large.jpg 1200w"
        candidates = (element.get(name) or "").split()
        if candidates and not candidates[0].startswith("data:"):
            return candidates[0].rstrip(",")
    return ""


def _is_foreign(picture: etree._Element) -> bool:
    """Whether the picture is a button, a face, or belongs to something else than the article."""
    for name in ("width", "height"):
        number = _NUMBER.match(picture.get(name) or "")
        if number and int(number[0][:5]) < _MIN_PICTURE:
            return True
    for distance, element in enumerate((picture, *picture.iterancestors())):
        if element.tag in _FOREIGN_TAGS or (distance < 4 and words_of(element) & _FOREIGN):
            return True
    return False


def _captions(chosen: Sequence[Block]) -> set[etree._Element]:
    """Captions that are part of the text."""
    return {place.element for block in chosen for place in block.place.outwards() if place.tag == "figcaption"}


def _caption(figure: etree._Element, in_text: set[etree._Element]) -> str:
    caption = next(figure.iter("figcaption"), None)
    if caption in in_text:
        return ""
    text = _SPACE.sub(" ", "".join(map(str, caption.itertext()))).strip() if caption is not None else ""
    return text if len(text) <= _MAX_CAPTION else ""
