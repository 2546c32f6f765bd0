"""Relevance of sources to saved searches, and the interest of sources that follows."""

from datetime import datetime

import numpy as np
from django.db import transaction
from django.db.models import F

from apps.alerts.actions.locks import WEIGHING
from apps.alerts.actions.profiling import profile_sources
from apps.alerts.algorithms.interest import counted_importance, interests
from apps.alerts.algorithms.relevance import relevant_sources
from apps.alerts.models import PercolatorQuery, Relevance
from apps.alerts.queries import interest
from apps.database.advisory_locks import take
from apps.database.statements import execute
from apps.retrieval.algorithms.cam.relevance import matrix
from apps.sources import actions as sources

WEIGH_BATCH = 2_000  # searches in one transaction


@transaction.atomic
def weigh(limit: int = WEIGH_BATCH) -> int | None:
    """Find relevant sources for changed searches; how many searches, None if another worker holds the lock."""
    if not take(WEIGHING, wait=False):
        return None
    waiting = PercolatorQuery.objects.filter(refusal="").exclude(weighed=F("query")).exclude(query="").order_by("pk")
    queries = dict(waiting.values_list("pk", "query")[:limit])
    if queries:
        _weigh(queries)
    return len(queries)


def _weigh(queries: dict[int, str]) -> None:
    vectors = interest.vectors_of(queries)
    saved_ids = sorted(vectors)
    profiles = interest.profiles()
    size = 1 + max((int(terms.max()) for terms, _ in [*vectors.values(), *profiles.values()] if terms.size), default=0)
    source_ids = sorted(profiles)
    of_search, of_source, values = relevant_sources(
        matrix([profiles[id] for id in source_ids], size), matrix([vectors[id] for id in saved_ids], size)
    )
    Relevance.objects.filter(saved_id__in=list(queries)).delete()
    found = zip(of_search.tolist(), of_source.tolist(), values.tolist(), strict=True)
    Relevance.objects.bulk_create(
        [Relevance(saved_id=saved_ids[row], source_id=source_ids[column], value=value) for row, column, value in found],
        batch_size=5_000,
    )
    PercolatorQuery.objects.filter(pk__in=list(queries)).update(weighed=F("query"))


def weigh_all(*, now: datetime) -> None:
    """Update the profiles of all sources and mark every search for weighing."""
    profile_sources(now=now)
    PercolatorQuery.objects.exclude(weighed="").update(weighed="")


@transaction.atomic
def raise_interests() -> int | None:
    """Store the interest of sources from all searches; how many changed, None if another worker holds the lock.

    A source that no search needs any more gets 1 again.
    """
    if not take(WEIGHING, wait=False):
        return None
    searches = interest.importances()
    owners = np.array([search.user_id for search in searches], np.int64)
    counted = counted_importance(np.array([search.importance for search in searches]), owners)
    execute(_COUNT, [[search.saved_id for search in searches], counted.tolist()])
    weights, claims = interest.weights(), interest.claims()
    source_ids = sorted(claims)
    factors = interests(
        np.array([weights.get(id, 0.0) for id in source_ids]),
        np.array([claims[id] for id in source_ids]),
        interest.max_share(),
    )
    return sources.set_interests(dict(zip(source_ids, factors.tolist(), strict=True)))


_COUNT = """
UPDATE alerts_percolatorquery query SET counted = coalesce(search.counted, 0)
FROM alerts_percolatorquery other
LEFT JOIN unnest(%s::bigint[], %s::float8[]) search (saved_id, counted) USING (saved_id)
WHERE other.saved_id = query.saved_id AND query.counted <> coalesce(search.counted, 0)
"""
