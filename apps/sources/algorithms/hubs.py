"""Who announces what is new at an address: WebSub hubs and rssCloud servers, as an answer names them."""

from dataclasses import dataclass

from apps.sources.algorithms.addresses import MAX_ADDRESS_LENGTH, absolute
from apps.sources.algorithms.discovery import MAX_PAGE_BYTES, links_in_head, links_in_header
from apps.sources.formats.feed import Cloud, ParsedFeed

RSSCLOUD = "rsscloud+"  # before the address of an rssCloud server, which is spoken to otherwise than a hub

Links = dict[str, list[str]]  # addresses by relation, "hub" and "self" alone


@dataclass(frozen=True, slots=True)
class Announcer:
    """Whom to ask for word of changes, and by which name he knows what we read; all empty where nobody is named."""

    hub_urls: tuple[str, ...] = ()  # WebSub hubs, in order
    topic_url: str = ""
    cloud: Cloud | None = None

    @property
    def hub_url(self) -> str:
        """The one to subscribe with: a hub that can keep a secret (https), any hub, or a server of rssCloud; or "".

        >>> Announcer(("http://a.example/", "https://b.example/")).hub_url
        'https://b.example/'
        >>> Announcer(cloud=Cloud("c.example", 5337, "/pleaseNotify", "", "http-post")).hub_url
        'rsscloud+http://c.example:5337/pleaseNotify'
        """
        safe = (url for url in self.hub_urls if url.startswith("https:"))
        return next(safe, "") or next(iter(self.hub_urls), "") or _cloud_url(self.cloud)


def discover(link_header: str, feed: ParsedFeed | None, body: bytes, url: str) -> Announcer:
    """Find who announces what is new at an address, in an answer from it (WebSub, section 4).

    HTTP's Link headers go before what the document says, for hubs and for its own name each. What the document says
    is what its feed says or, where it is none, the links in the head of the page. Never raises.

    Parameters
    ----------
    link_header
        The Link headers of the answer, joined by commas; "" for none.
    feed
        What the body holds, if it is a feed.
    body
        The body, looked at only if it is no feed.
    url
        Where the answer came from in the end, after redirects: the topic where none is named.

    Examples
    --------
    >>> page = b'<head><link rel="hub" href="https://hub.example/"><link rel="self" href="/news"></head>'
    >>> discover("", None, page, "https://example.org/").topic_url
    'https://example.org/news'
    >>> discover('<https://other.example/>; rel=hub', None, page, "https://example.org/").hub_urls
    ('https://other.example/',)
    >>> discover("", ParsedFeed("rss", self_url="https://example.org/feed"), b"", "https://example.org/")
    Announcer(hub_urls=(), topic_url='', cloud=None)
    """
    in_header = _in_header(link_header, url) if link_header else {}
    in_document = _in_feed(feed) if feed is not None else _in_page(body, url)
    hubs = in_header.get("hub") or in_document.get("hub") or []
    cloud = feed.cloud if feed is not None and _cloud_url(feed.cloud) else None
    if not hubs and cloud is None:
        return Announcer()
    topic = [*in_header.get("self", []), *in_document.get("self", []), url][0]
    return Announcer(tuple(dict.fromkeys(hubs)), topic, cloud)


def _in_header(link_header: str, url: str) -> Links:
    links: Links = {}
    for href, parameters in links_in_header(link_header):
        if "anchor" not in parameters:  # else it speaks of another address
            _add(links, parameters.get("rel", ""), href, url)
    return links


def _in_feed(feed: ParsedFeed) -> Links:
    links: Links = {}
    for hub in feed.hub_urls:
        _add(links, "hub", hub, "")
    _add(links, "self", feed.self_url, "")
    return links


def _in_page(body: bytes, url: str) -> Links:
    if b"hub" not in body[:MAX_PAGE_BYTES].lower():  # saves most pages their reading
        return {}
    links: Links = {}
    base = url
    for href, attributes in links_in_head(body):
        if attributes.get("rel") == "base":
            base = absolute(href, url) or base
        else:
            _add(links, attributes.get("rel", ""), href, base)
    return links


def _add(links: Links, relations: str, href: str, base: str) -> None:
    address = absolute(href, base)
    if address and len(address) <= MAX_ADDRESS_LENGTH:
        for relation in {"hub", "self"}.intersection(relations.lower().split()):
            links.setdefault(relation, []).append(address)


def _cloud_url(cloud: Cloud | None) -> str:
    """The address of a server that is asked by plain HTTP, or ""."""
    if cloud is None or cloud.protocol not in {"http-post", "https-post"}:
        return ""
    scheme = "https" if cloud.port == 443 or cloud.protocol == "https-post" else "http"
    address = absolute(f"{scheme}://{cloud.domain}:{cloud.port}{cloud.path}")
    return f"{RSSCLOUD}{address}" if address else ""
