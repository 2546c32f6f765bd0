"""Marks made by programs, with the same effects as on pages. Each is one transaction."""

from collections.abc import Collection, Sequence
from datetime import datetime

from django.db import transaction

from apps.accounts.models import User
from apps.api.queries.feeds import own_ids
from apps.following import actions as following
from apps.following import queries as following_queries
from apps.stories import actions as stories


@transaction.atomic
def mark(user: User, posting_ids: Collection[int], *, read: bool, now: datetime) -> None:
    """Mark the user's postings among these. A single one was opened, and is added to the history."""
    ids = own_ids(user, posting_ids)
    following.marks.mark_read(user, ids, read=read, now=now)
    if read and len(ids) == 1:
        following.marks.remember_read(user, ids, now=now)


@transaction.atomic
def star_all(user: User, posting_ids: Collection[int], *, starred: bool, now: datetime) -> None:
    """Star or unstar readable postings, and let personal ranking learn from it."""
    following.marks.mark_for_all([(user.pk, id) for id in posting_ids], now=now, starred_at=now if starred else None)
    stories.learning.note_all_starred(user, posting_ids, now=now)


@transaction.atomic
def star(user: User, posting_id: int, *, starred: bool, now: datetime) -> bool:
    """Star or unstar a posting; False if it is not the user's."""
    if not own_ids(user, [posting_id]):
        return False
    star_all(user, [posting_id], starred=starred, now=now)
    return True


# --- several postings at once -----------------------------------------------------------------------------------------
@transaction.atomic
def mark_and_tag(
    user: User,
    posting_ids: Collection[int],
    *,
    read: bool | None = None,
    starred: bool | None = None,
    add_tags: Sequence[str] = (),
    remove_tags: Sequence[str] = (),
    now: datetime,
) -> list[int]:
    """Mark the readable ones of the postings; returns their ids. Raises NotPossible for an invalid tag."""
    ids = list(following_queries.readable_by(user).filter(pk__in=posting_ids).values_list("pk", flat=True))
    if not ids:
        return []
    for name in remove_tags:
        following.marks.untag(user, ids, name)
    for name in add_tags:
        following.marks.tag(user, ids, name, now)
    if starred is not None:
        star_all(user, ids, starred=starred, now=now)
    if read is not None:
        following.marks.mark_read(user, ids, read=read, now=now)
        if read:
            following.marks.remember_read(user, ids, now=now)
    return sorted(ids)
