"""The time unit of grouping."""

from datetime import datetime, timedelta

from apps.postings.algorithms.times import EPOCH


def hours_of(moment: datetime) -> float:
    """Hours since 1970.

    >>> hours_of(EPOCH + timedelta(hours=36.5))
    36.5
    """
    return (moment - EPOCH) / timedelta(hours=1)
