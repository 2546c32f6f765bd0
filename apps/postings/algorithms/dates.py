"""The date under which a posting is listed."""

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)  # earlier dates are unset clocks: 0001, 1904, 1970, 1980
TOLERANCE = timedelta(minutes=10)  # for clocks that are fast


class EffectiveDate(NamedTuple):
    at: datetime  # never later than the retrieval
    trusted: bool  # the publisher's own date, from which posting rates may be learned


def effective(claimed: datetime | None, *, received: datetime, position: int) -> EffectiveDate:
    """The publisher's date where it can be true, else the time of the retrieval.

    Parameters
    ----------
    claimed : datetime, aware, or None
        What the publisher says. A date ahead of the retrieval by at most 10 minutes is the retrieval's time, yet
        trusted; one further ahead, or before 1990, is not.
    received : datetime, aware
        When the document's bytes reached us.
    position : int, >= 0
        The entry's place in its document. Each place takes a microsecond off, so that entries without a date of
        their own are listed in the document's order.

    Raises
    ------
    ValueError
        If a date is naive or the position negative.

    Examples
    --------
    >>> noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    >>> effective(datetime(2026, 3, 1, 11, tzinfo=UTC), received=noon, position=4)
    EffectiveDate(at=datetime.datetime(2026, 3, 1, 11, 0, tzinfo=datetime.timezone.utc), trusted=True)
    >>> effective(datetime(2038, 1, 19, tzinfo=UTC), received=noon, position=4)
    EffectiveDate(at=datetime.datetime(2026, 3, 1, 11, 59, 59, 999996, tzinfo=datetime.timezone.utc), trusted=False)
    """
    for name, moment in (("claimed", claimed), ("received", received)):
        if moment is not None and moment.utcoffset() is None:
            raise ValueError(f"{name} must have a time zone, not {moment!r}")
    if position < 0:
        raise ValueError(f"position must not be negative, not {position}")
    in_order = received - timedelta(microseconds=position)
    if claimed is None or not EARLIEST <= claimed <= received + TOLERANCE:
        return EffectiveDate(in_order, trusted=False)
    return EffectiveDate(claimed if claimed <= received else in_order, trusted=True)


def written_offset(claimed: datetime | None) -> int | None:
    """Minutes that the publisher's local time is ahead of UTC, by the written date; None if unknown.

    Publishing systems write UTC in any time zone, so an offset of 0 does not count.

    >>> written_offset(datetime.fromisoformat("2026-03-01T12:00:00-05:00")), written_offset(datetime.now(UTC))
    (-300, None)
    """
    offset = None if claimed is None else claimed.utcoffset()
    return offset // timedelta(minutes=1) if offset else None
