"""The three kinds of page in Algorithm I of Ai-Times: news, an index of news, and valueless pages.

The thesis gives no test that separates an index from a valueless page. Here a multinomial logistic regression decides
on the content of the page, its metadata and its address. No name of a site, class or id is among the features, since
the model has to classify pages of unseen sites.
"""

import json
from collections.abc import Callable, Mapping
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


@dataclass(frozen=True, slots=True)
class Kind:
    """What a page is taken for."""

    kind: KindName
    probability: float  # that it is of this kind
    reasons: tuple[str, ...]  # for people, the weightiest first; clauses that begin with "it" or "its"
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
        reasons.setdefault(_CLAUSES[NAMES[place]](facts))
    return tuple(reasons)


def _either(of: str, yes: str, no: str) -> Callable[[Facts], str]:
    return lambda facts: yes if getattr(facts, of) else no


def _text(facts: Facts) -> str:
    return f"its text has {facts.text_size:,} characters" if facts.text_size else "it has no text"


def _paragraphs(facts: Facts) -> str:
    return f"its text has {facts.paragraphs:,} paragraph{'' if facts.paragraphs == 1 else 's'}"


def _headlines(facts: Facts) -> str:
    return f"it links to {facts.headlines:,} headline{'' if facts.headlines == 1 else 's'}"


def _share(part: float, whole: float) -> str:
    return f"{part / max(1.0, whole):.0%}"


def _og_type(facts: Facts) -> str:
    return (
        f"it calls itself “{facts.og_type[:40]}” (og:type)" if facts.og_type else "it does not say what it is (og:type)"
    )


def _slug(facts: Facts) -> str:
    return "its address holds a headline" if facts.slug >= 3 else "its address holds no headline"


_CLAUSES: Mapping[str, Callable[[Facts], str]] = {
    "text": _text,
    "text_linked": lambda facts: f"{_share(facts.text_linked, facts.text_characters)} of its text is links",
    "text_share": lambda facts: f"its text is {_share(facts.text_size, facts.page_size)} of the page",
    "paragraphs": _paragraphs,
    "headlines": _headlines,
    "headlines_to_text": _headlines,
    "linked_headings": lambda facts: f"it has {facts.linked_headings:,} headings that are links",
    "headings_to_paragraphs": lambda facts: f"it has {facts.headings:,} headings for {facts.paragraphs:,} paragraphs",
    "title_words": lambda facts: f"its title is “{facts.title[:60]}”" if facts.title else "it has no title",
    "says_article": _either("says_article", "it calls itself an article (JSON-LD)", "it names no article (JSON-LD)"),
    "og_article": _og_type,
    "og_site": _og_type,
    "og_video": _og_type,
    "says_list": _either("says_list", "it calls itself a list (JSON-LD)", "it names no list (JSON-LD)"),
    "says_other": _either(
        "says_other", "it names a video, event or the like (JSON-LD)", "it names no video or the like"
    ),
    "published": _either("published", "it says when it was published", "it does not say when it was published"),
    "front_page": _either("front_page", "it is a front page", "it is no front page"),
    "slug": _slug,
    "number": lambda facts: f"its address holds {'a' if facts.longest_number >= 4 else 'no'} long number",
    "video_address": _either(
        "video_address", "its address is that of a video or gallery", "its address names no video"
    ),
    "service_address": _either("service_address", "its address is that of a service", "its address names no service"),
    "section_address": _either("section_address", "its address is that of a section", "its address names no section"),
    "service_title": _either("service_title", "its title is that of a service", "its title names no service"),
}
