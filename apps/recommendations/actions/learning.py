"""What many people's follows and reading say of sources."""

from datetime import datetime, timedelta

from django.db import transaction

from apps.database.locks import take
from apps.recommendations.algorithms.growth import Period, growth
from apps.recommendations.algorithms.likeness import neighbours
from apps.recommendations.models import Growth, Likeness
from apps.recommendations.queries import records

LEARNING = 0x5245_434F  # who may write likenesses and growth: one at a time
PERIOD = timedelta(days=7)


@transaction.atomic
def learn_likenesses() -> int | None:
    """Reckon anew which sources the same people follow; how many pairs there are. None if somebody else is at it."""
    if not take(LEARNING, wait=False):
        return None
    found = neighbours(*records.follows())
    rows = [
        Likeness(source_id=source, other_id=other, value=value, shared=shared)
        for source, other, value, shared in zip(*(column.tolist() for column in found), strict=True)
    ]
    Likeness.objects.all().delete()
    Likeness.objects.bulk_create(rows, batch_size=5_000)
    return len(rows)


@transaction.atomic
def measure_growth(*, now: datetime) -> int | None:
    """Reckon anew which sources rise, and fall; of how many something is known. None if somebody else is at it."""
    if not take(LEARNING, wait=False):
        return None
    counts = records.counts(now, PERIOD)
    recent = Period([each.followed for each in counts], [each.opened for each in counts])
    before = Period([each.followed_before for each in counts], [each.opened_before for each in counts])
    rows = [
        Growth(
            source_id=each.source_id,
            value=value,
            gained=each.followed,
            opened=each.opened,
            opened_before=each.opened_before,
        )
        for each, value in zip(counts, growth(recent, before).tolist(), strict=True)
    ]
    Growth.objects.all().delete()
    Growth.objects.bulk_create(rows, batch_size=5_000)
    return len(rows)
