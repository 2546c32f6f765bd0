"""The links of a page that a crawl may follow, and the page's directives for crawlers."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree

from apps.postings.algorithms.extraction.anchors import is_headline, words_of_link
from apps.sources.algorithms.addresses import MAX_ADDRESS_LENGTH, absolute
from apps.sources.algorithms.discovery import base_of

MAX_LINKS = 5_000  # per page

_NO_PAGE = re.compile(
    r"\.(?:pdf|docx?|xlsx?|pptx?|od[tsp]|rtf|csv|epub|mobi|jpe?g|jfif|png|gif|webp|avif|svg|ico|bmp|tiff?|psd|heic|mp[34]|"
    r"m4[av]|aac|ogg|og[av]|opus|flac|wav|wma|avi|mov|mkv|webm|wmv|flv|m3u8?|mpe?g|zip|gz|tgz|bz2|xz|7z|rar|tar|dmg|exe|"
    r"msi|apk|iso|deb|rpm|jar|css|m?js|json|jsonld|xml|rss|atom|rdf|woff2?|ttf|otf|eot|ics|vcf|kml|swf|torrent)$",
    re.IGNORECASE,
)
_NOT_FOLLOWED = frozenset({"nofollow", "ugc", "sponsored"})
_OUR_RULES = frozenset({"robots", "wirebeat"})  # names of <meta> elements


@dataclass(frozen=True, slots=True)
class Link:
    url: str  # absolute, without fragment
    text: str  # the longest of the texts that lead there
    is_headline: bool = False


@dataclass(frozen=True, slots=True)
class RobotsDirectives:
    noindex: bool = False
    nofollow: bool = False


def links_of(root: etree._Element, url: str) -> list[Link]:
    """The pages that a page links to, each once, in the order of the document; at most 5,000.

    >>> from lxml.html import fromstring
    >>> links_of(fromstring('<a href="1#top">One</a><a href="1">Chapter one</a><a href="a.pdf">PDF</a>'), "https://e.org/b/")
    [Link(url='https://e.org/b/1', text='Chapter one', is_headline=False)]
    """
    base = base_of(root, url)
    own = url.partition("#")[0]
    texts: dict[str, str] = {}
    for element, address in _anchors(root, base):
        if address == own or (address not in texts and len(texts) >= MAX_LINKS):
            continue
        text = words_of_link(element)
        if len(text) >= len(texts.setdefault(address, "")):
            texts[address] = text
    return [Link(address, text, is_headline(text)) for address, text in texts.items()]


def robots_directives(root: etree._Element, *, header: str = "") -> RobotsDirectives:
    """A page's directives for crawlers, in its head and in the X-Robots-Tag header.

    >>> from lxml.html import fromstring
    >>> robots_directives(fromstring('<head><meta name="robots" content="NOINDEX, follow"></head>')).noindex
    True
    """
    words = _directives(header)
    for element in root.iter("meta"):
        if (element.get("name") or "").strip().lower() in _OUR_RULES:
            words |= _directives(element.get("content") or "")
    return RobotsDirectives(noindex=bool(words & {"noindex", "none"}), nofollow=bool(words & {"nofollow", "none"}))


def _anchors(root: etree._Element, base: str) -> Iterator[tuple[etree._Element, str]]:
    for element in root.iter("a", "area"):
        href = (element.get("href") or "").strip()
        relations = set((element.get("rel") or "").lower().split())
        if not href or href.startswith("#") or len(href) > MAX_ADDRESS_LENGTH or relations & _NOT_FOLLOWED:
            continue
        address = absolute(href, base).partition("#")[0]
        if address and len(address) <= MAX_ADDRESS_LENGTH and is_page_address(address):
            yield element, address


def is_page_address(address: str) -> bool:
    """Whether an address may be that of a page, not of a document, picture, sound or program.

    >>> is_page_address("https://example.org/a.html?f=x.pdf"), is_page_address("https://example.org/a.PDF")
    (True, False)
    """
    return _NO_PAGE.search(address.partition("?")[0]) is None


def _directives(text: str) -> set[str]:
    """Words of a robots rule; those of a header may begin with the name of the crawler they apply to."""
    words = set()
    for rule in text.lower().split(","):
        agent, colon, word = rule.rpartition(":")
        if not colon or agent.strip() in _OUR_RULES:
            words.add(word.strip())
    return words
