"""Simple rules for the kind of a page, as baselines of the learnt model."""

from apps.postings.algorithms.extraction.kinds import Facts, KindName
from apps.postings.algorithms.extraction.literal import keen_tags

MAX_LINKS = 50
MAX_HEADLINES = 12


def by_thesis(source: str, facts: Facts) -> KindName:
    """The thesis's evaluate() with N = 100 and T = 5 detects news; of the rest, pages with many links are indexes."""
    if keen_tags(source).is_news:
        return "news"
    return "index" if facts.links > MAX_LINKS else "valueless"


def by_metadata(facts: Facts) -> KindName:
    """The kind stated by og:type or JSON-LD; if that is no article, many headlines make it an index."""
    if facts.says_article or facts.og_type in ("article", "news"):
        return "news"
    return "index" if facts.headlines > MAX_HEADLINES else "valueless"


def by_address(facts: Facts) -> KindName:
    """The page's address alone."""
    if facts.service_address or facts.video_address:
        return "valueless"
    if facts.front_page or facts.section_address:
        return "index"
    return "news" if facts.last_slug >= 3 or facts.longest_number >= 4 else "index"


def by_points(facts: Facts) -> KindName:
    """Points given by hand for structure, metadata and address."""
    bad = (
        2.5 * facts.service_title
        + 1.5 * facts.service_address
        + 1.5 * facts.video_address
        + 0.5 * facts.noindex
        + 1.5 * facts.og_type.startswith("video")
    )
    if _structure(facts) + _metadata(facts) + _address(facts) - bad >= 1.5:
        return "news"
    index = (
        (facts.headlines >= 15)
        + (facts.headlines >= 40)
        + (facts.linked_headings >= 8)
        + 0.5 * (facts.headlines > 0.25 * facts.links)
        + facts.front_page
        + 0.7 * facts.section_address
        + 0.5 * (facts.og_type in ("website", "blog"))
        + facts.says_list
    )
    return "index" if index - bad >= 1.5 else "valueless"


def _structure(facts: Facts) -> float:
    linked = facts.text_linked / max(1, facts.text_characters)
    share = facts.text_size / max(1, facts.page_size)
    drowned = facts.headlines >= 40 and facts.headlines_size > 2 * facts.text_size  # ln 2 = .7
    return (
        1.5 * (facts.text_size >= 600)
        + (facts.text_size >= 1_500)
        - 1.5 * (facts.text_size < 350)
        + (facts.paragraphs >= 4)
        - (facts.paragraphs < 2)
        - 2 * (linked > 0.25)
        - (linked > 0.12)
        + (share > 0.35)
        - (share < 0.12)
        + 0.5 * (facts.h1s == 1)
        - 1.5 * drowned
        - (facts.linked_headings >= 20)
    )


def _metadata(facts: Facts) -> float:
    return (
        1.5 * facts.says_article
        + (facts.og_type in ("article", "news"))
        - (facts.og_type in ("website", "blog"))
        + 0.5 * facts.published
        - facts.says_list
        - (facts.says_other and facts.text_size < 800)
    )


def _address(facts: Facts) -> float:
    numbered = facts.longest_number >= 4
    return (
        (facts.last_slug >= 3)
        + 0.7 * numbered
        - 2 * facts.front_page
        - 1.5 * facts.section_address
        - (facts.last_slug < 1 and not numbered)
    )
