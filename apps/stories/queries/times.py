"""The time unit of grouping."""

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def hours_of(moment: datetime) -> float:
    """Hours since 1970.

    >>> hours_of(datetime(1970, 1, 2, 12, 30, tzinfo=UTC))
    36.5
    """
    return (moment - EPOCH) / timedelta(hours=1)
