"""Whether a site's robots.txt (RFC 9309) lets us ask for an address."""

from functools import lru_cache
from urllib.parse import urlsplit

from protego import Protego

AGENT = "Wirebeat"
UNAVAILABLE = "# The server failed to answer."  # in the place of rules
BODY_LIMIT = 5 * 2**20  # bytes; no file of rules is larger
READ_LIMIT = 500 * 1024  # bytes; what lies behind is not read (RFC 9309, section 2.5)


def origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def rules_in(status: int, body: bytes) -> str:
    """The rules of an answer to robots.txt: none where there is no such file."""
    if status >= 500:
        return UNAVAILABLE
    if status != 200:
        return ""
    read = body if len(body) <= READ_LIMIT else body[:READ_LIMIT].rpartition(b"\n")[0]  # half a rule is another one
    return read.decode("utf-8", "replace").replace("\0", "")


def allows(rules: str, url: str, *, crawling: bool = False) -> bool:
    """Whether the rules let us ask for `url`.

    A server that fails to answer forbids everything (RFC 9309, section 2.3.1.4) to who is crawling: but a feed is
    asked for by a person, who would find it at that address, too.

    >>> allows("User-agent: *\\nDisallow: /private", "https://news.example/feed")
    True
    >>> allows("User-agent: wirebeat\\nDisallow: /", "https://news.example/feed")
    False
    """
    if rules == UNAVAILABLE:
        return not crawling
    return not rules or bool(_parsed(rules).can_fetch(url, AGENT))


@lru_cache(maxsize=256)
def _parsed(rules: str) -> Protego:
    return Protego.parse(rules)
