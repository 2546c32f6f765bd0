"""Features of a block's position: its neighbours and relatives, and its distance from most of the prose."""

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from apps.postings.algorithms.extraction.blocks import Block, Place

Rows = NDArray[np.float64]
Columns = dict[str, NDArray[np.generic]]

_WINDOW = 6  # blocks on each side
_HEADINGS = frozenset({"h2", "h3", "h4"})
_SIDES = [(f"{side}{steps}", steps if side == "p" else -steps) for side in "pn" for steps in (1, 2)]
_CORES = (("core50", 0.5), ("core80", 0.8))  # the innermost element with so much of the prose


class Surroundings:
    """Columns of features; prose is text of blocks longer than 60 characters less twice its links, without comments."""

    NAMES = (
        "a_depth", "hidden", "pshare", "ptop", "pn", "pld", "gshare", "gtop", "gn", "gld", "x3share", "x5share", "sig",
        "sigtop", "own_share", "own_n", "art_share", "sec_share", "pos", "posq", "first5", "last20", "bef_h1", "is_h1",
        "aft_h1", "near_h1", "prose_bef", "par_bef", "wgood", "wlong", "between",
        *(f"{side}_{what}" for side, _ in _SIDES for what in ("good", "ld", "same", "hard", "sg", "sig", "own")),
        "p1_heading", "n1_heading",
        *(f"{core}{what}" for core, _ in _CORES for what in ("", "_1", "_2", "_depth", "_bef", "_aft")),
    )  # fmt: skip

    def __init__(self, blocks: Sequence[Block], commented: NDArray[np.bool_]) -> None:
        self.blocks = blocks
        self.size = np.array([block.size for block in blocks], dtype=np.float64)
        self.link_size = np.array([block.link_size for block in blocks], dtype=np.float64)
        self.density = self.link_size / np.maximum(1.0, [block.characters for block in blocks])
        # A long discussion must not pass for the article.
        self.good = np.where(commented, 0.0, np.maximum(0.0, self.size - 2 * self.link_size))
        self.prose = np.where(self.size > 60, self.good, 0.0)
        self.signatures = [block.signature for block in blocks]
        self.owns = [f"{block.place.kind}|{block.place.above(1).kind}" for block in blocks]
        self.above = {steps: [id(block.place.above(steps)) for block in blocks] for steps in (1, 2, 3, 5)}
        self.inside = _inside(blocks, self.prose)

    def columns(self) -> Columns:
        columns = {**self._of_families(), **self._of_position(), **self._of_neighbours()}
        for name, share in _CORES:
            columns |= self._of_core(name, share)
        return columns

    def _of_families(self) -> Columns:
        columns: Columns = {}
        for name, steps in (("p", 1), ("g", 2)):
            members = _numbered(self.above[steps])
            prose = np.bincount(members, self.prose)
            most = max(1.0, prose.max())
            linked = np.bincount(members, self.link_size) / np.maximum(1.0, np.bincount(members, self.size))
            columns[f"{name}share"] = prose[members] / most
            columns[f"{name}top"] = prose[members] >= most
            columns[f"{name}n"] = np.log1p(np.bincount(members, self.prose > 0)[members]) / 3
            columns[f"{name}ld"] = linked[members]
        for steps in (3, 5):
            columns[f"x{steps}share"] = self._share(self.above[steps], self.prose)
        longer = np.where(self.size > 40, self.good, 0.0)
        columns["sig"] = self._share(self.signatures, longer)
        columns["sigtop"] = np.asarray(columns["sig"], dtype=np.float64) >= 1.0
        times = Counter(self.owns)
        columns["own_share"] = self._share(self.owns, longer)
        columns["own_n"] = np.minimum(1.0, np.log1p([times[own] for own in self.owns]) / 4)
        columns["art_share"] = self._share_of_nearest("article")
        columns["sec_share"] = self._share_of_nearest("section")
        return columns

    def _share(self, keys: Sequence[object], amounts: Rows) -> Rows:
        """The amount of all blocks with the same key, of the largest such amount."""
        members = _numbered(keys)
        sums = np.bincount(members, amounts)
        result: Rows = sums[members] / max(1.0, sums.max())
        return result

    def _share_of_nearest(self, tag: str) -> Rows:
        total = max(1.0, float(self.prose.sum()))
        known: dict[Place, Place | None] = {}
        nearest = [block.place.nearest(tag, known) for block in self.blocks]
        return np.array([self.inside.get(place, 0.0) / total if place else 0.0 for place in nearest])

    def _of_position(self) -> Columns:
        count = len(self.blocks)
        index = np.arange(count)
        position = (np.cumsum(self.size) - self.size) / max(1.0, self.size.sum())
        first = next((place for place, block in enumerate(self.blocks) if block.tag == "h1"), None)
        after = index - (count if first is None else first)
        long = (self.size > 100) & (self.link_size < 0.3 * self.size)
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
            "prose_bef": (np.cumsum(self.prose) - self.prose) / max(1.0, self.prose.sum()),
            "par_bef": self._before_in_parent(),
            "wgood": _windowed(self.good) / np.maximum(1.0, _windowed(self.size)),
            "wlong": _windowed(long) / (2 * _WINDOW + 1),
        }

    def _before_in_parent(self) -> Rows:
        """How much of the prose of a block's parent stands before the block, where that is an article's worth."""
        members = _numbered(self.above[1])
        total = np.bincount(members, self.prose)
        before, sums = np.zeros(len(members)), np.zeros(len(total))
        for place, (member, prose) in enumerate(zip(members.tolist(), self.prose.tolist(), strict=True)):
            if total[member] > 400:
                before[place] = sums[member] / total[member]
            sums[member] += prose
        return before

    def _of_neighbours(self) -> Columns:
        good = np.minimum(1.0, self.good / 200)
        parents, signatures = _numbered(self.above[1]), _numbered(self.signatures)
        owns = _numbered(self.owns)
        sections = np.array([block.section for block in self.blocks])
        headings = np.array([block.tag in _HEADINGS for block in self.blocks])
        there = np.ones(len(parents), dtype=np.bool_)
        columns: Columns = {}
        for side, shift in _SIDES:
            is_there = _shifted(there, shift)
            same = is_there & (_shifted(parents, shift) == parents)
            columns[f"{side}_good"] = _shifted(good, shift)
            columns[f"{side}_ld"] = _shifted(self.density, shift)
            columns[f"{side}_same"] = same
            columns[f"{side}_hard"] = is_there & (_shifted(sections, shift) != sections)
            columns[f"{side}_sg"] = same * _shifted(good, shift)
            columns[f"{side}_sig"] = is_there & (_shifted(signatures, shift) == signatures)
            columns[f"{side}_own"] = is_there & (_shifted(owns, shift) == owns)
        columns["p1_heading"], columns["n1_heading"] = _shifted(headings, 1), _shifted(headings, -1)
        columns["between"] = np.minimum(_shifted(good, 1), _shifted(good, -1))
        return columns

    def _of_core(self, name: str, share: float) -> Columns:
        """Whether and how deep a block stands in the innermost element that holds so much of the page's prose."""
        least = share * self.prose.sum()
        cores = [place for place, prose in self.inside.items() if prose >= least]
        core = max(cores, key=lambda place: place.depth, default=None)
        known: dict[Place, int] = {}
        depth = np.array([_steps(block.place, core, known) for block in self.blocks])
        is_inside = depth >= 0
        index, found = np.arange(len(depth)), np.flatnonzero(is_inside)
        first, last = (found[0], found[-1]) if len(found) else (0, len(depth))
        return {
            name: is_inside,
            f"{name}_1": is_inside & (depth <= 1),
            f"{name}_2": depth == 2,
            f"{name}_depth": np.clip(depth, 0, 8) / 8,
            f"{name}_bef": index < first,
            f"{name}_aft": index > last,
        }


