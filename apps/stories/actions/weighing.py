"""The authority of sources, from the postings of the last four weeks."""

from dataclasses import asdict
from datetime import datetime

from django.db import transaction

from apps.stories.algorithms.authority import authorities
from apps.stories.models import Authority
from apps.stories.queries.records import records


@transaction.atomic
def weigh_sources(*, now: datetime) -> int:
    """Recompute the authority of all sources; returns how many have one."""
    found = records(now)
    rows = [
        Authority(source_id=source_id, reports=found[source_id].reports, computed_at=now, **asdict(authority))
        for source_id, authority in authorities(found).items()
    ]
    Authority.objects.exclude(source_id__in=found).delete()
    Authority.objects.bulk_create(
        rows,
        batch_size=1_000,
        update_conflicts=True,
        unique_fields=["source"],
        update_fields=[field.name for field in Authority._meta.fields if not field.primary_key],
    )
    return len(rows)
