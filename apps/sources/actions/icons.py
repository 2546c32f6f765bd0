"""When the icons of sources are looked for, and what is found."""

import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import blake2b

from django.db import transaction

from apps.database.backoff import backoff
from apps.database.statements import execute, query_as
from apps.sources.models import Icon, Source

LEASE = timedelta(minutes=5)  # longer than a search takes
FRESH_DAYS = (25.0, 35.0)  # spread, so that sources added together are not refreshed together
FIRST_RETRY, LONGEST_RETRY = timedelta(hours=6), timedelta(days=30)

_BEGIN = """
UPDATE sources_source SET icon_due_at = %(until)s WHERE id = %(source)s AND icon_due_at <= %(now)s
RETURNING id AS source_id, url, site_url, image_url, icon_failures AS failures
"""


@dataclass(frozen=True, slots=True)
class IconSearch:
    source_id: int
    url: str
    site_url: str
    image_url: str
    failures: int  # searches in a row without an icon


def begin_icon_search(source_id: int, *, now: datetime) -> IconSearch | None:
    """Claim the search for a source's icon; None if it is not due, or claimed by another worker."""
    values = {"source": source_id, "now": now, "until": now + LEASE}
    return next(iter(query_as(IconSearch, _BEGIN, values)), None)


@transaction.atomic
def finish_icon_search(search: IconSearch, png: bytes, *, now: datetime) -> None:
    """Store the icon, and when to search again; without one, the source keeps that of an earlier search."""
    if png:
        digest = blake2b(png, digest_size=16).hexdigest()
        # Locks the icon, so that it is not pruned before the source refers to it.
        Icon.objects.bulk_create(
            [Icon(digest=digest, png=png)], update_conflicts=True, unique_fields=["digest"], update_fields=["png"]
        )
        due_at = now + timedelta(days=random.uniform(*FRESH_DAYS))
        found = {"icon_id": digest, "icon_due_at": due_at, "icon_failures": 0}
    else:
        failures = search.failures + 1
        seconds = backoff(failures, FIRST_RETRY.total_seconds(), LONGEST_RETRY.total_seconds())
        found = {"icon_due_at": now + timedelta(seconds=seconds), "icon_failures": failures}
    Source.objects.filter(pk=search.source_id).update(**found)


def prune_icons() -> int:
    """Delete icons that no source has; returns how many there were."""
    return execute(
        "DELETE FROM sources_icon WHERE NOT EXISTS (SELECT FROM sources_source WHERE icon_id = sources_icon.digest)"
    )
