"""Videos and recordings of sites whose players have addresses that stay, see `players.json`."""

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

_SITES = [
    (site, re.compile("|".join(site["patterns"]), re.ASCII))
    for site in json.loads(Path(__file__).with_name("players.json").read_text("utf-8"))
]


class Player(NamedTuple):
    site: str  # its name
    kind: str  # "video" or "audio"
    page: str  # the address for people
    frame: str  # the address of the player
    picture: str  # "" where the site has no address of one that follows from the page's


@lru_cache(maxsize=1_000)
def player_of(address: str) -> Player | None:
    """The player for what an address shows, whether that of its page, of a short link or of an embedded frame.

    >>> player_of("https://youtu.be/dQw4w9WgXcQ?t=9").page
    'https://www.youtube.com/watch?v=dQw4w9WgXcQ'
    >>> player_of("https://www.youtube.com/@wirebeat") is None
    True
    """
    address = f"https:{address}" if address.startswith("//") else address
    for site, pattern in _SITES:
        if found := pattern.match(address):
            parts = [part for part in found.groups() if part is not None]
            page, frame, picture = (site[name].format(*parts) for name in ("page", "frame", "picture"))
            return Player(site["site"], site["kind"], page, frame, picture)
    return None
