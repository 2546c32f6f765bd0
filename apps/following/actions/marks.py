"""Marks of single postings."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from apps.accounts.models import User
from apps.following.models import Mark


def mark_read(user: User, posting_ids: Iterable[int], *, read: bool, now: datetime) -> None:
    mark_for_all([(user.pk, posting_id) for posting_id in posting_ids], now=now, read=read)


def star(user: User, posting_id: int, *, starred: bool, now: datetime) -> None:
    mark_for_all([(user.pk, posting_id)], now=now, starred_at=now if starred else None)


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
