"""Keen-tag extraction with learned weights: which neighbouring blocks of a page are its article.

The thesis cuts a page at its non-keen tags and takes the part with the highest score. Here a block's score is the
probability that it belongs to the article, learned from pages with known text, and the winning part is the run of
neighbouring blocks with the largest sum of scores.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from lxml import etree

from apps.postings.algorithms.extraction.blocks import Block, cut
from apps.postings.algorithms.extraction.features import NAMES, Rows, features, in_comments
from apps.postings.algorithms.extraction.rebuilding import plain_text, rebuilt
from apps.postings.algorithms.extraction.site_memory import SiteMemory

WEIGHTS = Path(__file__).with_name("keen-202611.json")
THRESHOLD = 0.45  # of a block's probability
LARGEST_VOTE = 600  # characters: a longer block weighs no more in the choice of the run
ENOUGH_ELSEWHERE = 120  # characters of text outside of comments; with less the page may be a discussion

Probabilities = Rows


@dataclass(frozen=True, slots=True)
class Model:
    version: str
    intercept: float
    weights: Rows  # (m,), in the order of `features.NAMES`
    sets: tuple[str, ...] = ()  # the names of the training sets
    domains: frozenset[str] = frozenset()  # registrable domains of the training pages


@dataclass(frozen=True, slots=True)
class Extract:
    text: str
    html: str  # rebuilt from the chosen blocks, not yet made safe
    blocks: list[Block]  # all of the page
    run: list[int]  # places of the chosen blocks, in order
    confidence: float  # mean probability of the chosen blocks, weighted by their size


def extract(root: etree._Element | None, *, memory: SiteMemory | None = None, model: Model | None = None) -> Extract:
    """Find the article of a page.

    Parameters
    ----------
    root : element or None
        As `read_page` gives it.
    memory : SiteMemory, optional
        What other pages of the same site look like.
    model : Model, optional
        Other weights than the ones shipped.

    Examples
    --------
    >>> from apps.postings.algorithms.extraction.documents import read_page
    >>> prose = "<p>The council voted on Tuesday to keep the old bridge open to walkers, and to repair it, by spring.</p>"
    >>> page = read_page(f"<nav><a href=/>Home</a></nav><article><h1>Bridge</h1>{3 * prose}</article>".encode())
    >>> extract(page.root).html == 3 * prose
    True
    """
    blocks = cut(root)
    likely = probabilities(blocks, model or shipped_model())
    if memory is not None:
        likely = memory.adjusted(blocks, likely)
    run = winner(blocks, likely)
    chosen = [blocks[position] for position in run]
    sizes = np.array([block.size for block in chosen], dtype=np.float64)
    confidence = float(likely[run] @ sizes / sizes.sum()) if run else 0.0
    return Extract(plain_text(chosen), rebuilt(blocks, run, root), blocks, run, confidence)


def probabilities(blocks: Sequence[Block], model: Model) -> Probabilities:
    """How likely each block belongs to the article; (n,) ndarray."""
    if not blocks:
        return np.zeros(0)
    likely: Probabilities = 1 / (1 + np.exp(-(features(blocks) @ model.weights + model.intercept)))
    commented = in_comments(blocks)
    votes = np.minimum([block.size for block in blocks], LARGEST_VOTE) * np.maximum(0.0, likely - THRESHOLD)
    if commented.any() and votes[~commented].sum() > ENOUGH_ELSEWHERE:
        likely = np.where(commented, likely / 2, likely)
    return likely


def winner(blocks: Sequence[Block], likely: Probabilities) -> list[int]:
    """The places of the blocks that make the article: of the best run of neighbours those above the threshold.

    A page without any likely block gives the one with the largest product of size and probability.
    """
    if not blocks:
        return []
    sizes = np.array([block.size for block in blocks], dtype=np.float64)
    votes = np.minimum(sizes, LARGEST_VOTE) * (likely - THRESHOLD)
    first, last = best_run(votes.tolist())
    run = [place for place in range(first, last) if likely[place] >= THRESHOLD]
    return run or [int(np.argmax(sizes * likely))]


def best_run(votes: Sequence[float]) -> tuple[int, int]:
    """Start and end (exclusive) of the neighbouring numbers with the largest positive sum; (0, 0) if there are none.

    >>> best_run([-1.0, 2.0, -1.0, 3.0, -4.0, 3.5])
    (1, 4)
    """
    best, start, end = 0.0, 0, 0
    total, begin = 0.0, 0
    for place, vote in enumerate(votes):
        if total <= 0:
            total, begin = 0.0, place
        total += vote
        if total > best:
            best, start, end = total, begin, place + 1
    return start, end


@cache
def shipped_model() -> Model:
    return read_model(WEIGHTS.read_text("utf-8"))


def read_model(text: str) -> Model:
    """A model from its JSON; weights that are not named are 0."""
    said = json.loads(text)
    weights = np.array([said["weights"].get(name, 0.0) for name in NAMES], dtype=np.float64)
    return Model(said["version"], said["intercept"], weights, tuple(said["sets"]), frozenset(said["domains"]))
