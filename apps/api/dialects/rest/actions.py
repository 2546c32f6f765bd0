"""Changes that concern more than one app."""

from collections.abc import Collection, Sequence
from datetime import datetime

from django.db import transaction

from apps.accounts.models import User
from apps.api.actions.marking import star_all
from apps.following import actions as following
from apps.following import queries as following_queries


@transaction.atomic
def mark(
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
        following.untag(user, ids, name)
    for name in add_tags:
        following.tag(user, ids, name, now)
    if starred is not None:
        star_all(user, ids, starred=starred, now=now)
    if read is not None:
        following.mark_read(user, ids, read=read, now=now)
        if read:
            following.remember_read(user, ids, now=now)
    return sorted(ids)
