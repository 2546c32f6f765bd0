"""What a program changes for a person that concerns more than one app. Each is one transaction."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from apps.accounts.models import User
from apps.api.actions.marking import star_all
from apps.following import actions as following
from apps.following import queries as following_queries


@dataclass(frozen=True, slots=True)
class Marks:
    """What is to become of postings; what is None stays as it is."""

    read: bool | None = None
    starred: bool | None = None
    add_tags: Sequence[str] = ()
    remove_tags: Sequence[str] = ()


@transaction.atomic
def mark(user: User, posting_ids: Collection[int], marks: Marks, *, now: datetime) -> list[int]:
    """Mark postings, as far as the person may read them; the ids of these.

    Raises NotPossible if a tag cannot be; nothing is marked then.
    """
    ids = list(following_queries.readable_by(user).filter(pk__in=posting_ids).values_list("pk", flat=True))
    if not ids:
        return []
    for name in marks.remove_tags:
        following.untag(user, ids, name)
    for name in marks.add_tags:
        following.tag(user, ids, name, now)
    if marks.starred is not None:
        star_all(user, ids, starred=marks.starred, now=now)
    if marks.read is not None:
        following.mark_read(user, ids, read=marks.read, now=now)
        if marks.read:
            following.remember_read(user, ids, now=now)
    return sorted(ids)
