"""Features that distinguish news, index and valueless pages: structure, metadata and address."""

import math
import re
from dataclasses import dataclass
from urllib.parse import unquote

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from apps.postings.algorithms.extraction.anchors import is_headline, words_of_link
from apps.postings.algorithms.extraction.blocks import dense_characters
from apps.postings.algorithms.extraction.keen import Extract
from apps.postings.algorithms.extraction.metadata import NEWS_ARTICLES, Metadata
from apps.sources.algorithms.addresses import resolve
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
MIN_PARAGRAPH_LENGTH = 60  # characters

_MAX_TITLE = 500
_NOTHING = etree.Element("title")
_WORD_BREAK = re.compile(r"[-_+ .]+")
_NUMBER = re.compile(r"\d+")
_TITLE_TAIL = re.compile(r"\s+[|–—·»-]\s+")
# Words for parts of an address, none of which is the slug of a story: that may be about anything.
_VIDEO = re.compile(
    r"(?:^|[-_.])(?:videos?|av|watch|galler(?:y|ies)|galerie|bilder|fotos?|fotostrecken?|photos?|photography|pictures|"
    r"images|slideshows?|podcasts?|audio|mediathek|live-?tv|livestream)(?=$|[-_.])",
    re.IGNORECASE,
)
_SERVICE = re.compile(
    r"(?:^|[-_.])(?:impressum|imprint|datenschutz\w*|privacy\w*|terms|contact|kontakt|about|cookies?|legal|log-?in|"
    r"sign-?(?:in|up)|subscribe|subscriptions?|newsletters?|advertis\w*|advert|jobs|careers|faq|help|agb)(?=$|[-_.])",
    re.IGNORECASE,
)
_SECTION = re.compile(
    r"categor(?:y|ies)|sections?|topics?|tags?|authors?|rubrik|thema|themen|channels?|search", re.IGNORECASE
)
_SERVICE_TITLE = re.compile(
    r"\b(?:impressum|datenschutz(?:erklärung)?|privacy (?:policy|notice)|terms (?:of|and)|imprint|"
    r"cookie (?:policy|notice)|contact us|(?:page )?not found|404|access denied|just a moment|attention required|"
    r"log in|sign in|subscribe now)\b|^(?:error|login|subscribe|cookies?|contact|kontakt|about us)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Facts:
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
    breaks = [len(list(filter(None, _WORD_BREAK.split(part)))) - 1 for part in parts]
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
        video_address=any(_VIDEO.search(part) for part in words),
        service_address=any(_SERVICE.search(part) for part in words),
        section_address=bool(parts) and _SECTION.fullmatch(parts[0]) is not None,
        service_title=_SERVICE_TITLE.search(f"{title}\n{metadata.title}") is not None,
    )


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
