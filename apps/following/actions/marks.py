"""Marks of single postings."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from apps.accounts.models import User
from apps.database.statements import execute
from apps.following import queries
from apps.following.models import Mark
from apps.following.queries.copies import MARKED_COPIES
from apps.postings.models import Posting

# In one order, so that two concurrent statements wait instead of deadlocking.
_MARK = f"""
INSERT INTO following_mark (user_id, posting_id, read, changed_at, read_changed_at)
SELECT %(user)s, id, %(read)s, %(now)s, %(now)s
FROM (SELECT unnest(%(ids)s::bigint[]) AS id UNION ({MARKED_COPIES})) marked ORDER BY id
ON CONFLICT (user_id, posting_id) DO UPDATE SET read = excluded.read, marked_all = NULL,
    changed_at = excluded.changed_at, read_changed_at = excluded.read_changed_at
"""


def mark_read(user: User, posting_ids: Iterable[int], *, read: bool, now: datetime) -> None:
    """Mark postings and their copies in feeds that the user follows; those that come later follow the copies."""
    if ids := sorted(set(posting_ids)):
        execute(_MARK, {"user": user.pk, "ids": ids, "read": read, "now": now})


def star(user: User, posting_id: int, *, starred: bool, now: datetime) -> list[int]:
    """Star a posting, or unstar it; returns what changed.

    Where lists show one row per article, it has the stars of all copies: taking it off takes off all.
    """
    ids = [posting_id]
    if not starred and queries.folds(user):
        copies = Posting.objects.filter(pk=posting_id, first_copy__isnull=False).values("first_copy")
        ids += queries.stars_of(user).filter(posting__first_copy__in=copies).values_list("posting_id", flat=True)
    mark_for_all([(user.pk, id) for id in ids], now=now, starred_at=now if starred else None)
    return ids


_CHANGED_AT = {"read": "read_changed_at", "starred_at": "star_changed_at"}


def mark_for_all(pairs: Iterable[tuple[int, int]], *, now: datetime, **values: Any) -> None:
    """Mark postings for many users at once; pairs contain the ids of user and posting."""
    values |= {changed_at: now for field, changed_at in _CHANGED_AT.items() if field in values}
    if "read" in values:
        values["marked_all"] = None  # the undo of a list no longer changes these postings
    # In one order, so that two concurrent statements wait instead of deadlocking.
    Mark.objects.bulk_create(
        [
            Mark(user_id=user_id, posting_id=posting_id, changed_at=now, **values)
            for user_id, posting_id in sorted(set(pairs))
        ],
        update_conflicts=True,
        unique_fields=["user", "posting"],
        update_fields=[*values, "changed_at"],
    )
