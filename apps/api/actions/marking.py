"""Marks made by programs, with the same effects as on pages. Each is one transaction."""

from collections.abc import Collection
from datetime import datetime

from django.db import transaction

from apps.accounts.models import User
from apps.api.queries.feeds import own_ids
from apps.following import actions as following
from apps.following.models import Mark
from apps.stories import actions as stories


@transaction.atomic
def mark(user: User, posting_ids: Collection[int], *, read: bool, now: datetime) -> None:
    """Mark the user's postings among these. A single one was opened, and is added to the history."""
    ids = own_ids(user, posting_ids)
    following.mark_read(user, ids, read=read, now=now)
    if read and len(ids) == 1:
        following.remember_read(user, ids, now=now)


@transaction.atomic
def star_all(user: User, posting_ids: Collection[int], *, starred: bool, now: datetime) -> None:
    """Star or unstar readable postings, and let personal ranking learn from it."""
    following.mark_for_all([(user.pk, id) for id in posting_ids], now=now, starred_at=now if starred else None)
    stories.note_all_starred(user, posting_ids, now=now)


@transaction.atomic
def star(user: User, posting_id: int, *, starred: bool, now: datetime) -> bool:
    """Star or unstar a posting; False if it is not the user's."""
    if not own_ids(user, [posting_id]):
        return False
    star_all(user, [posting_id], starred=starred, now=now)
    return True


@transaction.atomic
def toggle_star(user: User, posting_id: int, *, now: datetime) -> bool:
    """Star a posting, or unstar a starred one; False if it is not the user's."""
    marks = Mark.objects.select_for_update().filter(user=user, posting=posting_id)
    is_starred = any(marks.values_list("starred_at", flat=True))
    return star(user, posting_id, starred=not is_starred, now=now)
