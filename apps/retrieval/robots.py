"""Whether a site's robots.txt (RFC 9309) lets us ask for an address."""

from urllib.parse import urlsplit

from protego import Protego

AGENT = "Wirebeat"
UNAVAILABLE = "# The server failed to answer."  # in the place of rules
BODY_LIMIT = 500 * 1024  # bytes; what lies behind is not read


def origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def rules_in(status: int, body: bytes) -> str:
    """The rules of an answer to robots.txt: none where there is no such file."""
    if status >= 500:
        return UNAVAILABLE
    return body[:BODY_LIMIT].decode("utf-8", "replace").replace("\0", "") if status == 200 else ""


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
    return not rules or bool(Protego.parse(rules).can_fetch(url, AGENT))
