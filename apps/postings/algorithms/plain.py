"""The plain text of sanitized markup, and what else is read of it."""

import re
from collections.abc import Mapping
from html import unescape
from typing import NamedTuple

from apps.postings.algorithms.tokens import attributes, tokens

MIN_PICTURE = 64  # pixels a side; smaller ones are faces and buttons, which stand for no article

BLOCKS = frozenset({
    "audio", "blockquote", "caption", "details", "div", "dl", "figcaption", "figure", "h1", "h2", "h3", "h4", "h5",
    "h6", "hr", "ol", "p", "pre", "summary", "table", "ul", "video",
})  # fmt: skip
LINES = frozenset({"br", "dd", "dt", "li", "tr"})
_VOID = frozenset({"br", "col", "hr", "img", "source", "wbr"})
_ASIDE = frozenset({"caption", "figcaption", "figure"})
_CREDIT = re.compile(
    r"(?:(?:[^\n]{0,400}\b)?(?:photo(?:graph|s)?(?: by| credit)?|image(?: credit)?|foto|bild|图片|摄影|写真)"
    r"\s?[:：][^\n]{1,100}\n\n)+",
    re.IGNORECASE,
)


class Reading(NamedTuple):
    text: str
    prose: str
    image_url: str
    depth: int


def read(safe: str) -> Reading:
    """Text, first picture and depth of what the parser wrote, where every tag is closed and every value quoted."""
    pieces: list[str] = []
    asides: list[tuple[int, int]] = []  # the pieces of figures and captions
    starts: dict[str, int] = {}  # of elements that are open
    image_url = alternative = ""
    depth = deepest = preformatted = 0
    for token in tokens(safe):
        if isinstance(token, str):
            text = unescape(token) if "&" in token else token
            pieces.append(text if preformatted else text.replace("\n", " "))
            continue
        name, is_end, _ = token
        if name not in _VOID:
            depth += -1 if is_end else 1
            deepest = max(deepest, depth)
        if name == "pre":
            preformatted += -1 if is_end else 1
        if name == "img" and not image_url:
            image_url = _large_picture(attributes(token))
        if name == "math" and not is_end:
            alternative = attributes(token).get("alttext", "")
        if name in _ASIDE or name in ("annotation", "math"):
            if not is_end:
                starts.setdefault(name, len(pieces))
            elif (start := starts.pop(name, None)) is not None:
                if name in _ASIDE:
                    asides.append((start, len(pieces)))
                elif name == "annotation" or alternative:
                    pieces[start:] = [alternative if name == "math" else ""]
        pieces.append(_separator(name, is_end))
    text = _tidy("".join(pieces))
    return Reading(text, _prose(text, pieces, asides), image_url, deepest)


def _prose(text: str, pieces: list[str], asides: list[tuple[int, int]]) -> str:
    """The text without figures, captions and the names of photographers before it; all of it if nothing is left."""
    prose = text
    if asides:
        kept = pieces.copy()
        for start, end in asides:
            kept[start:end] = [""] * (end - start)
        prose = _tidy("".join(kept))
    return (prose[found.end() :] if (found := _CREDIT.match(prose)) else prose) or text


def _separator(name: str, is_end: bool) -> str:
    if name in BLOCKS:
        return "\n\n"
    if name in LINES and not is_end:
        return "\n- " if name == "li" else "\n"
    return " " if name in ("td", "th") else ""


def _tidy(text: str) -> str:
    text = "\n".join(" ".join(line.split()) for line in text.split("\n"))
    text = re.sub(r"(?m)^-\n+", "- ", text)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def _large_picture(given: Mapping[str, str]) -> str:
    sizes = (given.get("width", ""), given.get("height", ""))
    is_small = any(size.isdigit() and int(size) < MIN_PICTURE for size in sizes)
    source = given.get("src", "")
    return "" if is_small or source.startswith("data:") else source
