"""Blocks as rows of numbers: what tells an article's text from the rest of its page.

Nothing is standardised, absent is 0, and names say what is measured, so that the weights of a model can be read.
"""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from apps.postings.algorithms.extraction.blocks import EMPHASIS, MEANINGFUL, STRONG, TIME, Block
from apps.postings.algorithms.extraction.words import BIT
from apps.postings.algorithms.extraction.words import NAMES as GROUPS

Rows = NDArray[np.float64]

TAGS = (
    "p", "div", "li", "h1", "h2", "h3", "h4", "h5", "h6", "td", "th", "tr", "blockquote", "pre", "figcaption", "figure",
    "dt", "dd", "center", "main", "section", "article", "aside", "header", "footer", "nav", "form", "ul", "ol", "body",
    "address", "details", "summary", "caption", "legend", "fieldset", "hr", "picture", "hgroup",
)  # fmt: skip
_TAG_PLACE = {tag: place for place, tag in enumerate(TAGS)}
_PUNCTUATION = re.compile('[,.;:!?…，。、；：！？»«“”„"।؟،]')
_ENDS = frozenset(".!?…。！？”\"»'’)」』।")
_QUOTES = frozenset("\"“„«'‘")
_COPYRIGHT = re.compile("©|copyright", re.IGNORECASE)
_WINDOW = 6  # blocks on each side

_GENERAL = (
    "bias", "len", "short", "mid", "long", "vlong", "L_cap", "ld", "ldhi", "ldall", "nl", "ld_short", "punct", "nop",
    "end", "end_long", "dup", "upper", "digit0", "colon", "quote0", "copy", "em_all", "strong", "time", "a_depth",
    "hidden", "pshare", "ptop", "pn", "pld", "gshare", "gtop", "gn", "gld", "sig", "sigtop", "pos", "posq", "first5",
    "last20", "bef_h1", "is_h1", "aft_h1", "near_h1", "wgood", "wlong", "inbody",
)  # fmt: skip
_NEIGHBOURS = tuple(
    f"{side}{steps}_{what}" for side in "pn" for steps in (1, 2) for what in ("good", "ld", "same", "hard", "sg")
)
NAMES = (
    *_GENERAL,
    *_NEIGHBOURS,
    *(f"t_{tag}" for tag in TAGS),
    *(f"a_{tag}" for tag in MEANINGFUL),
    *(f"g{distance}_{group}" for distance in range(4) for group in GROUPS),
)


def features(blocks: Sequence[Block]) -> Rows:
    """One row for each block of a page, in the order of `NAMES`.

    Returns
    -------
    (n, m) ndarray, float64
        n blocks, m = len(NAMES).
    """
    if not blocks:
        return np.zeros((0, len(NAMES)))
    columns = _Columns(blocks)
    general = {**columns.of_text(), **columns.of_links(), **columns.of_families(), **columns.of_position()}
    neighbours = columns.of_neighbours()
    near = np.array([block.place.near for block in blocks], dtype=np.int64)
    groups = (near[:, :, None] >> np.arange(len(GROUPS))) & 1
    general["inbody"] = groups[:, :3, GROUPS.index("p_body")].any(axis=1)
    inside = np.array([block.place.inside for block in blocks], dtype=np.int64)
    tags = np.zeros((len(blocks), len(TAGS)))
    for row, block in enumerate(blocks):
        if (place := _TAG_PLACE.get(block.tag)) is not None:
            tags[row, place] = 1.0
    return np.column_stack(
        [
            *(general[name] for name in _GENERAL),
            *(neighbours[name] for name in _NEIGHBOURS),
            tags,
            (inside[:, None] >> np.arange(len(MEANINGFUL))) & 1,
            groups.reshape(len(blocks), -1),
        ]
    ).astype(np.float64)


def in_comments(blocks: Sequence[Block]) -> NDArray[np.bool_]:
    """Which blocks stand in what calls itself comments."""
    return np.array([any(words & BIT["n_comm"] for words in block.place.near) for block in blocks], dtype=np.bool_)


