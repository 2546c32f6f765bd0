"""The three kinds of page in Algorithm I of Ai-Times: news, an index of news, and valueless pages.

The thesis gives no test that separates an index from a valueless page. Here a multinomial logistic regression decides
on the content of the page, its metadata and its address. No name of a site, class or id is among the features, since
the model has to classify pages of unseen sites.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from apps.postings.algorithms.extraction.keen import Extract
from apps.postings.algorithms.extraction.kind_features import NAMES, Facts, Vector, facts_of, vector_of
from apps.postings.algorithms.extraction.metadata import Metadata

KindName = Literal["news", "index", "valueless"]
KINDS: tuple[KindName, ...] = ("news", "index", "valueless")
WEIGHTS = Path(__file__).with_name("kinds-202611.json")
MAX_REASONS = 3
_SLIGHTEST_REASON = 0.2  # of the log odds
_HIGH = 0.5


@dataclass(frozen=True, slots=True)
class Kind:
    """What a page is taken for."""

    kind: KindName
    probability: float  # that it is of this kind
    reasons: tuple[str, ...]  # for people, the weightiest first; clauses
    text_size: int  # characters of the text found, those of Chinese and the like counted twice


@dataclass(frozen=True, slots=True)
class KindModel:
    version: str
    weights: NDArray[np.float64]  # (m, 3), in the orders of `NAMES` and `KINDS`
    intercepts: NDArray[np.float64]  # (3,)
    usual: Vector  # (m,) means of the features, the baseline of reasons
    domains: frozenset[str] = frozenset()  # registrable domains of the pages that it was trained on

    def probabilities(self, features: Vector) -> NDArray[np.float64]:
        """Of each kind, for one page (m,) or for n pages (n, m)."""
        scores = features @ self.weights + self.intercepts
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        result: NDArray[np.float64] = scores / scores.sum(axis=-1, keepdims=True)
        return result


def classify(
    root: etree._Element | None, extract: Extract, metadata: Metadata, url: str, *, model: KindModel | None = None
) -> Kind:
    """Classify a page as news, an index of news, or neither. Never raises on account of the page.

    Parameters
    ----------
    root : element or None
        As `read_page` gives it.
    extract : Extract
        As `keen.extract` gives it for this root.
    metadata : Metadata
    url : str
        The page's address.
    model : KindModel, optional
        Other weights than the ones shipped.

    Examples
    --------
    >>> from apps.postings.algorithms.extraction import keen, metadata
    >>> from apps.postings.algorithms.extraction.documents import read_page
    >>> prose = "<p>The council voted on Tuesday to keep the old bridge open to walkers, and to repair it by May.</p>"
    >>> page = f"<title>Council keeps the old bridge open</title><body><article><h1>Bridge</h1>{9 * prose}</article>"
    >>> root, url = read_page(page.encode()).root, "https://example.org/2026/council-votes-to-keep-the-bridge"
    >>> verdict = classify(root, keen.extract(root), metadata.read_metadata(root, url=url), url)
    >>> verdict.kind, verdict.probability > 0.7
    ('news', True)
    """
    if root is None:
        return Kind("valueless", 1.0, ("it is empty",), 0)
    model = model or shipped_model()
    facts = facts_of(root, extract, metadata, url)
    features = vector_of(facts)
    probabilities = model.probabilities(features)
    best = int(probabilities.argmax())
    reasons = _reasons(facts, features, best, model)
    return Kind(KINDS[best], float(probabilities[best]), reasons, facts.text_size)


@cache
def shipped_model() -> KindModel:
    return read_model(WEIGHTS.read_text("utf-8"))


def read_model(text: str) -> KindModel:
    """A model from its JSON; weights of features that are not named are 0."""
    stored = json.loads(text)
    weights = [stored["weights"].get(name, [0.0] * len(KINDS)) for name in NAMES]
    usual = [stored["usual"].get(name, 0.0) for name in NAMES]
    return KindModel(
        stored["version"],
        np.array(weights),
        np.array(stored["intercepts"]),
        np.array(usual),
        frozenset(stored["domains"]),
    )


def _reasons(facts: Facts, features: Vector, kind: int, model: KindModel) -> tuple[str, ...]:
    """The features that support the kind more than on the average page."""
    others = [place for place in range(len(KINDS)) if place != kind]
    gains = (features - model.usual) * (model.weights[:, kind] - model.weights[:, others].mean(axis=1))
    reasons: dict[str, None] = {}
    for place in np.argsort(-gains, kind="stable"):
        if gains[place] < _SLIGHTEST_REASON or len(reasons) == MAX_REASONS:
            break
        clauses = _CLAUSES[NAMES[place]]
        reasons.setdefault(clauses[0 if features[place] >= _HIGH else -1].format(facts))
    return tuple(reasons)


# Of the facts about the page; of two, the first one applies if the feature is high.
_CLAUSES: Mapping[str, tuple[str, ...]] = {
    "text": ("its text has {0.text_size:,} characters",),
    "text_linked": ("{0.text_linked:,} of the {0.text_characters:,} characters of its text are links",),
    "text_share": ("its text has {0.text_size:,} of the {0.page_size:,} characters of the page",),
    "paragraphs": ("paragraphs of its text: {0.paragraphs:,}",),
    "headlines": ("headlines that it links to: {0.headlines:,}",),
    "headlines_to_text": ("headlines that it links to: {0.headlines:,}",),
    "linked_headings": ("headings that are links: {0.linked_headings:,}",),
    "headings_to_paragraphs": ("headings: {0.headings:,}, paragraphs: {0.paragraphs:,}",),
    "title_words": ("its title is “{0.title:.60}”",),
    "says_article": ("it calls itself an article (JSON-LD)", "it names no article (JSON-LD)"),
    "og_article": ("its og:type is “{0.og_type:.40}”",),
    "og_site": ("its og:type is “{0.og_type:.40}”",),
    "og_video": ("its og:type is “{0.og_type:.40}”",),
    "says_list": ("it calls itself a list (JSON-LD)", "it names no list (JSON-LD)"),
    "says_other": ("it names a video, event or the like (JSON-LD)", "it names no video or the like (JSON-LD)"),
    "published": ("it states when it was published", "it does not state when it was published"),
    "front_page": ("it is a front page", "it is no front page"),
    "slug": ("its address contains a headline", "its address contains no headline"),
    "number": ("its address contains a long number", "its address contains no long number"),
    "video_address": ("its address is that of a video or gallery", "its address names no video"),
    "service_address": ("its address is that of a service", "its address names no service"),
    "section_address": ("its address is that of a section", "its address names no section"),
    "service_title": ("its title is that of a service", "its title names no service"),
}
