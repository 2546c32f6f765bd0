"""Searches for icons of sources: when they are due, and what they found."""

import random
from collections.abc import Collection
from datetime import datetime, timedelta
from hashlib import blake2b

from django.db import transaction

from apps.database.backoff import backoff
from apps.database.statements import execute
from apps.sources.models import Icon, Source

LEASE = timedelta(minutes=20)
FRESH_DAYS = (25.0, 35.0)  # spread, so that sources added together are not refreshed together
FIRST_RETRY, LONGEST_RETRY = timedelta(hours=6), timedelta(days=30)


@transaction.atomic
def begin_icon_searches(source_ids: Collection[int], *, now: datetime) -> list[Source]:
    """Claim those of the sources whose icons are to be looked for; not those that another worker has claimed."""
    waiting = Source.objects.filter(pk__in=source_ids, icon_due_at__lte=now).order_by("pk")
    claimed = list(waiting.select_for_update(skip_locked=True))
    Source.objects.filter(pk__in=[source.pk for source in claimed]).update(icon_due_at=now + LEASE)
    return claimed


@transaction.atomic
def finish_icon_search(source: Source, png: bytes, *, now: datetime) -> None:
    """Store the icon, and when to search again; without one, the source keeps that of an earlier search."""
    if png:
        digest = blake2b(png, digest_size=16).hexdigest()
        # Locks the icon, so that it is not pruned before the source refers to it.
        Icon.objects.bulk_create(
            [Icon(digest=digest, png=png)], update_conflicts=True, unique_fields=["digest"], update_fields=["png"]
        )
        wait, found = timedelta(days=random.uniform(*FRESH_DAYS)), {"icon_id": digest, "icon_failures": 0}
    else:
        failures = source.icon_failures + 1
        seconds = backoff(failures, FIRST_RETRY.total_seconds(), LONGEST_RETRY.total_seconds())
        wait, found = timedelta(seconds=seconds), {"icon_failures": failures}
    Source.objects.filter(pk=source.pk).update(icon_due_at=now + wait, **found)


def prune_icons() -> int:
    """Delete icons that no source has; returns how many there were."""
    return execute(
        "DELETE FROM sources_icon WHERE NOT EXISTS (SELECT FROM sources_source WHERE icon_id = sources_icon.digest)"
    )