class _Columns:
    def __init__(self, blocks: Sequence[Block]) -> None:
        self.blocks = blocks
        self.n = np.array([block.characters for block in blocks], dtype=np.float64)
        self.size = np.array([block.size for block in blocks], dtype=np.float64)
        self.link_size = np.array([block.link_size for block in blocks], dtype=np.float64)
        self.good = self.size - 2 * self.link_size
        self.density = self.link_size / np.maximum(1.0, self.n)
        self.above = [id(block.parent) for block in blocks]

    def of_text(self) -> dict[str, Rows]:
        size, texts = self.size, [block.text for block in self.blocks]
        marks = np.array([len(_PUNCTUATION.findall(text)) for text in texts], dtype=np.float64)
        times_seen = Counter(texts)
        markup = np.array([block.markup for block in self.blocks])
        end = np.array([text[-1] in _ENDS for text in texts])
        return {
            "bias": np.ones(len(texts)),
            "len": np.log1p(size) / 5,
            "short": size < 25,
            "mid": (size >= 25) & (size < 80),
            "long": (size >= 80) & (size < 200),
            "vlong": size >= 200,
            "L_cap": np.minimum(size, 600) / 600,
            "punct": np.minimum(1.0, marks / (size / 20 + 1)),
            "nop": marks == 0,
            "end": end,
            "end_long": end & (size >= 80),
            "dup": np.array([times_seen[text] > 1 for text in texts]),
            "upper": np.array([text.isupper() for text in texts]),
            "digit0": np.array([text[0].isdigit() for text in texts]),
            "colon": np.array([text[-1] == ":" for text in texts]),
            "quote0": np.array([text[0] in _QUOTES for text in texts]),
            "copy": np.array([_COPYRIGHT.search(text) is not None for text in texts]),
            "em_all": (markup & EMPHASIS > 0) & (size < 250),
            "strong": markup & STRONG > 0,
            "time": markup & TIME > 0,
        }

    def of_links(self) -> dict[str, Rows]:
        density = self.density
        return {
            "ld": density,
            "ldhi": density > 0.5,
            "ldall": density > 0.9,
            "nl": np.minimum([block.links for block in self.blocks], 6) / 6,
            "ld_short": np.where(self.size < 80, density, 0.0),
        }

    def of_families(self) -> dict[str, Rows]:
        """How much prose the blocks of the same parent, of the same grandparent and of the same signature hold."""
        grandparents = [id(block.grandparent) for block in self.blocks]
        signatures = [block.signature for block in self.blocks]
        share, top, number, linked = self._family(self.above)
        general = {"pshare": share, "ptop": top, "pn": number, "pld": linked}
        share, top, number, linked = self._family(grandparents)
        general |= {"gshare": share, "gtop": top, "gn": number, "gld": linked}
        members = _numbered(signatures)
        prose = np.bincount(members, np.where(self.size > 40, np.maximum(0.0, self.good), 0.0))
        most = max(1.0, prose.max())
        return general | {"sig": prose[members] / most, "sigtop": (prose[members] >= most)}

    def _family(self, keys: list[int]) -> tuple[Rows, Rows, Rows, Rows]:
        members = _numbered(keys)
        counted = (self.size > 60) & (self.good > 0)
        prose = np.bincount(members, np.where(counted, self.good, 0.0))
        number = np.bincount(members, counted)
        linked = np.bincount(members, self.link_size) / np.maximum(1.0, np.bincount(members, self.size))
        most = max(1.0, prose.max())
        top = prose[members] >= most
        return prose[members] / most, top, np.log1p(number[members]) / 3, linked[members]

    def of_position(self) -> dict[str, Rows]:
        count = len(self.blocks)
        index = np.arange(count)
        before = np.cumsum(self.size) - self.size
        position = before / max(1.0, self.size.sum())
        first = next((place for place, block in enumerate(self.blocks) if block.tag == "h1"), None)
        after = index - (count if first is None else first)
        good = np.maximum(0.0, self.good)
        prose = (self.size > 100) & (self.link_size < 0.3 * self.size)
        return {
            "a_depth": np.minimum([block.place.depth for block in self.blocks], 25) / 25,
            "hidden": np.array([block.place.hidden for block in self.blocks]),
            "pos": position,
            "posq": position**2,
            "first5": index < 0.05 * count,
            "last20": position > 0.8,
            "bef_h1": (after < 0) & (first is not None),
            "is_h1": after == 0,
            "aft_h1": after > 0,
            "near_h1": (after >= 1) & (after <= 5),
            "wgood": _windowed(good) / np.maximum(1.0, _windowed(self.size)),
            "wlong": _windowed(prose) / (2 * _WINDOW + 1),
        }

    def of_neighbours(self) -> dict[str, Rows]:
        good = np.minimum(1.0, np.maximum(0.0, self.good) / 200)
        parents = _numbered(self.above)
        sections = np.array([block.section for block in self.blocks])
        columns = {}
        for side, direction in (("p", 1), ("n", -1)):
            for steps in (1, 2):
                shift = direction * steps
                same, hard = _shifted(parents, shift) == parents, _shifted(sections, shift) != sections
                there = _shifted(np.ones(len(parents)), shift) > 0
                name = f"{side}{steps}"
                columns[f"{name}_good"] = _shifted(good, shift)
                columns[f"{name}_ld"] = _shifted(self.density, shift)
                columns[f"{name}_same"] = same & there
                columns[f"{name}_hard"] = hard & there
                columns[f"{name}_sg"] = (same & there) * _shifted(good, shift)
        return columns


def _numbered(keys: Sequence[object]) -> NDArray[np.intp]:
    """The keys as numbers from 0, equal ones alike."""
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.intp)


def _shifted(values: NDArray[np.generic], steps: int) -> NDArray[np.generic]:
    """Each place's value so many places before (after, if negative), 0 where there is none."""
    result = np.zeros_like(values)
    if steps > 0:
        result[steps:] = values[:-steps]
    else:
        result[:steps] = values[-steps:]
    return result


def _windowed(values: NDArray[np.generic]) -> Rows:
    """Sums over each place and its neighbours."""
    sums = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
    index = np.arange(len(values))
    result: Rows = sums[np.minimum(len(values), index + _WINDOW + 1)] - sums[np.maximum(0, index - _WINDOW)]
    return result
