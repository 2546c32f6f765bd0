"""When people are told: digests on the clock of their own zone, quiet hours, the days of limits, later attempts.

Instants are aware datetimes; hours of a clock are those of a zone, whatever it does with daylight saving. A time that
a day of a zone does not have counts with the offset before the gap; of one that it has twice, the first (RFC 5545).
"""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from apps.database.backoff import DELIVERY_DELAYS, next_delay

MAX_ATTEMPTS = len(DELIVERY_DELAYS) + 1
MAX_WISH = timedelta(days=1)  # nobody makes us wait for longer


def next_hour(now: datetime, zone: ZoneInfo) -> datetime:
    """The next full hour of the zone's clock.

    >>> next_hour(datetime(2026, 1, 1, 12, 10, tzinfo=UTC), ZoneInfo("Asia/Kolkata")).isoformat()
    '2026-01-01T12:30:00+00:00'
    """
    local = now.astimezone(zone)
    passed = timedelta(minutes=local.minute, seconds=local.second, microseconds=local.microsecond)
    return now.astimezone(UTC) + timedelta(hours=1) - passed


def next_at(clock: time, now: datetime, zone: ZoneInfo) -> datetime:
    """The first instant after now at which the zone's clock shows a time for the first time on its day.

    >>> next_at(time(7), datetime(2026, 3, 28, 12, tzinfo=UTC), ZoneInfo("Europe/Berlin")).isoformat()
    '2026-03-29T05:00:00+00:00'
    """
    return min(instant for day in _days_around(now, zone) if (instant := _instant(day, clock, zone)) > now)


def end_of_quiet(now: datetime, begins: time, ends: time, zone: ZoneInfo) -> datetime | None:
    """When the quiet hours end that now lies in; None if it lies in none. They may go over midnight.

    >>> berlin = ZoneInfo("Europe/Berlin")
    >>> end_of_quiet(datetime(2026, 1, 1, 23, tzinfo=UTC), time(22), time(6, 30), berlin).isoformat()
    '2026-01-02T05:30:00+00:00'
    >>> end_of_quiet(datetime(2026, 1, 1, 12, tzinfo=UTC), time(22), time(6, 30), berlin)
    """
    clock = now.astimezone(zone).time()
    is_quiet = begins <= clock < ends if begins < ends else clock >= begins or clock < ends
    if begins == ends or not is_quiet:
        return None
    return min(
        instant
        for day in _days_around(now, zone)
        for fold in (0, 1)  # in the second of two equal hours the end may still come
        if (instant := _instant(day, ends, zone, fold)) > now and _exists(instant, ends, zone, fold)
    )


def start_of_day(now: datetime, zone: ZoneInfo) -> datetime:
    """The beginning of the day that it is in the zone.

    >>> start_of_day(datetime(2026, 1, 1, 12, tzinfo=UTC), ZoneInfo("Asia/Tokyo")).isoformat()
    '2025-12-31T15:00:00+00:00'
    """
    return _instant(now.astimezone(zone).date(), time(0), zone)


def next_attempt(now: datetime, attempts: int, *, wish: float | None = None) -> datetime | None:
    """When to try again what has failed so many times, not before the other side wishes (s); None if never.

    >>> now = datetime(2026, 1, 1, tzinfo=UTC)
    >>> next_attempt(now, 1) - now, next_attempt(now, 1, wish=90.0) - now, next_attempt(now, 7)
    (datetime.timedelta(seconds=60), datetime.timedelta(seconds=90), None)
    """
    delay = next_delay(attempts)
    if delay is None:
        return None
    wished = min(timedelta(seconds=min(wish or 0.0, MAX_WISH.total_seconds())), MAX_WISH)
    return now + max(delay, wished)


def _days_around(now: datetime, zone: ZoneInfo) -> list[date]:
    today = now.astimezone(zone).date()
    # Where a zone leaves out a day, as islands did that moved over the date line, the one after tomorrow is the next.
    return [today + timedelta(days=days) for days in range(-1, 4)]


def _instant(day: date, clock: time, zone: ZoneInfo, fold: int = 0) -> datetime:
    return datetime.combine(day, clock, zone).replace(fold=fold).astimezone(UTC)


def _exists(instant: datetime, clock: time, zone: ZoneInfo, fold: int) -> bool:
    """Whether the zone's clock shows the time then; the first reading of one in a gap is taken as it is."""
    return fold == 0 or instant.astimezone(zone).time() == clock
