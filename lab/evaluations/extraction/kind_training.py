"""Training of the weights that classify pages by kind.

There are few training pages that are no news, and of few sites, so that an unconstrained fit would learn those sites.
Instead the weights have a normal prior around values set by hand.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from apps.postings.algorithms.extraction.kinds import KINDS, NAMES, Facts, KindModel, vector_of

STIFFNESS = 20.0  # of the prior: 1 / variance of a weight around its point
SHARES = {"news": 0.5, "index": 0.25, "valueless": 0.25}  # of the pages of a crawl

# For news, index and valueless; features are between 0 and 1.
POINTS = {
    "text": (3.0, 0.0, -0.9),
    "text_linked": (-1.5, 0.8, 0.0),
    "text_share": (1.5, 0.0, 0.0),
    "paragraphs": (1.8, 0.0, 0.0),
    "headlines": (-0.8, 2.4, -1.2),
    "headlines_to_text": (-2.0, 1.0, 0.5),
    "linked_headings": (-0.9, 1.2, -0.3),
    "headings_to_paragraphs": (-1.2, 0.8, 0.0),
    "title_words": (1.2, -1.2, 0.0),
    "says_article": (1.5, -0.5, -0.5),
    "og_article": (1.2, -0.6, -0.6),
    "og_site": (-0.8, 0.8, 0.0),
    "og_video": (-1.5, -0.5, 2.0),
    "says_list": (-1.0, 1.0, 0.0),
    "says_other": (-0.5, -0.3, 0.7),
    "published": (0.8, -0.4, -0.3),
    "front_page": (-2.0, 2.0, 0.0),
    "slug": (2.0, -2.0, 0.0),
    "number": (0.7, -0.5, 0.0),
    "video_address": (-1.5, -0.3, 1.8),
    "service_address": (-1.5, 0.0, 1.5),
    "section_address": (-1.5, 1.2, 0.0),
    "service_title": (-2.0, 0.0, 2.0),
}

_ABOUT_ADDRESS = frozenset({
    "front_page", "slug", "number", "video_address", "service_address", "section_address",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Example:
    """A page of known kind."""

    facts: Facts
    kind: str
    domain: str  # registrable
    weight: float = 1.0
    has_url: bool = True  # else its features count as usual ones


def train(examples: Sequence[Example], *, version: str, stiffness: float = STIFFNESS) -> KindModel:
    """The most probable weights, each kind counting for its share however many pages there are of it.

    Raises
    ------
    ValueError
        If there is no example with a known address.
    """
    if not any(example.has_url for example in examples):
        raise ValueError("training needs examples with addresses")
    features = np.array([vector_of(example.facts) for example in examples])
    kinds = np.array([KINDS.index(example.kind) for example in examples])
    weights = np.array([example.weight for example in examples])
    totals = np.bincount(kinds, weights, minlength=len(KINDS))
    shares = np.array([SHARES[kind] for kind in KINDS]) * (totals > 0)
    weights *= len(examples) * (shares / shares.sum())[kinds] / totals[kinds]
    known = np.array([example.has_url for example in examples])
    usual = np.average(features[known], axis=0, weights=weights[known])
    about_address = np.array([name in _ABOUT_ADDRESS for name in NAMES])
    features[np.ix_(~known, about_address)] = usual[about_address]
    points = np.array([POINTS[name] for name in NAMES])
    fitted, intercepts = _fit(features, kinds, weights, points, stiffness)
    return KindModel(
        version, fitted, intercepts, usual, frozenset(example.domain for example in examples if example.domain)
    )


Matrix = NDArray[np.float64]


def _fit(
    features: Matrix, kinds: NDArray[np.intp], weights: Matrix, points: Matrix, stiffness: float
) -> tuple[Matrix, Matrix]:
    count, size = features.shape
    chosen = np.identity(len(KINDS))[kinds]

    def loss(flat: Matrix) -> tuple[float, Matrix]:
        parameters = flat.reshape(size + 1, len(KINDS))
        scores = features @ parameters[:-1] + parameters[-1]
        scores -= scores.max(axis=1, keepdims=True)
        logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        drawn = parameters[:-1] - points
        wrong = (np.exp(logs) - chosen) * weights[:, None]
        gradient = np.vstack([features.T @ wrong + stiffness * drawn, wrong.sum(axis=0)])
        value = -(weights * logs[np.arange(count), kinds]).sum() + stiffness / 2 * (drawn**2).sum()
        return float(value), gradient.ravel()

    start = np.vstack([points, np.zeros(len(KINDS))]).ravel()
    found = minimize(loss, start, jac=True, method="L-BFGS-B").x.reshape(size + 1, len(KINDS))
    return found[:-1], found[-1]


def write_model(model: KindModel) -> str:
    """The JSON that `read_model` reads, which is the same for the same model."""
    values = {
        "version": model.version,
        "kinds": KINDS,
        "intercepts": np.round(model.intercepts, 4).tolist(),
        "weights": {name: np.round(row, 4).tolist() for name, row in zip(NAMES, model.weights, strict=True)},
        "usual": {name: round(float(value), 4) for name, value in zip(NAMES, model.usual, strict=True)},
        "domains": sorted(model.domains),
    }
    return json.dumps(values, indent=1) + "\n"
