"""Whether a site's robots.txt (RFC 9309) allows an address, and the sitemaps it names."""

from functools import lru_cache
from urllib.parse import urlsplit

from protego import Protego

from apps.sources.algorithms.addresses import absolute

AGENT = "Wirebeat"
UNAVAILABLE = "# The server failed to answer."  # instead of rules
BODY_LIMIT = 5 * 2**20  # bytes; no file of rules is larger
READ_LIMIT = 500 * 1024  # bytes that are parsed (RFC 9309, section 2.5)


def origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def rules_in(status: int, body: bytes) -> str:
    """The rules of a response to robots.txt: none where there is no such file."""
    if status >= 500:
        return UNAVAILABLE
    if status != 200:
        return ""
    # A rule cut in half is a different one.
    read = body if len(body) <= READ_LIMIT else body[:READ_LIMIT].rpartition(b"\n")[0]
    return read.decode("utf-8", "replace").replace("\0", "")


def allows(rules: str, url: str, *, crawling: bool = False) -> bool:
    """Whether the rules allow a request for `url`.

    A server that fails to answer forbids everything to crawlers (RFC 9309, section 2.3.1.4); a feed is fetched on
    behalf of a person, who could open it at that address, too.

    >>> allows("User-agent: *\\nDisallow: /private", "https://news.example/feed")
    True
    >>> allows("User-agent: wirebeat\\nDisallow: /", "https://news.example/feed")
    False
    """
    if rules == UNAVAILABLE:
        return not crawling
    return not rules or bool(_parsed(rules).can_fetch(url, AGENT))


def sitemaps_in(rules: str) -> tuple[str, ...]:
    """The addresses of the sitemaps that the rules name, each once.

    >>> sitemaps_in("User-agent: *\\nDisallow: /a\\nSitemap: https://example.org/news.xml # new\\nSITEMAP: /b.xml")
    ('https://example.org/news.xml',)
    """
    return tuple(dict.fromkeys(filter(None, map(absolute, _parsed(rules).sitemaps))))


@lru_cache(maxsize=256)
def _parsed(rules: str) -> Protego:
    return Protego.parse(rules)
