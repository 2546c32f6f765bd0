"""The only writers of recommendations. Each does a bounded amount of work and is idempotent."""

from datetime import datetime, timedelta
from typing import TypeVar

import numpy as np
from django.db import transaction

from apps.accounts.models import User
from apps.database.advisory_locks import take
from apps.recommendations import queries
from apps.recommendations.algorithms.likelihood import growth
from apps.recommendations.algorithms.likeness import neighbours
from apps.recommendations.models import Dismissal, Growth, Likeness

LEARNING = 0x5245_434F  # advisory lock of likenesses and growth
PERIOD = timedelta(days=7)

Row = TypeVar("Row", Likeness, Growth)


def dismiss(user: User, source_id: int, *, now: datetime) -> None:
    """Do not recommend the source to this user again."""
    Dismissal.objects.bulk_create([Dismissal(user=user, source_id=source_id, at=now)], ignore_conflicts=True)


@transaction.atomic
def learn_likenesses() -> int | None:
    """Recompute which sources share followers; the number of pairs, None if another process does so."""
    if not take(LEARNING, wait=False):
        return None
    found = neighbours(*queries.follows())
    rows = [
        Likeness(source_id=source, other_id=other, value=value, shared=shared)
        for source, other, value, shared in zip(*(column.tolist() for column in found), strict=True)
    ]
    return _replace(Likeness, rows)


@transaction.atomic
def measure_growth(*, now: datetime) -> int | None:
    """Recompute which sources rise and fall; the number of sources, None if another process does so."""
    if not take(LEARNING, wait=False):
        return None
    counts = queries.counts(now, PERIOD)
    _, *amounts = np.array(counts, np.int64).reshape(-1, 5).T
    rows = [
        Growth(source_id=each.source_id, value=value, gained=each.followed, opened=each.opened)
        for each, value in zip(counts, growth(*amounts).tolist(), strict=True)
    ]
    return _replace(Growth, rows)


def _replace(model: type[Row], rows: list[Row]) -> int:
    """Make these rows the only ones of a table; only those that differ are written."""
    columns = [field.attname for field in model._meta.concrete_fields if field.attname != "id"]
    stored, wanted = (
        {tuple(getattr(row, name) for name in columns): row for row in some}
        for some in (model._default_manager.iterator(), rows)
    )
    gone = [row.pk for values, row in stored.items() if values not in wanted]
    model._default_manager.filter(pk__in=gone).delete()
    new = [row for values, row in wanted.items() if values not in stored]
    model._default_manager.bulk_create(new, batch_size=5_000)
    return len(rows)
