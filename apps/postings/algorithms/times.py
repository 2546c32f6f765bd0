"""Times as numbers."""

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def microseconds(moment: datetime) -> int:
    """Since 1970.

    >>> microseconds(datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC))
    1000000
    """
    return (moment - EPOCH) // _MICROSECOND


def moment_of(microseconds: int) -> datetime:
    """The inverse; raises OverflowError for a year of more than four digits.

    >>> moment_of(1_000_000).isoformat()
    '1970-01-01T00:00:01+00:00'
    """
    return EPOCH + microseconds * _MICROSECOND
