"""Attachments of postings: recordings to play, and files."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from apps.following.queries.posting_state import PlaybackPosition
from apps.postings.algorithms.players import player_of
from apps.sources.algorithms.addresses import http_address
from apps.web.algorithms.articles import clock

Player = Literal["audio", "video", ""]


@dataclass(frozen=True, slots=True)
class Attachment:
    number: int  # among the posting's enclosures, from 0
    address: str  # on the web
    player: Player  # empty for files that browsers do not play
    media_type: str
    length: int  # bytes, 0 if unknown
    title: str
    played_from: str  # the address that players load, empty for files
    duration: int = 0  # seconds, 0 if unknown
    seconds: float = 0.0  # playback position

    @property
    def start(self) -> str:
        """The address with the playback position, which players support without a script."""
        address = self.played_from or self.address
        return f"{address.partition('#')[0]}#t={self.seconds:.0f}" if self.seconds else address

    @property
    def clock(self) -> str:
        return clock(self.seconds)

    @property
    def whole(self) -> str:
        return clock(self.duration) if self.duration else ""


def attachments(
    enclosures: Iterable[Mapping[str, Any]],
    place: PlaybackPosition | None = None,
    played_from: Callable[[str], str] = lambda address: address,
) -> tuple[Attachment, ...]:
    """The enclosures on the web; `played_from` maps a publisher's address to the one that players load.

    The playback position belongs to the recording with its address, or to the first one: some publishers change the
    addresses of their recordings every time.
    """
    found = []
    for number, enclosure in enumerate(enclosures):
        address = http_address(str(enclosure.get("url") or ""))
        if address and player_of(address) is None:  # else the article shows a card for it
            media_type = str(enclosure.get("media_type") or "")
            length, title = int(enclosure.get("length") or 0), str(enclosure.get("title") or "")
            player = _player(media_type)
            player_address = played_from(address) if player else ""
            duration = int(enclosure.get("duration") or 0)
            found.append(Attachment(number, address, player, media_type, length, title, player_address, duration))
    playable = [each for each in found if each.player]
    if place is not None and playable:
        played = next((each for each in playable if each.address == place.address), playable[0])
        found[found.index(played)] = replace(played, seconds=place.seconds)
    return tuple(found)


def _player(media_type: str) -> Player:
    kind = media_type.partition("/")[0].strip().lower()
    return "audio" if kind == "audio" else "video" if kind == "video" else ""
