"""Addresses of the replayed sites: every source has a host name of its own."""

import re
from dataclasses import dataclass
from enum import StrEnum

DOMAIN = "replay.localhost"
ICON = "/icon.png"

_HOST = re.compile(rf"s(\d{{1,9}})\.{re.escape(DOMAIN)}(?::\d+)?", re.ASCII | re.IGNORECASE)
_FEED = re.compile(r"/feed(?:/(?:elsewhere|moved))?")
_BY_PATH = re.compile(r"/s/(\d{1,9})(/.*)", re.ASCII)
_ITEM = re.compile(r"/(\d{1,9})/(item|picture)/([0-9a-f]{1,16})-(\d{1,9})", re.ASCII)


class Kind(StrEnum):
    FEED = "feed"
    ARTICLE = "article"
    PICTURE = "picture"
    ICON = "icon"
    HOME = "home"
    ROBOTS = "robots"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Target:
    """What a request is for; `source` is None where no source is named."""

    kind: Kind
    source: int | None = None
    run: str = ""
    posting: int = 0


@dataclass(frozen=True, slots=True)
class Addresses:
    """The addresses of one replay.

    `run` (hexadecimal) distinguishes its postings from those of an earlier replay at the same port.

    >>> addresses = Addresses(port=8700, run="ab")
    >>> addresses.feed(12), addresses.article(12, 4)
    ('http://s12.replay.localhost:8700/feed', 'http://s12.replay.localhost:8700/12/item/ab-4')
    """

    port: int
    run: str

    @property
    def open_host(self) -> str:
        """The setting that permits connections to the sites."""
        return f".{DOMAIN}:{self.port}"

    def site(self, source: int) -> str:
        """The address of a source's site, without a slash at the end."""
        return f"http://s{source}.{DOMAIN}:{self.port}"

    def feed(self, source: int) -> str:
        return f"{self.site(source)}/feed"

    def article(self, source: int, posting: int) -> str:
        return f"{self.site(source)}/{source}/item/{self.run}-{posting}"

    def picture(self, source: int, posting: int) -> str:
        return f"{self.site(source)}/{source}/picture/{self.run}-{posting}"


def source_of(url: str, port: int) -> int | None:
    """The number of the source that a feed's address belongs to, whichever way it is written.

    >>> source_of("http://s12.replay.localhost:8700/feed/moved", 8700)
    12
    >>> source_of("http://127.0.0.1:8700/s/3/feed", 8700)
    3
    """
    host, _, path = url.removeprefix("http://").partition("/")
    if not host.endswith(f":{port}"):
        return None
    place = locate(host, f"/{path}")
    return place.source if place.kind is Kind.FEED else None


def locate(host: str, path: str) -> Target:
    """The target of a Host header and a path.

    >>> locate("s12.replay.localhost:8700", "/feed").source, locate("127.0.0.1:8700", "/s/3/feed").source
    (12, 3)
    >>> locate("127.0.0.1:8700", "/3/item/ab-40")
    Target(kind=<Kind.ARTICLE: 'article'>, source=3, run='ab', posting=40)
    """
    source = int(named[1]) if (named := _HOST.fullmatch(host)) else None
    if by_path := _BY_PATH.fullmatch(path):
        source, path = int(by_path[1]), by_path[2]
    if source is not None and _FEED.fullmatch(path):
        return Target(Kind.FEED, source)
    if item := _ITEM.fullmatch(path):
        kind = Kind.ARTICLE if item[2] == "item" else Kind.PICTURE
        return Target(kind, int(item[1]), item[3], int(item[4]))
    if path in (ICON, "/favicon.ico"):
        return Target(Kind.ICON, source)
    if path == "/":
        return Target(Kind.HOME, source)
    if path == "/robots.txt":
        return Target(Kind.ROBOTS, source)
    return Target(Kind.OTHER, source)