def _inside(blocks: Sequence[Block], prose: Rows) -> dict[Place, float]:
    """How much prose every element holds, of those that hold any."""
    inside: defaultdict[Place, float] = defaultdict(float)
    for block, amount in zip(blocks, prose.tolist(), strict=True):
        if amount:
            known = block.place in inside
            inside[block.place] += amount
            for place in () if known else block.place.outwards():
                if place.outer is None or place.outer in inside:
                    break
                inside[place.outer] = 0.0
    for place in sorted(inside, key=lambda place: -place.depth):
        if place.outer is not None:
            inside[place.outer] += inside[place]
    return dict(inside)


def _steps(place: Place | None, core: Place | None, known: dict[Place, int]) -> int:
    """How many elements up the core is, or -1."""
    if place is None or core is None or place.depth < core.depth:
        return -1
    if place is core:
        return 0
    if place not in known:
        above = _steps(place.outer, core, known)
        known[place] = above + 1 if above >= 0 else -1
    return known[place]


def _numbered(keys: Sequence[object]) -> NDArray[np.intp]:
    """The keys as numbers from 0, equal ones alike."""
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.intp)


def _shifted(values: NDArray[np.generic], steps: int) -> NDArray[np.generic]:
    """The values shifted by `steps` places, filled with 0."""
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
