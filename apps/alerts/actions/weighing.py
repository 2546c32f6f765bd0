"""Relevance of sources to saved searches, and the interest of sources that follows."""

from collections.abc import Sequence
from datetime import datetime

import numpy as np
from django.core.cache import cache
from django.db import transaction
from django.db.models import F
from redis import RedisError

from apps.alerts.actions.locks import WEIGHING
from apps.alerts.algorithms.interest import counted_importance, interests
from apps.alerts.algorithms.relevance import HEAVIEST, relevant_sources
from apps.alerts.models import PercolatorQuery, Profile, Relevance
from apps.alerts.queries import interest
from apps.database.advisory_locks import take
from apps.database.statements import execute
from apps.retrieval.algorithms.cam.relevance import unit_vector
from apps.sources import actions as sources

WEIGH_BATCH = 2_000  # searches in one transaction
RAISED_AGAIN_AFTER = 600  # s, without a changed search: postings, followers and weights change slowly


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
    source_ids = sorted(profiles)
    of_search, of_source, values = relevant_sources(
        [profiles[id] for id in source_ids], [vectors[id] for id in saved_ids]
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


def begin_raising() -> bool:
    """Whether interests are to be raised without a changed search: not lately, or not for the plan's present share."""
    try:
        return bool(cache.add(_raised(), True, RAISED_AGAIN_AFTER))
    except RedisError:
        return True


def raise_soon() -> None:
    """Have interests raised within a minute of this transaction, which deletes searches."""
    transaction.on_commit(lambda: cache.delete(_raised()), robust=True)


def _raised() -> str:
    return f"alerts.raised:{interest.max_share()}"


@transaction.atomic
def raise_interests() -> int | None:
    """Store the interest of sources from all searches; how many changed, None if another worker holds the lock.

    A source that no search needs gets 1 again.
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
    return sources.editing.set_interests(dict(zip(source_ids, factors.tolist(), strict=True)))


_COUNT = """
UPDATE alerts_percolatorquery query SET counted = coalesce(search.counted, 0)
FROM alerts_percolatorquery other
LEFT JOIN unnest(%s::bigint[], %s::float8[]) search (saved_id, counted) USING (saved_id)
WHERE other.saved_id = query.saved_id AND query.counted <> coalesce(search.counted, 0)
"""


# --- profiles of sources, read from the index -------------------------------------------------------------------------
PROFILE_BATCH = 50  # sources in one transaction: some thousand documents


def profile_sources(source_ids: Sequence[int] | None = None, *, now: datetime) -> int:
    """Update the profiles of sources, by default all that are retrieved; returns how many. Safe to kill."""
    wanted = sorted(interest.retrieved_sources() if source_ids is None else source_ids)
    documents = interest.documents_indexed()
    batches = (wanted[start : start + PROFILE_BATCH] for start in range(0, len(wanted), PROFILE_BATCH))
    return sum(_profile(batch, documents, now) for batch in batches)


@transaction.atomic
def _profile(source_ids: Sequence[int], documents: int, now: datetime) -> int:
    read = interest.terms_written(source_ids)
    frequencies = interest.frequencies([terms for terms, _ in read.values()])
    profiles = []
    for source_id, (occurring, count) in read.items():
        terms, counts = np.unique(occurring, return_counts=True)
        known = np.array([frequencies.get(term, 0) for term in terms.tolist()], np.int64)
        heaviest, weights = unit_vector(terms, counts, known, documents, most=HEAVIEST)
        packed = {"terms": heaviest.astype("<i4").tobytes(), "weights": weights.astype("<f4").tobytes()}
        profiles.append(Profile(source_id=source_id, documents=count, read_at=now, **packed))
    Profile.objects.bulk_create(
        profiles,
        update_conflicts=True,
        unique_fields=["source"],
        update_fields=["documents", "terms", "weights", "read_at"],
    )
    return len(profiles)
