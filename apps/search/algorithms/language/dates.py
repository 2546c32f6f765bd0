"""Dates of “before:” and “after:”."""

import re
from datetime import datetime, timedelta

EARLIEST, LATEST = 1900, 2999  # years that databases and time zones support
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?", re.ASCII)
_AGO = re.compile(r"(\d{1,4})([hdw])", re.ASCII)
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def moment(value: str, now: datetime) -> datetime:
    """The beginning of a date, in the time zone of `now`; raises ValueError.

    Evaluated at every search, so that "yesterday" in a saved one moves with the days. A value is 2026, 2026-11 or
    2026-11-21 (years 1900 to 2999), today, yesterday, or an age: 12h, 7d, 2w.

    >>> from datetime import UTC
    >>> now = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
    >>> [str(moment(value, now))[:16] for value in ("2026-11", "yesterday", "12h")]
    ['2026-11-01 00:00', '2026-11-20 00:00', '2026-11-20 21:30']
    """
    if value in ("today", "yesterday"):
        day = now.date() - timedelta(days=value == "yesterday")
        return datetime(day.year, day.month, day.day, tzinfo=now.tzinfo)
    if match := _AGO.fullmatch(value):
        # Elapsed hours, regardless of changes of the clock.
        return datetime.fromtimestamp(now.timestamp() - int(match[1]) * _UNITS[match[2]].total_seconds(), now.tzinfo)
    if match := _DATE.fullmatch(value):
        year, month, day_number = (int(number or 1) for number in match.groups())
        if EARLIEST <= year <= LATEST:
            return datetime(year, month, day_number, tzinfo=now.tzinfo)
    raise ValueError(f"{value!r} is no date between {EARLIEST} and {LATEST}")
