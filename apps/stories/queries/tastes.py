"""Users' tastes, and the features of postings for them."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from django.contrib.auth.models import AnonymousUser

from apps.accounts.models import User
from apps.database.statements import fetch, fetch_rows
from apps.following import queries as following
from apps.postings import queries as postings
from apps.postings.models import Posting
from apps.stories import models
from apps.stories.algorithms.features import features
from apps.stories.algorithms.taste import BESIDE, WORDS, Item, Taste, item
from apps.stories.queries.packing import unpacked_weights

SHORT = 600  # characters of a text whose terms are not stored


def is_learning(user: User | AnonymousUser) -> bool:
    """Whether a user's taste is learnt and used."""
    if not user.is_authenticated:
        return False
    return not models.Taste.objects.filter(user=user, is_on=False).exists()


_OPENING_TEACHES = """
SELECT NOT EXISTS (SELECT FROM stories_taste WHERE user_id = %(user)s AND NOT is_on) AND NOT EXISTS (
    SELECT FROM stories_reaction WHERE user_id = %(user)s AND posting_id = %(posting)s AND opened_at IS NOT NULL)
"""


def opening_teaches(user: User, posting_id: int) -> bool:
    """Whether opening a posting is learnt: only the first time, and if not switched off. One query."""
    [(teaches,)] = fetch(_OPENING_TEACHES, {"user": user.pk, "posting": posting_id})
    return bool(teaches)


def taste_of(user: User | AnonymousUser) -> Taste | None:
    """A user's taste; None if there is none, or it is switched off."""
    row = models.Taste.objects.filter(user=user, is_on=True).first() if user.is_authenticated else None
    return read_taste(row) if row is not None and row.weight else None


def read_taste(row: models.Taste) -> Taste:
    liked, disliked, centroid = (unpacked_weights(bytes(data)) for data in (row.liked, row.disliked, row.centroid))
    return Taste(liked, disliked, centroid, row.weight)


_ITEMS = """
SELECT posting.id, posting.source_id, source.category, coalesce(member.story_id, 0) AS story_id,
    coalesce(nullif(member.terms, ''), original.terms, '') AS terms,
    coalesce(nullif(posting.language, ''), source.language) AS language, posting.title,
    CASE WHEN coalesce(nullif(member.terms, ''), original.terms, '') = '' THEN left(text, %s) ELSE '' END AS text
FROM postings_posting posting JOIN sources_source source ON source.id = posting.source_id
LEFT JOIN stories_member member ON member.posting_id = posting.id
LEFT JOIN stories_member original ON original.posting_id = member.copy_of
WHERE posting.id = ANY(%s)
"""


def items_of(posting_ids: Collection[int]) -> dict[int, Item]:
    """The features of existing postings. One query."""
    return {row.id: _item(row) for row in fetch_rows(_ITEMS, [SHORT, list(posting_ids)])}


def _item(row: Any) -> Item:
    if row.terms:
        words = np.frombuffer(row.terms, "<i4")[:WORDS].astype(np.int32)
    else:
        found = features(row.title, row.text, row.language)
        words = found.terms[np.lexsort((found.terms, -found.emphasis))[:WORDS]]
    return item(words, source=row.source_id, category=row.category, story=row.story_id)


def passed_over(user: User, posting_id: int) -> list[int]:
    """The postings beside an opened one in the user's river that were neither opened, starred nor hidden."""
    opened = Posting.objects.filter(pk=posting_id).first()
    if opened is None:
        return []
    known = models.Reaction.objects.filter(user=user).exclude(opened_at=None, hidden_at=None).values("posting_id")
    river = following.postings_in(user, following.Scope("all")).exclude(pk__in=known)
    river = river.exclude(marks__in=user.marks.filter(starred_at__isnull=False))
    cursor = postings.cursor_of(opened)
    older = postings.newest(postings.before(river, cursor)).values_list("pk", flat=True)[:BESIDE]
    newer = postings.oldest(postings.after(river, cursor)).values_list("pk", flat=True)[:BESIDE]
    both = [pair for pairs in zip(_padded(newer), _padded(older), strict=True) for pair in pairs if pair is not None]
    return both[:BESIDE]


def _padded(ids: Any) -> Sequence[int | None]:
    found: list[int | None] = list(ids)
    return found + [None] * (BESIDE - len(found))
