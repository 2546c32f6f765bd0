"""Candidate addresses of a page's feeds, from the page and its address, without any request."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

from lxml import etree

from apps.sources.algorithms.addresses import (
    MAX_ADDRESS_LENGTH,
    BadAddress,
    absolute,
    host,
    normalise,
    registrable_domain,
    resolve,
)
from apps.sources.formats.characters import is_utf8
from apps.sources.formats.text import one_line

MAX_CANDIDATES = 20
MAX_PAGE_BYTES = 2_000_000  # the rest is ignored
MAX_HEADER_LENGTH = 16_000  # characters
MAX_TITLE_LENGTH = 200  # characters

_FEED_TYPES = frozenset({
    "application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml",
})  # fmt: skip
# These may be anything; they count as feeds only if the title or the address says so.
_VAGUE_TYPES = frozenset({"application/json", "application/xml", "text/xml"})

_FEED_WORD = re.compile(r"\b(?:rss|atom|rdf|feeds?|json ?feed|syndication)\b", re.IGNORECASE)
_FEED_ADDRESS = re.compile(
    r"(?:^|[/?&=._-])(?:rss\d*|feeds?|atom|rdf)(?:$|[/?&=.])|/index\.xml$",
    re.IGNORECASE,
)
_COMMENTS = re.compile(r"comment|kommentar|comentari|comentári|комментари|コメント|评论|評論", re.IGNORECASE)
# Their addresses contain those of feeds, but lead to pages for people with an account there.
_OTHER_READERS = frozenset({"feedly.com", "inoreader.com", "newsblur.com", "netvibes.com", "yahoo.com", "facebook.com"})


class Candidate(NamedTuple):
    url: str
    title: str
    media_type: str  # as stated; "" if it was not
    how: Literal["header", "link", "anchor", "guess"]


def candidates(html: bytes | str, *, url: str, link_headers: str = "") -> tuple[Candidate, ...]:
    """The addresses, at most 20, at which a feed of the page at `url` may be, the most likely first. Never raises.

    Statements of the publisher come first (HTTP's Link header, then `<link rel="alternate">`), then other links that
    look like feeds, then guesses from the page's address and its generator; feeds of comments come last. Only the
    first 2 MB of the page are read. Several Link headers are joined by commas.

    >>> page = '<link rel="alternate" type="application/rss+xml" title="News" href="/news.xml">'
    >>> candidates(page, url="https://example.org/a/")[0]
    Candidate(url='https://example.org/news.xml', title='News', media_type='application/rss+xml', how='link')
    """
    text, root = _parse(html)
    base = base_of(root, url)
    found = [each for link in links_in_header(link_headers) for each in _alternate("header", *link, url)]
    found += [each for link in _links(root) for each in _alternate("link", *link, base)]
    found += _from_anchors(root, base)
    found += _from_address(url, text)
    found += _from_generator(root, url)
    if not found:
        found += _guesses(["/feed", "/rss.xml", "/feed.xml", "/atom.xml", "/index.xml"], url)
    own = url.partition("#")[0]
    distinct: dict[str, Candidate] = {}
    for candidate in sorted(found, key=_is_for_comments):
        if candidate.url != own and len(candidate.url) <= MAX_ADDRESS_LENGTH:
            distinct.setdefault(candidate.url, candidate)
    return tuple(islice(distinct.values(), MAX_CANDIDATES))


def _parse(html: bytes | str) -> tuple[str, etree._Element]:
    """The page's text in Latin letters at least, and its root element, an empty one if it has none."""
    content = html[:MAX_PAGE_BYTES]
    encoding = None
    if isinstance(content, str):
        content = content.encode("utf-8", "replace")
        encoding = "utf-8"
    elif b"\x00" not in content and is_utf8(content):  # with zeros it is UTF-16 in disguise
        encoding = "utf-8"
    parser = etree.HTMLParser(encoding=encoding, no_network=True, remove_comments=True, remove_pis=True)
    root = None
    with suppress(etree.LxmlError, ValueError):
        root = etree.fromstring(content, parser)
    return content.decode("latin-1"), etree.Element("html") if root is None else root


def base_of(root: etree._Element, url: str) -> str:
    """The address that the relative ones of a page are relative to."""
    href = next((each.get("href", "") for each in root.iter("base") if each.get("href")), "")
    return absolute(href, url) or url


# One link of RFC 8288: the address and all of its parameters, then one parameter.
_LINK = re.compile(r"""<([^<>]*)>((?:\s*;\s*[\w*!#$&+.^`|~-]+\s*(?:=\s*(?:"(?:[^"\\]|\\.)*"|[^\s",;]+))?)*)""")
_PARAMETER = re.compile(r""";\s*([\w*!#$&+.^`|~-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",;]+))""")


def links_in_header(link_headers: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The links of HTTP's Link headers, joined by commas: the address of each as written, and its parameters.

    >>> list(links_in_header('</feed>; rel="alternate"; title="a \\\\"b\\\\"", <https://hub.example/>;rel=hub'))
    [('/feed', {'rel': 'alternate', 'title': 'a "b"'}), ('https://hub.example/', {'rel': 'hub'})]
    """
    for link in _LINK.finditer(link_headers[:MAX_HEADER_LENGTH]):
        parameters: dict[str, str] = {}
        for name, quoted, plain in _PARAMETER.findall(link[2]):
            parameters.setdefault(name.lower(), re.sub(r"\\(.)", r"\1", quoted) or plain)
        yield link[1], parameters


def links_in_head(html: bytes | str, url: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The `<link>` elements in the head of the page at `url`: the address of each, or "", and its attributes."""
    _, root = _parse(html)
    base = base_of(root, url)
    for head in root.iter("head"):
        yield from ((absolute(href, base), attributes) for href, attributes in _links(head))


def _links(root: etree._Element) -> Iterator[tuple[str, dict[str, str]]]:
    for element in root.iter("link"):
        attributes = {str(name).lower(): str(value) for name, value in element.attrib.items()}
        yield attributes.get("href", ""), attributes


def _alternate(how: Literal["header", "link"], href: str, parameters: dict[str, str], base: str) -> Iterator[Candidate]:
    relations = parameters.get("rel", "").lower().split()
    media_type = parameters.get("type", "").partition(";")[0].strip().lower()
    title = one_line(parameters.get("title", ""), MAX_TITLE_LENGTH)
    if not {"alternate", "feed"}.intersection(relations) or "stylesheet" in relations:
        return
    is_feed = media_type in _FEED_TYPES or ("feed" in relations and media_type in ("", *_VAGUE_TYPES))
    if media_type in _VAGUE_TYPES:
        # Every WordPress page links its JSON API with an address like a feed's; only the title shows what it is.
        in_address = media_type != "application/json" and _FEED_ADDRESS.search(href)
        is_feed = is_feed or bool(_FEED_WORD.search(title) or in_address)
    address = _feed_address(href, base)
    if is_feed and address:
        yield Candidate(address, title, media_type, how)


def _from_anchors(root: etree._Element, base: str) -> list[Candidate]:
    """Links that look like feeds: those whose address does before those whose words do, own site before others."""
    site = registrable_domain(host(base))
    ranked = []
    for element in root.iter("a"):
        href = element.get("href", "").strip()
        address = _feed_address(href, base)
        if not address:
            continue
        words = " ".join(str(text) for text in islice(element.itertext(), 10)) or element.get("title", "")
        title = one_line(words, MAX_TITLE_LENGTH)
        by_address = href.lower().startswith("feed:") or _FEED_ADDRESS.search(address.partition("://")[2])
        domain = registrable_domain(host(address))
        if domain not in _OTHER_READERS and (by_address or (len(title) <= 60 and _FEED_WORD.search(title))):
            ranked.append(((not by_address, domain != site), Candidate(address, title, "", "anchor")))
    return [candidate for _, candidate in sorted(ranked, key=lambda pair: pair[0])]


_KNOWN = json.loads(Path(__file__).with_name("feeds-of-sites.json").read_text("utf-8"))
# Where well-known sites keep the feeds of a page, by host and path.
_SITES = [(re.compile(pattern), templates) for pattern, templates in _KNOWN["sites"].items()]
# Where publishing programs keep the feed of a whole site.
_GENERATORS: Mapping[str, str] = _KNOWN["generators"]
_YOUTUBE_CHANNEL = re.compile(
    r"""(?:/channel/|"(?:externalId|channelId)"\s*:\s*"|itemprop="(?:channelId|identifier)"\s+content=")(UC[\w-]{22})"""
)


def _from_address(url: str, text: str) -> Iterator[Candidate]:
    page = resolve(url)
    if page is None:
        return
    place = f"{page.hostname}{page.pathname}{page.search}"
    match = next(((found, templates) for pattern, templates in _SITES if (found := pattern.match(place))), None)
    if match is not None:
        found, templates = match
        yield from _guesses([template.format(found[1]) for template in templates], url)
    elif registrable_domain(page.hostname) == "youtube.com" and (channel := _YOUTUBE_CHANNEL.search(text)):
        yield from _guesses([f"https://www.youtube.com/feeds/videos.xml?channel_id={channel[1]}"], url)
    elif re.fullmatch(r"/@\w+/?", page.pathname) and "mastodon" in text.lower():
        yield from _guesses([f"{page.pathname.rstrip('/')}.rss"], url)


def _from_generator(root: etree._Element, url: str) -> Iterator[Candidate]:
    for element in root.iter("meta"):
        if element.get("name", "").lower() == "generator":
            program = element.get("content", "").lower()
            yield from _guesses([path for name, path in _GENERATORS.items() if program.startswith(name)], url)


def _guesses(addresses: Iterable[str], url: str) -> Iterator[Candidate]:
    for address in addresses:
        if resolved := absolute(address, url):
            yield Candidate(resolved, "", "", "guess")


def _feed_address(href: str, base: str) -> str:
    href = href.strip()
    if not href or href.startswith("#"):
        return ""
    if not href.lower().startswith("feed:"):
        return absolute(href, base).partition("#")[0]
    try:
        return normalise(href)
    except BadAddress:
        return ""


def _is_for_comments(candidate: Candidate) -> bool:
    path = candidate.url.partition("://")[2].partition("/")[2]
    return bool(_COMMENTS.search(candidate.title) or _COMMENTS.search(path))
