"""Begins of hours, days and months in UTC."""

from collections.abc import Iterator
from datetime import datetime, timedelta

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def start_of(moment: datetime, step: str) -> datetime:
    """The begin of the hour, day or month of a time.

    >>> start_of(datetime(2024, 2, 29, 12, 5), "hour"), start_of(datetime(2024, 2, 29, 12), "month")
    (datetime.datetime(2024, 2, 29, 12, 0), datetime.datetime(2024, 2, 1, 0, 0))
    """
    hour = moment.replace(minute=0, second=0, microsecond=0)
    if step == "hour":
        return hour
    day = hour.replace(hour=0)
    return day if step == "day" else day.replace(day=1)


def later(begin: datetime, step: str, steps: int) -> datetime:
    """The begin of the step that is some steps later, or earlier if negative.

    >>> later(datetime(2024, 2, 1), "month", -2), later(datetime(2024, 2, 29), "day", 1)
    (datetime.datetime(2023, 12, 1, 0, 0), datetime.datetime(2024, 3, 1, 0, 0))
    """
    if step == "hour":
        return begin + steps * HOUR
    if step == "day":
        return begin + steps * DAY
    months = begin.year * 12 + begin.month - 1 + steps
    return begin.replace(year=months // 12, month=months % 12 + 1)


def begins(first: datetime, step: str, count: int) -> Iterator[datetime]:
    return (later(first, step, number) for number in range(count))
