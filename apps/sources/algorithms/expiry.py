"""Expired entries that a source still lists."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from apps.sources.formats.feed import ParsedEntry


def unexpired(entries: Sequence[ParsedEntry], days: int | None, at: datetime) -> tuple[ParsedEntry, ...]:
    """The entries that are at most `days` old at a time, or without a date; all if `days` is None.

    >>> from datetime import UTC
    >>> old, new = ParsedEntry(published=datetime(2026, 1, 1, tzinfo=UTC)), ParsedEntry(title="No date")
    >>> unexpired([old, new], 7, datetime(2026, 1, 9, tzinfo=UTC)) == (new,)
    True
    """
    if days is None:
        return tuple(entries)
    earliest = at - timedelta(days=days)
    dates = ((entry, entry.published or entry.updated) for entry in entries)
    return tuple(entry for entry, date in dates if date is None or date >= earliest)
