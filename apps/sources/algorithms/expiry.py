"""What a source still shows although its time is over."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from apps.sources.formats.feed import ParsedEntry


def unexpired(entries: Sequence[ParsedEntry], days: int | None, at: datetime) -> tuple[ParsedEntry, ...]:
    """The entries that are not older than so many days at an instant, or do not say how old they are; None: all.

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
