"""The three kinds of page in Algorithm I of Ai-Times: news, an index of news, and valueless pages.

The thesis gives no test that separates an index from a valueless page. Here a multinomial logistic regression decides
on the content of the page, its metadata and its address. No name of a site, class or id is among the features, since
the model has to classify pages of unseen sites.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import unquote

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from apps.postings.algorithms.extraction.anchors import is_headline, words_of_link
from apps.postings.algorithms.extraction.blocks import Block, dense_characters
from apps.postings.algorithms.extraction.keen import Extract
from apps.postings.algorithms.extraction.metadata import NEWS_ARTICLES, Metadata
from apps.postings.algorithms.extraction.words import EXPRESSIONS
from apps.sources.algorithms.addresses import resolve, word_breaks
from apps.sources.formats.text import one_line

Vector = NDArray[np.float64]

NAMES = (
    "text", "text_linked", "text_share", "paragraphs", "headlines", "headlines_to_text", "linked_headings",
    "headings_to_paragraphs", "title_words", "says_article", "og_article", "og_site", "og_video", "says_list",
    "says_other", "published", "front_page", "slug", "number", "video_address", "service_address", "section_address",
    "service_title",
)  # fmt: skip

LD_LISTS = frozenset({"collectionpage", "itemlist", "searchresultspage"})
LD_OTHERS = frozenset({
    "videoobject", "imagegallery", "recipe", "discussionforumposting", "product", "jobposting", "event",
})  # fmt: skip
LD_SOUNDS = frozenset({"podcastepisode", "podcastseries", "radioepisode", "radioseries"})
MIN_PARAGRAPH_LENGTH = 60  # characters
MIN_SLIDES = 6  # pictures
SHARE_OF_SLIDES = 0.6  # of a slideshow's texts follow a picture or say their number
MIN_TIMES = 5  # times of day on lines of their own

_MAX_TITLE = 500
_NOTHING = etree.Element("title")
_NUMBER = re.compile(r"\d+")
_TITLE_TAIL = re.compile(r"\s+[|–—·»-]\s+")


class Facts(NamedTuple):
    """Counts on a page; sizes are characters, those of Chinese, Japanese, Korean and Thai counted twice."""

    text_size: int  # of the run of blocks that the extraction has chosen
    text_characters: int
    text_linked: int  # characters of it inside links
    page_size: int  # of all blocks
    paragraphs: int  # of the run, with few links
    headings: int  # between its paragraphs
    links: int
    headlines: int  # distinct texts of links that are as long as headlines
    headlines_size: int
    linked_headings: int
    h1s: int
    title: str  # without the site's name
    says_article: bool
    says_list: bool
    says_other: bool
    og_type: str
    published: bool  # a <meta> says when
    noindex: bool  # search engines must not index it
    front_page: bool  # the address has no path
    slug: int  # breaks between the words of the address's wordiest part
    last_slug: int  # of its last part
    longest_number: int  # digits, in path or query
    video_address: bool
    service_address: bool
    section_address: bool
    service_title: bool
    form: str = ""  # what the page is if it is no article though it has text: "podcast", "schedule" or "slideshow"


def facts_of(root: etree._Element, extract: Extract, metadata: Metadata, url: str) -> Facts:
    """The facts about a parsed page."""
    run = [extract.blocks[place] for place in extract.run]
    span = extract.blocks[extract.run[0] : extract.run[-1] + 1] if run else []
    links = [element for element in root.iter("a") if element.get("href")]
    headlines = {text for text in map(words_of_link, links) if is_headline(text)}
    title = one_line("".join(map(str, next(root.iter("title"), _NOTHING).itertext())), _MAX_TITLE)
    address = resolve(url)
    path = unquote(address.pathname) if address else ""
    parts = [part for part in path.split("/") if part]
    breaks = [word_breaks(part) for part in parts]
    words = [part for part, count in zip(parts, breaks, strict=True) if count < 3]
    numbers = _NUMBER.findall(path + (address.search if address else ""))
    return Facts(
        text_size=sum(block.size for block in run),
        text_characters=sum(block.characters for block in run),
        text_linked=sum(block.link_size for block in run),
        page_size=sum(block.size for block in extract.blocks),
        paragraphs=sum(
            block.tag in ("p", "div")
            and block.size >= MIN_PARAGRAPH_LENGTH
            and block.link_size < 0.3 * block.characters
            for block in run
        ),
        headings=sum(block.tag in ("h2", "h3", "h4", "h5") for block in span),
        links=len(links),
        headlines=len(headlines),
        headlines_size=sum(map(len, headlines)) + sum(map(dense_characters, headlines)),
        linked_headings=_linked_headings(root),
        h1s=sum(1 for _ in root.iter("h1")),
        title=_TITLE_TAIL.split(title)[0],
        says_article=bool(metadata.types & NEWS_ARTICLES),
        says_list=bool(metadata.types & LD_LISTS),
        says_other=bool(metadata.types & LD_OTHERS),
        og_type=metadata.og_type,
        published=metadata.has_published_meta,
        noindex=any(
            "noindex" in (each.get("content") or "").lower() for each in root.iterfind(".//meta[@name='robots']")
        ),
        front_page=address is not None and not parts,
        slug=max(breaks, default=0),
        last_slug=breaks[-1] if breaks else 0,
        longest_number=max(map(len, numbers), default=0),
        video_address=any(EXPRESSIONS["video_address"].search(part) for part in words),
        service_address=any(EXPRESSIONS["service_address"].search(part) for part in words),
        section_address=bool(parts) and EXPRESSIONS["section_address"].fullmatch(parts[0]) is not None,
        service_title=EXPRESSIONS["service_title"].search(f"{title}\n{metadata.title}") is not None,
        form=_form_of(span, metadata),
    )


def _form_of(span: Sequence[Block], metadata: Metadata) -> str:
    """The form of a page that has text and is no article, by its types or by what its text consists of."""
    if metadata.types & NEWS_ARTICLES:
        return ""
    if metadata.types & LD_SOUNDS:
        return "podcast"
    pictured = sum(bool(block.pictures) for block in span)
    numbered = sum(EXPRESSIONS["slide"].match(block.text) is not None for block in span)
    if MIN_SLIDES <= max(pictured, numbered) >= len(span) * SHARE_OF_SLIDES:
        return "slideshow"
    times = [block.text for block in span if EXPRESSIONS["time_of_day"].fullmatch(block.text)]
    return "schedule" if len(times) >= MIN_TIMES and len(times) >= len(span) / 5 else ""


def vector_of(facts: Facts) -> Vector:
    """The features in the order of `NAMES`, each between 0 and 1, so that no page is ever far from those learnt of.

    Returns
    -------
    (m,) ndarray
    """
    size = math.log1p(facts.text_size)
    to_text = math.log1p(facts.headlines_size) - size
    headings = math.log1p(facts.headings) - math.log1p(facts.paragraphs)
    title_words = len(facts.title.split()) + dense_characters(facts.title) // 2
    values = (
        (size - 4.6) / 3,  # 0 for 100 characters, 1 for 2,000
        2 * facts.text_linked / max(1, facts.text_characters),
        2 * facts.text_size / max(1, facts.page_size),
        facts.paragraphs / 6,
        math.log1p(facts.headlines) / 4,
        (to_text + 2) / 5,
        math.log1p(facts.linked_headings) / 3,
        (headings + 2) / 4,
        title_words / 8,
        facts.says_article,
        facts.og_type in ("article", "news"),
        facts.og_type in ("website", "blog"),
        facts.og_type.startswith("video"),
        facts.says_list,
        facts.says_other,
        facts.published,
        facts.front_page,
        facts.slug / 5,
        facts.longest_number >= 4,
        facts.video_address,
        facts.service_address,
        facts.section_address,
        facts.service_title,
    )
    return np.clip(np.array(values, dtype=np.float64), 0.0, 1.0)


def _linked_headings(root: etree._Element) -> int:
    """Headings that are links; those of the first order only on pages that have many."""
    levels = ["h2", "h3", "h4"] if sum(1 for _ in root.iter("h1")) <= 2 else ["h1", "h2", "h3", "h4"]
    count = 0
    for heading in root.iter(*levels):
        parent = heading.getparent()
        count += (parent is not None and parent.tag == "a") or heading.find(".//a") is not None
    return count


KindName = Literal["news", "index", "valueless"]
KINDS: tuple[KindName, ...] = ("news", "index", "valueless")
WEIGHTS = Path(__file__).with_name("kinds-202611.json")
MAX_REASONS = 3
_SLIGHTEST_REASON = 0.2  # of the log odds
_HIGH = 0.5


class Kind(NamedTuple):
    """What a page is taken for."""

    kind: KindName
    probability: float  # that it is of this kind
    reasons: tuple[str, ...]  # clauses for people, the most significant first
    text_size: int  # characters of the text found, those of Chinese and the like counted twice


class KindModel(NamedTuple):
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
    if facts.form and KINDS[best] == "news":
        return Kind("valueless", float(probabilities[best]), (f"it is a {facts.form}",), facts.text_size)
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
_CLAUSES: Mapping[str, list[str]] = json.loads(Path(__file__).with_name("kind-clauses.json").read_text("utf-8"))
