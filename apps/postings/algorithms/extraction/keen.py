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
from typing import NamedTuple

import numpy as np
from lxml import etree

from apps.postings.algorithms.extraction.blocks import Block, cut
from apps.postings.algorithms.extraction.choosing import chosen, share_of_prose
from apps.postings.algorithms.extraction.documents import read_page
from apps.postings.algorithms.extraction.features import NAMES, Rows, features
from apps.postings.algorithms.extraction.rebuilding import plain_text, rebuilt
from apps.postings.algorithms.extraction.stated import fuller_body, with_statements

WEIGHTS = Path(__file__).with_name("keen-202611.json")


@dataclass(frozen=True, slots=True)
class Model:
    version: str
    intercept: float
    weights: Rows  # (m,), in the order of `features.NAMES`
    sets: tuple[str, ...] = ()  # the names of the training sets
    domains: frozenset[str] = frozenset()  # registrable domains of the training pages


class Extract(NamedTuple):
    text: str
    html: str  # rebuilt from the chosen blocks, not yet made safe
    blocks: list[Block]  # all of the page
    run: list[int]  # places of the chosen blocks, in order
    confidence: float  # mean probability of the chosen blocks, weighted by their size


def extract(root: etree._Element | None, *, model: Model | None = None) -> Extract:
    """Find the article of a page.

    Parameters
    ----------
    root : element or None
        As `read_page` gives it.
    model : Model, optional
        Other weights than the ones shipped.

    Examples
    --------
    >>> from apps.postings.algorithms.extraction.documents import read_page
    >>> prose = "<p>The council voted on Tuesday to keep the old bridge open to walkers and repair it by spring.</p>"
    >>> page = read_page(f"<nav><a href=/>Home</a></nav><article><h1>Bridge</h1>{3 * prose}</article>".encode())
    >>> extract(page.root).html == 3 * prose  # neither the navigation nor the headline, which is the title
    True
    """
    blocks = cut(root)
    found = assembled(blocks, with_statements(root, blocks, probabilities(blocks, model or shipped_model())), root)
    if body := fuller_body(root, found.text):
        stated = read_page(f"<article>{body}</article>".encode()).root
        blocks = cut(stated)
        found = assembled(blocks, np.ones(len(blocks)), stated)
    return found


def assembled(blocks: list[Block], likely: Rows, root: etree._Element | None) -> Extract:
    """The article of a page by the probability that each of its blocks belongs to it."""
    run = chosen(blocks, likely)
    found = [blocks[place] for place in run]
    sizes = np.array([block.size for block in found], dtype=np.float64)
    confidence = float(likely[run] @ sizes / sizes.sum()) * share_of_prose(blocks, run, likely) if run else 0.0
    return Extract(plain_text(found), rebuilt(blocks, run, root), blocks, run, confidence)


def probabilities(blocks: Sequence[Block], model: Model) -> Rows:
    """How likely each block belongs to the article; (n,) ndarray."""
    result: Rows = 1 / (1 + np.exp(-(features(blocks) @ model.weights + model.intercept)))
    return result


@cache
def shipped_model() -> Model:
    return read_model(WEIGHTS.read_text("utf-8"))


def read_model(text: str) -> Model:
    """A model from its JSON; weights that are not named are 0."""
    stored = json.loads(text)
    weights = np.array([stored["weights"].get(name, 0.0) for name in NAMES], dtype=np.float64)
    return Model(stored["version"], stored["intercept"], weights, tuple(stored["sets"]), frozenset(stored["domains"]))
