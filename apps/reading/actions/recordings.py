"""Proxied audio and video, fetched in parts, so that publishers do not learn who plays them.

Browsers request ranges of bytes (RFC 9110, section 14). Each is fetched by its own request and cut to two megabytes:
a server may send less than requested (section 15.3.7), and the browser requests the rest. So no thread is blocked
during playback, and only one part is in memory. Nothing is stored.
"""

import mimetypes
import re
from dataclasses import dataclass
from threading import BoundedSemaphore
from urllib.parse import urlsplit

from apps.reading.actions.fetching import fetch, slot
from apps.retrieval.http.fetching import Fetched, FetchRequest, Timeouts

PART_BYTES = 2 * 2**20
MAX_FETCHES = 4  # at a time in this process, a quarter of its threads
TIMEOUTS = Timeouts(total=20.0, connect=5.0, read=5.0)
ACCEPTED = "audio/*, video/*, application/ogg"

_PLAYABLE = re.compile(r"(?:audio|video)/[\w.+-]+|application/ogg")
_RANGE = re.compile(r"bytes=(?:(\d{1,15})-(\d{0,15})|-(\d{1,15}))")  # one range; browsers request no more
_CONTENT_RANGE = re.compile(r"bytes (\d{1,15})-(\d{1,15})/(\d{1,15}|\*)")

_slots = BoundedSemaphore(MAX_FETCHES)


class BadRange(ValueError):
    """A request has no valid range, several, or one beyond the end."""


class NoRecording(Exception):
    """There is nothing to play at an address; the message contains nothing from the publisher."""


@dataclass(frozen=True, slots=True)
class Part:
    body: bytes
    media_type: str
    first: int  # byte of the whole
    total: int | None  # bytes of the whole, if known

    @property
    def content_range(self) -> str:
        """
        >>> Part(b"abc", "audio/mpeg", 5, None).content_range
        'bytes 5-7/*'
        """
        total = "*" if self.total is None else self.total
        return f"bytes {self.first}-{self.first + len(self.body) - 1}/{total}"

    @property
    def is_whole(self) -> bool:
        return self.first == 0 and self.total == len(self.body)


def limited_range(header: str) -> str:
    """The range to fetch for a `Range` header: at most PART_BYTES. Raises BadRange.

    >>> limited_range("bytes=0-"), limited_range("bytes=10-19"), limited_range("bytes=-5")
    ('bytes=0-2097151', 'bytes=10-19', 'bytes=-5')
    """
    found = _RANGE.fullmatch(header.strip())
    if found is None:
        raise BadRange("Request one range of bytes: recordings are sent in parts.")
    first, last, suffix = found.groups()
    if suffix is not None:
        return f"bytes=-{min(int(suffix), PART_BYTES)}"
    end = int(first) + PART_BYTES - 1
    if last and int(last) < int(first):
        raise BadRange("The range ends before it begins.")
    return f"bytes={int(first)}-{min(int(last), end) if last else end}"


def part_of(address: str, header: str) -> Part:
    """The part of a recording for a `Range` header, or its beginning; raises BadRange, Busy, NoRecording."""
    wanted = limited_range(header)
    headers = {"Range": wanted, "Accept-Encoding": "identity"}
    with slot(_slots):
        fetched = fetch(FetchRequest(address, accept=ACCEPTED, body_limit=PART_BYTES, headers=headers), TIMEOUTS)
    if fetched.failure is not None:
        if fetched.failure.kind == "too_large":
            raise NoRecording("Its site sends it as a whole only.")
        raise NoRecording(f"Its site could not be reached ({fetched.failure.kind}).")
    if fetched.status == 416:
        raise BadRange("The recording is shorter.")
    if fetched.status not in {200, 206}:
        raise NoRecording(f"Its site answers with the status {fetched.status}.")
    media_type = _media_type(fetched)
    return _part(fetched, media_type) if fetched.status == 206 else _part_of_whole(fetched.body, media_type, wanted)


def _part(fetched: Fetched, media_type: str) -> Part:
    found = _CONTENT_RANGE.fullmatch(fetched.headers.get("content-range", ""))
    if found is None or int(found[2]) - int(found[1]) + 1 != len(fetched.body):
        raise NoRecording("Its site sends another part than it says.")
    return Part(fetched.body, media_type, int(found[1]), None if found[3] == "*" else int(found[3]))


def _part_of_whole(body: bytes, media_type: str, wanted: str) -> Part:
    """The part of a short recording whose site does not support ranges."""
    first, _dash, last = wanted.removeprefix("bytes=").partition("-")
    begin = int(first) if first else max(len(body) - int(last), 0)
    if begin >= len(body):
        raise BadRange("The recording is shorter.")
    return Part(body[begin : int(last) + 1 if first else None], media_type, begin, len(body))


def _media_type(fetched: Fetched) -> str:
    """The declared type, or by the extension if that is generic."""
    media_type = fetched.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type in {"", "application/octet-stream", "binary/octet-stream"}:
        media_type = mimetypes.guess_type(urlsplit(fetched.url).path)[0] or ""
    if not _PLAYABLE.fullmatch(media_type):
        raise NoRecording("What its site sends is neither audio nor video.")
    return media_type
