"""The lines of a record: publications, requests and responses."""

import json
from dataclasses import dataclass, fields
from typing import Any


class RecordError(ValueError):
    """A record that cannot be read."""


@dataclass(frozen=True, slots=True)
class Start:
    """The first line: all that is needed to continue the same replay."""

    origin: float  # seconds since 1970, recorded time
    end: float  # recorded time
    start: float  # real seconds since 1970 at which the origin is replayed
    speed: float
    port: int
    setup: dict[str, str | int | float | bool | None]  # the options, and when the replay `began`

    @property
    def began(self) -> float:
        """Real seconds since 1970 before which nothing of this replay can have been stored."""
        return float(self.setup.get("began") or self.start)


@dataclass(frozen=True, slots=True)
class Published:
    """A posting, recorded when the feed begins to show it."""

    at: float  # real seconds since 1970
    source: int
    posting: int  # its position in the source
    guid: str  # "" if the feed shows none
    link: str


@dataclass(frozen=True, slots=True)
class Request:
    """A request and its response; the response of a feed contains the postings [first, count)."""

    at: float  # real seconds since 1970
    source: int | None
    kind: str
    method: str
    path: str
    status: int
    first: int = 0
    count: int = 0  # on 304: what the client claims to hold
    whole: bool = True  # False: the response was cut off
    if_none_match: str | None = None
    if_modified_since: str | None = None
    agent: str = ""
    unwelcome: tuple[str, ...] = ()  # cookie, referer, query: nothing that a feed reader should send
    etag: str = ""
    modified: str = ""
    size: int = 0  # bytes of the body as sent
    connections: int = 1  # open to this host name, this one included
    fault: str = ""

    @property
    def conditional(self) -> bool:
        return self.if_none_match is not None or self.if_modified_since is not None


Line = Start | Published | Request

_KINDS: dict[str, type[Line]] = {"start": Start, "published": Published, "request": Request}
_NAMES = {line: name for name, line in _KINDS.items()}
_FIELDS = {line: tuple(field.name for field in fields(line)) for line in _NAMES}


def encode(line: Line) -> bytes:
    """One line of JSON, its line end included.

    >>> encode(Published(0.5, 1, 2, "g", "l"))
    b'{"line": "published", "at": 0.5, "source": 1, "posting": 2, "guid": "g", "link": "l"}\\n'
    """
    kind = type(line)
    values = {name: getattr(line, name) for name in _FIELDS[kind]}
    return json.dumps({"line": _NAMES[kind], **values}).encode() + b"\n"


def decode(data: bytes) -> Line:
    """The line that `encode` wrote. Raises RecordError for anything else.

    >>> decode(encode(Published(0.5, 1, 2, "g", "l")))
    Published(at=0.5, source=1, posting=2, guid='g', link='l')
    """
    try:
        values: dict[str, Any] = json.loads(data)
        kind = _KINDS[values.pop("line")]
        if kind is Request:
            values["unwelcome"] = tuple(values["unwelcome"])
        return kind(**values)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RecordError(f"not a line of a record: {data[:80]!r} ({error})") from None
