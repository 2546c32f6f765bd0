"""Times of notifications in a user's zone: digests, quiet hours, days of limits; and delays of retries.

Datetimes are aware; clock times are those of the zone, with daylight saving. A time that a day of a zone lacks has the
offset before the gap; of a time that occurs twice, the first counts (RFC 5545).
"""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from apps.database.backoff import DELIVERY_DELAYS, next_delay

MAX_ATTEMPTS = len(DELIVERY_DELAYS) + 1
MAX_RETRY_AFTER = timedelta(days=1)


def next_hour(now: datetime, zone: ZoneInfo) -> datetime:
    """The next full hour of the zone's clock.

    >>> next_hour(datetime(2026, 1, 1, 12, 10, tzinfo=UTC), ZoneInfo("Asia/Kolkata")).isoformat()
    '2026-01-01T12:30:00+00:00'
    """
    local = now.astimezone(zone)
    passed = timedelta(minutes=local.minute, seconds=local.second, microseconds=local.microsecond)
    return now.astimezone(UTC) + timedelta(hours=1) - passed


def next_at(clock: time, now: datetime, zone: ZoneInfo) -> datetime:
    """The first time after now at which the zone's clock shows a time for the first time on its day.

    >>> next_at(time(7), datetime(2026, 3, 28, 12, tzinfo=UTC), ZoneInfo("Europe/Berlin")).isoformat()
    '2026-03-29T05:00:00+00:00'
    """
    return min(moment for day in _days_around(now, zone) if (moment := _utc(day, clock, zone)) > now)


def end_of_quiet(now: datetime, begins: time, ends: time, zone: ZoneInfo) -> datetime | None:
    """The end of the quiet hours, which may span midnight; None outside of them.

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
        moment
        for day in _days_around(now, zone)
        for fold in (0, 1)  # the end may be in the second of two equal hours
        if (moment := _utc(day, ends, zone, fold)) > now and (fold == 0 or moment.astimezone(zone).time() == ends)
    )


def start_of_day(now: datetime, zone: ZoneInfo) -> datetime:
    """The beginning of the present day in the zone.

    >>> start_of_day(datetime(2026, 1, 1, 12, tzinfo=UTC), ZoneInfo("Asia/Tokyo")).isoformat()
    '2025-12-31T15:00:00+00:00'
    """
    return _utc(now.astimezone(zone).date(), time(0), zone)


def next_attempt(now: datetime, attempts: int, *, retry_after: float | None = None) -> datetime | None:
    """The time of the next attempt, not before the receiver's `retry_after` (s); None after the last.

    >>> now = datetime(2026, 1, 1, tzinfo=UTC)
    >>> next_attempt(now, 1) - now, next_attempt(now, 1, retry_after=90.0) - now, next_attempt(now, 7)
    (datetime.timedelta(seconds=60), datetime.timedelta(seconds=90), None)
    """
    delay = next_delay(attempts)
    if delay is None:
        return None
    return now + max(delay, timedelta(seconds=min(retry_after or 0.0, MAX_RETRY_AFTER.total_seconds())))


def _days_around(now: datetime, zone: ZoneInfo) -> list[date]:
    today = now.astimezone(zone).date()
    # A zone may skip a day, as islands did that moved across the date line: the day after tomorrow is next then.
    return [today + timedelta(days=days) for days in range(-1, 4)]


def _utc(day: date, clock: time, zone: ZoneInfo, fold: int = 0) -> datetime:
    return datetime.combine(day, clock, zone).replace(fold=fold).astimezone(UTC)
