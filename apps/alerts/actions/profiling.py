"""Profiles of sources, read from the index."""

from collections.abc import Sequence
from datetime import datetime

import numpy as np
from django.db import transaction

from apps.alerts.algorithms.relevance import HEAVIEST
from apps.alerts.models import Profile
from apps.alerts.queries import interest
from apps.retrieval.algorithms.cam.relevance import unit_vector

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
