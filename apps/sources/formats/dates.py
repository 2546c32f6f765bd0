"""Points in time as feeds write them: RFC 822, ISO 8601 and its web profile, and the odd ones that feedparser knows."""

import json
import re
from calendar import timegm
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

from feedparser.datetimes import _date_handlers
from feedparser.datetimes.iso8601 import _parse_date_iso8601
from feedparser.datetimes.rfc822 import _parse_date_rfc822

MAX_DATE = 100  # characters
EARLIEST_YEAR = 1000  # "0001-01-01" is what software writes that has no date
MINUTE = timedelta(minutes=1)
FARTHEST = timedelta(hours=14)  # that the clocks of any place are from UTC

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
# Hours east of Greenwich; of ambiguous names the meaning that RFC 822 or the most publishers give them.
_ZONES: Mapping[str, int] = json.loads(Path(__file__).with_name("time-zones.json").read_text("utf-8"))
_RFC_822 = re.compile(
    r"""(?:[a-z]{2,9}(?![a-z])[.,]*\s*)?  # the day of the week is often wrong: never read
        (?:(?P<day>\d{1,2})[\s-]+(?P<month>[a-z]{3})[a-z]*\.?|(?P<us_month>[a-z]{3})[a-z]*\.?\s+(?P<us_day>\d{1,2}),?)
        [\s,-]+(?P<year>\d{4}|\d{2})\b
        (?:[\s,T]+(?P<hour>\d{1,2}):(?P<minute>\d{1,2})(?::(?P<second>\d{1,2})(?:[.,]\d*)?)?)?
        \s*(?:etc/)?(?P<zone>(?:gmt|utc|ut)?\s*[+-]\d{1,2}:?\d{2}|[a-z]{1,5})?
        \s*(?:\(.*\))?""",
    re.IGNORECASE | re.VERBOSE,
)
# What datetime does not read of it: zones with a name, leap seconds, midnight as the 24th hour.
_ISO_8601 = re.compile(r"(\d{4})-(\d\d?)-(\d\d?)[T ](\d\d?:\d\d(?::\d\d(?:[.,]\d*)?)?)\s*([^\[]*)")
# Dublin Core writes periods, of which the start counts: "start=2024-05-06; end=2024-05-12", "2024-05-06/2024-05-12".
_NOT_START = re.compile(r".*?\bstart=\s*|(?<=[\dZ])\s*;.*|(?<=\d-\d\d)/.*|(?<=Z)/.*", re.DOTALL)
_OFFSET = re.compile(r"([+-])(\d{1,2}):?(\d{2})$")
# Without feedparser's parser of ISO 8601, which fills gaps from the clock and accepts any number.
_ODD = [read for read in _date_handlers if read not in (_parse_date_iso8601, _parse_date_rfc822)]


def parse_date(text: str) -> datetime | None:
    """The time that a text states, aware and with the written offset, or None; without a zone it is UTC.

    Offsets that no place has are replaced by UTC: those of more than 14 hours, or with seconds.

    >>> parse_date("Thu, 01 Jan 2004 19:48:21 -0500").isoformat()
    '2004-01-01T19:48:21-05:00'
    >>> parse_date("2003-12-31T10:14:55Z")
    datetime.datetime(2003, 12, 31, 10, 14, 55, tzinfo=datetime.timezone.utc)
    >>> parse_date("yesterday")
    """
    text = _NOT_START.sub("", text.strip()[: MAX_DATE + 1])
    if not text or len(text) > MAX_DATE:
        return None
    try:
        moment = (_iso_8601(text) if text[:4].isdigit() else _rfc_822(text)) or _odd(text)
        if moment is None:
            return None
        moment = moment.replace(microsecond=0)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        in_utc = moment.astimezone(UTC)  # an overflow must occur here, not in a later comparison
    except (ValueError, OverflowError):  # the 31st of February; the year 9999 in another zone
        return None
    offset = moment.utcoffset()
    if moment.tzinfo is not UTC and (offset is None or abs(offset) > FARTHEST or offset % MINUTE):
        moment = in_utc.replace(microsecond=0)  # Postgres rejects most such offsets, too
    return moment if moment.year >= EARLIEST_YEAR else None


def _iso_8601(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        match = _ISO_8601.match(text)
    if match is None or not 1 <= int(match[2]) <= 12:
        return None
    return _rfc_822(f"{match[3]} {_MONTHS[int(match[2]) - 1]} {match[1]} {match[4]} {match[5]}")


def _rfc_822(text: str) -> datetime | None:
    match = _RFC_822.fullmatch(text)
    if match is None:
        return None
    name = (match["month"] or match["us_month"]).lower()
    if name not in _MONTHS:
        return None
    month = _MONTHS.index(name) + 1
    year = int(match["year"])
    if len(match["year"]) == 2:
        year += 2000 if year < 90 else 1900
    day = int(match["day"] or match["us_day"])
    hour, minute, second = int(match["hour"] or 0), int(match["minute"] or 0), int(match["second"] or 0)
    # A leap second has no datetime; midnight may be written as the 24th hour.
    moment = datetime(year, month, day, hour % 24, minute, min(second, 59), tzinfo=_zone(match["zone"] or ""))
    return moment + timedelta(days=hour // 24)


def _zone(name: str) -> timezone:
    offset = _OFFSET.search(name)
    if offset is None:
        return timezone(timedelta(hours=_ZONES.get(name.lower(), 0)))
    distance = timedelta(hours=int(offset[2]), minutes=int(offset[3]))
    return timezone(-distance if offset[1] == "-" else distance)


def _odd(text: str) -> datetime | None:
    """What only feedparser can read: dates without a day, of Korean, Greek and Hungarian blogs, of other programs."""
    for read in _ODD:
        try:
            parts = read(text)
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError):
            continue  # they split what need not be there
        if parts:
            return datetime.fromtimestamp(timegm(parts), UTC)
    return None
