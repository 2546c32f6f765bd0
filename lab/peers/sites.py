"""Feeds that every reader gets alike: most are good, the others are broken in ten ways. Their truth is known."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from lab.worlds.addresses import Addresses
from lab.worlds.feed import Feed, Text
from lab.worlds.rendering import Format, format_of, render
from lab.worlds.server import REAL_TIME
from lab.worlds.synthetic import compose, make_steady_feeds
from lab.worlds.vocabulary import ENGLISH

DOMAIN = "peers.localhost"
WINDOW = 40  # postings in a feed
POSTING_GAP = 3_600.0  # s
AHEAD = 400 * 86_400.0  # s by which a broken clock dates postings ahead
FAULTY_SHARE = 0.1

_HOST = re.compile(rf"f(\d{{1,9}})\.([a-z]+)\.{re.escape(DOMAIN)}(?::\d+)?", re.ASCII | re.IGNORECASE)
_ARTICLE = re.compile(r"/(\d{1,9})/item/[0-9a-f]+-(\d{1,9})", re.ASCII)
_GUID = re.compile(r"<guid[^>]*>[^<]*</guid>\n")
_FIRST_WORD = re.compile(r"(<item>\n<title>\S+) ")

Key = tuple[int, int]  # a posting: the number of its feed, its position there


class Fault(StrEnum):
    AMPERSAND = "unescaped &"
    CONTROL = "control characters"
    CHARSET = "cp1252 sent as UTF-8"
    BLANK_LINES = "blank lines before the XML"
    NO_GUID = "no guid"
    CHANGING_GUIDS = "guids that change at each fetch"
    REDIRECT = "redirect"
    NO_VALIDATORS = "no validators"
    GZIP = "gzip unasked"
    RELATIVE = "relative links, future dates"


@dataclass(frozen=True, slots=True)
class PeerAddresses(Addresses):
    """The addresses of the sites as one peer gets them, so that requests and truth are kept for each.

    >>> PeerAddresses(port=80, run="1", peer="ours").article(3, 4)
    'http://f3.ours.peers.localhost:80/3/item/1-4'
    """

    peer: str

    @property
    def open_host(self) -> str:
        return f".{DOMAIN}:{self.port}"

    def site(self, source: int) -> str:
        return f"http://f{source}.{self.peer}.{DOMAIN}:{self.port}"


@dataclass(frozen=True, slots=True)
class Site:
    feed: Feed
    folder: str
    fault: Fault | None = None

    @property
    def number(self) -> int:
        return self.feed.number


def place_of(host: str) -> tuple[int, str] | None:
    """The number of the feed and the peer that a host name, with or without its port, belongs to.

    >>> place_of("f3.ours.peers.localhost:80"), place_of("localhost")
    ((3, 'ours'), None)
    """
    found = _HOST.fullmatch(host)
    return (int(found[1]), found[2].lower()) if found else None


def number_of(url: str) -> int:
    """The number of the feed at an address; 0 for that of another server.

    >>> number_of("http://f3.ours.peers.localhost:80/feed"), number_of("http://news.example/")
    (3, 0)
    """
    found = place_of(url.partition("://")[2].partition("/")[0])
    return found[0] if found else 0


def key_of(link: str) -> Key | None:
    """The posting that a link leads to, even if it is still relative.

    >>> key_of("/3/item/1-40"), key_of("http://news.example/")
    ((3, 40), None)
    """
    found = _ARTICLE.search(link)
    return (int(found[1]), int(found[2])) if found else None


# --- making -----------------------------------------------------------------------------------------------------------
def make_sites(feeds: int, *, seed: int, begin: float, postings: int, faulty: int | None = None) -> list[Site]:
    """Feeds with so many postings each, the last of the first `WINDOW` at `begin` (seconds since 1970).

    By default a tenth is faulty. All write RSS or Atom, as not every reader knows JSON Feed.
    """
    times = [begin + (number + 1 - WINDOW) * POSTING_GAP for number in range(postings)]
    made = make_steady_feeds(feeds * 10 // 9 + 10, seed=seed, times=times)
    chosen = [feed for feed in made if format_of(feed.number) is not Format.JSON][:feeds]
    broken = _choose_broken(chosen, round(feeds * FAULTY_SHARE) if faulty is None else faulty)
    return [_make_site(feed, place, broken.get(feed.number), seed) for place, feed in enumerate(chosen)]


def _choose_broken(feeds: Sequence[Feed], count: int) -> dict[int, Fault]:
    """Feeds in RSS, far from each other; each fault equally often."""
    able = [feed.number for feed in feeds if format_of(feed.number) is Format.RSS]
    if count > len(able):
        raise ValueError(f"only {len(able)} of the feeds can be broken, not {count}")
    faults = list(Fault)
    return {able[place * len(able) // count]: faults[place % len(faults)] for place in range(count)}


def _make_site(feed: Feed, place: int, fault: Fault | None, seed: int) -> Site:
    folder = f"Folder {place % 10 + 1}"
    if fault is None:
        return Site(replace(feed, texts=list(feed.texts)), folder)
    texts = [compose(seed, feed.number, posting, time, ENGLISH) for posting, time in enumerate(feed.times)]
    retitled = [Text(_TITLES.get(fault, "{}").format(text.title), text.paragraphs) for text in texts]
    times = [time + AHEAD for time in feed.times] if fault is Fault.RELATIVE else feed.times
    english = replace(feed, title=f"Gazette {feed.number}", language="en", texts=retitled, times=times)
    return Site(english, folder, fault)


_TITLES = {Fault.AMPERSAND: "R&D & more: {}", Fault.CHARSET: "Café “{}” – déjà vu"}


# --- showing ----------------------------------------------------------------------------------------------------------
def show(site: Site, count: int, addresses: Addresses, fetch: int) -> bytes:
    """The feed with its latest postings of the first `count`; `fetch` counts how often it was fetched."""
    text = render(site.feed, max(0, count - WINDOW), count, REAL_TIME, addresses).decode()
    if site.fault is Fault.RELATIVE:
        return text.replace(f"{addresses.site(site.number)}/{site.number}/item", f"/{site.number}/item").encode()
    if site.fault is Fault.CHANGING_GUIDS:
        return _with_new_guids(text, fetch).encode()
    return _BREAKING[site.fault](text) if site.fault in _BREAKING else text.encode()


def _with_new_guids(text: str, fetch: int) -> str:
    items = _GUID.sub("", text).split("<item>\n")
    return items[0] + "".join(
        f'<item>\n<guid isPermaLink="false">{fetch}-{place}</guid>\n{item}' for place, item in enumerate(items[1:])
    )


_BREAKING: Mapping[Fault | None, Callable[[str], bytes]] = {
    Fault.AMPERSAND: lambda text: text.replace("<title>R&amp;D &amp; more", "<title>R&D & more").encode(),
    Fault.CONTROL: lambda text: _FIRST_WORD.sub("\\1\x0b ", text).encode(),
    Fault.CHARSET: lambda text: text.encode("cp1252"),
    Fault.BLANK_LINES: lambda text: f"\n\n  \n{text}".encode(),
    Fault.NO_GUID: lambda text: _GUID.sub("", text).encode(),
}
