"""Conditional requests (RFC 9110, RFC 3229): which edition a client holds, and whether it is the current one."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime

_TAG = re.compile(r'(?:W/)?"([0-9a-f]+)-(\d{1,12})"', re.ASCII)


@dataclass(frozen=True, slots=True)
class Edition:
    """A version of a feed: the postings [first, count) of the source."""

    first: int
    count: int
    etag: str
    modified: str  # HTTP date, or "" while another posting could still get the same one


def make_edition(*, count: int, window: int, token: str, weak: bool, newest: float | None, now: float) -> Edition:
    """The edition with `count` postings published, of which the feed shows the last `window`.

    `newest` is the real time of the newest posting, None without any; `now` the real time of the
    response (seconds since 1970). `token` (hexadecimal) distinguishes replays with different starts.

    A Last-Modified date counts whole seconds. It is not offered within the second of the newest posting:
    a client that sends it would miss a second posting in that second.

    >>> make_edition(count=60, window=50, token="ab", weak=False, newest=0.0, now=9.0)
    Edition(first=10, count=60, etag='"ab-60"', modified='Thu, 01 Jan 1970 00:00:00 GMT')
    """
    etag = f'{"W/" if weak else ""}"{token}-{count}"'
    settled = newest is not None and int(newest) < int(now)
    return Edition(max(0, count - window), count, etag, http_date(newest) if newest is not None and settled else "")


def is_current(edition: Edition, if_none_match: str | None, if_modified_since: str | None, newest: float) -> bool:
    """Whether the client holds this edition already, so that the response is 304.

    If-None-Match takes precedence; an invalid date is ignored.

    >>> edition = Edition(0, 3, '"ab-3"', "")
    >>> is_current(edition, 'W/"ab-3"', None, 5.0), is_current(edition, '"ab-2"', None, 5.0)
    (True, False)
    >>> is_current(edition, None, "Thu, 01 Jan 1970 00:00:05 GMT", 5.5), is_current(edition, None, "soon", 5.5)
    (True, False)
    """
    if if_none_match is not None:
        held = {tag.strip().removeprefix("W/") for tag in if_none_match.split(",")}
        return bool(held & {edition.etag.removeprefix("W/"), "*"})
    if if_modified_since is None:
        return False
    try:
        since = parsedate_to_datetime(if_modified_since)
    except ValueError:
        return False
    if since.tzinfo is None:
        since = since.replace(tzinfo=UTC)
    return int(newest) <= since.timestamp()


def held_count(edition: Edition, if_none_match: str | None, token: str) -> int | None:
    """How many postings had been published in the client's edition, if this edition can continue it.

    None if the tag is unknown, or so old that postings have left the window since.

    >>> held_count(Edition(10, 60, '"ab-60"', ""), '"ab-58"', "ab")
    58
    >>> held_count(Edition(10, 60, '"ab-60"', ""), '"ab-9"', "ab") is None
    True
    """
    counts = [int(tag[2]) for tag in _TAG.finditer(if_none_match or "") if tag[1] == token]
    known = [count for count in counts if edition.first <= count < edition.count]
    return max(known, default=None)


def http_date(time: float) -> str:
    """Seconds since 1970 as an HTTP date, cut to whole seconds.

    >>> http_date(86400.9)
    'Fri, 02 Jan 1970 00:00:00 GMT'
    """
    return format_datetime(datetime.fromtimestamp(int(time), UTC), usegmt=True)
