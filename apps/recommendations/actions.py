"""The only writers of recommendations. Each does a bounded amount of work and is idempotent."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

import numpy as np
from django.db import transaction

from apps.accounts.models import User
from apps.database.advisory_locks import take
from apps.following import queries as following
from apps.recommendations import queries
from apps.recommendations.algorithms.growth import growth
from apps.recommendations.algorithms.likeness import neighbours
from apps.recommendations.algorithms.sketches import Library, sketch
from apps.recommendations.models import Dismissal, Growth, Likeness, Match, Matched, Sketch
from apps.stories.algorithms.taste import Taste
from apps.stories.queries import tastes
from apps.stories.queries.for_you import explaining_words

LEARNING = 0x5245_434F  # advisory lock of likenesses and growth
PERIOD = timedelta(days=7)
SKETCH_BATCH = 100  # sources: some three thousand postings
MATCH_BATCH = 50  # people
MAX_MATCHES = 12  # of a person
MAX_WORDS = 3
MAX_WORD_LENGTH = 60  # characters
MIN_LIKENESS = 0.05

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
    model._default_manager.all().delete()
    model._default_manager.bulk_create(rows, batch_size=5_000)
    return len(rows)


@transaction.atomic
def sketch_sources(*, now: datetime) -> int:
    """Sketch sources from their newest postings, those first whose sketch is oldest; returns how many."""
    wanted = queries.unsketched(now, SKETCH_BATCH)
    newest = queries.newest_of(wanted)
    items = tastes.items_of([posting_id for posting_ids in newest.values() for posting_id in posting_ids])
    rows = []
    for source_id in wanted:
        found = sketch([items[id].terms for id in newest.get(source_id, ()) if id in items])
        rows.append(
            Sketch(
                source_id=source_id,
                terms=found.terms.astype("<i4").tobytes(),
                counts=found.shares.astype("<f4").tobytes(),
                read_at=now,
            )
        )
    Sketch.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["source"], update_fields=["terms", "counts", "read_at"]
    )
    return len(rows)


def match_people(*, now: datetime) -> int:
    """Match users, whose matches are a day old, with sources that fit their reading; returns how many."""
    people = queries.unmatched(now, MATCH_BATCH)
    if people:
        library = Library(queries.sketches())
        for person in people:
            _match(person, library, now)
    return len(people)


@transaction.atomic
def _match(user: User, library: Library, now: datetime) -> None:
    taste = tastes.taste_of(user)
    Match.objects.filter(user=user).delete()
    if taste is not None:
        found = _alike(user, taste, library)
        texts = queries.texts_of(found)
        words = {source_id: _words(taste, texts.get(source_id, ())) for source_id in found}
        matches = [
            Match(user=user, source_id=source_id, value=value, words=words[source_id])
            for source_id, value in found.items()
            if words[source_id]  # no recommendation without an explanation
        ]
        Match.objects.bulk_create(matches, ignore_conflicts=True)
    Matched.objects.update_or_create(user=user, defaults={"at": now})


def _alike(user: User, taste: Taste, library: Library) -> Mapping[int, float]:
    followed = set(following.follows_of(user).values_list("source_id", flat=True))
    likenesses = library.likenesses(taste.centroid)
    new = [(value, -id) for id, value in likenesses.items() if id not in followed and value >= MIN_LIKENESS]
    return {-id: value for value, id in sorted(new, reverse=True)[:MAX_MATCHES]}


def _words(taste: Taste, texts: Sequence[tuple[str, str]]) -> list[str]:
    """The words that speak most for a source's newest postings, the most frequent first."""
    counts = Counter(word for text, language in texts for word in explaining_words(taste, text, language))
    return [word[:MAX_WORD_LENGTH] for word, _ in counts.most_common(MAX_WORDS)]
