"""WebSub hubs and rssCloud servers that a response names."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from apps.sources.algorithms.addresses import MAX_ADDRESS_LENGTH, absolute
from apps.sources.algorithms.discovery import MAX_PAGE_BYTES, links_in_head, links_in_header
from apps.sources.formats.feed import Cloud, ParsedFeed

RSSCLOUD = "rsscloud+"  # prefix of the address of an rssCloud server, which has another protocol than hubs

Stated = tuple[str, str]  # relations and address of a link


class Announcer(NamedTuple):
    """The servers that send notifications of changes, and the topic to subscribe to; empty without any."""

    hub_urls: tuple[str, ...] = ()  # WebSub hubs, in order
    topic_url: str = ""
    cloud: Cloud | None = None

    @property
    def hub_url(self) -> str:
        """The one to subscribe with: a hub that can keep a secret (https), any hub, or a server of rssCloud; or "".

        >>> Announcer(("http://a.example/", "https://b.example/")).hub_url
        'https://b.example/'
        >>> Announcer(cloud=Cloud("c.example", 5337, "/pleaseNotify", "http-post")).hub_url
        'rsscloud+http://c.example:5337/pleaseNotify'
        """
        safe = (url for url in self.hub_urls if url.startswith("https:"))
        return next(safe, "") or next(iter(self.hub_urls), "") or _cloud_url(self.cloud)


def discover(link_header: str, feed: ParsedFeed | None, body: bytes, url: str) -> Announcer:
    """The hubs and topic in a response (WebSub, section 4). Never raises.

    Link headers (joined by commas) take precedence over the document, separately for hubs and topic. The document's
    links are those of its feed or, if `feed` is None, those in the head of the page in `body`. `url` is the final
    address after redirects, and the default topic.

    >>> page = b'<head><link rel="hub" href="https://hub.example/"><link rel="self" href="/news"></head>'
    >>> discover("", None, page, "https://example.org/").topic_url
    'https://example.org/news'
    >>> discover('<https://other.example/>; rel=hub', None, page, "https://example.org/").hub_urls
    ('https://other.example/',)
    >>> discover("", ParsedFeed("rss", self_url="https://example.org/feed"), b"", "https://example.org/")
    Announcer(hub_urls=(), topic_url='', cloud=None)
    """
    in_header = _wanted(_in_header(link_header, url))
    in_document = _wanted(_in_feed(feed) if feed is not None else _in_page(body, url))
    hubs = in_header.get("hub") or in_document.get("hub") or []
    cloud = feed.cloud if feed is not None and _cloud_url(feed.cloud) else None
    if not hubs and cloud is None:
        return Announcer()
    topic = [*in_header.get("self", []), *in_document.get("self", []), url][0]
    return Announcer(tuple(dict.fromkeys(hubs)), topic, cloud)


def _in_header(link_header: str, url: str) -> Iterator[Stated]:
    for href, parameters in links_in_header(link_header):
        if "anchor" not in parameters:  # else the link is another resource's
            yield parameters.get("rel", ""), absolute(href, url)


def _in_feed(feed: ParsedFeed) -> Iterator[Stated]:
    yield from (("hub", absolute(hub)) for hub in feed.hub_urls)
    yield "self", absolute(feed.self_url)


def _in_page(body: bytes, url: str) -> Iterator[Stated]:
    if b"hub" not in body[:MAX_PAGE_BYTES].lower():  # saves most pages their reading
        return
    for address, attributes in links_in_head(body, url):
        yield attributes.get("rel", ""), address


def _wanted(stated: Iterable[Stated]) -> dict[str, list[str]]:
    """Addresses by relation, "hub" and "self" alone."""
    links: dict[str, list[str]] = {}
    for relations, address in stated:
        if address and len(address) <= MAX_ADDRESS_LENGTH:
            for relation in {"hub", "self"}.intersection(relations.lower().split()):
                links.setdefault(relation, []).append(address)
    return links


def _cloud_url(cloud: Cloud | None) -> str:
    """The address of a server with the plain HTTP protocol, or ""."""
    if cloud is None or cloud.protocol not in {"http-post", "https-post"}:
        return ""
    scheme = "https" if cloud.port == 443 or cloud.protocol == "https-post" else "http"
    address = absolute(f"{scheme}://{cloud.domain}:{cloud.port}{cloud.path}")
    return f"{RSSCLOUD}{address}" if address else ""
