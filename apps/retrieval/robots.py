"""Whether a site's robots.txt (RFC 9309) lets us ask for an address."""

from urllib.parse import urlsplit

from protego import Protego

AGENT = "Wirebeat"
BODY_LIMIT = 500 * 1024  # bytes; what lies behind is not read


def origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def rules_in(status: int, body: bytes) -> str:
    """The rules of an answer to robots.txt: none unless there is such a file."""
    return body[:BODY_LIMIT].decode("utf-8", "replace").replace("\0", "") if status == 200 else ""


def allows(rules: str, url: str) -> bool:
    """Whether the rules let us ask for `url`.

    >>> allows("User-agent: *\\nDisallow: /private", "https://news.example/feed")
    True
    >>> allows("User-agent: wirebeat\\nDisallow: /", "https://news.example/feed")
    False
    """
    return not rules or bool(Protego.parse(rules).can_fetch(url, AGENT))
