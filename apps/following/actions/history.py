"""What people read of late."""

from collections.abc import Iterable
from datetime import datetime

from django.db import connection, transaction

from apps.accounts.models import User
from apps.following.models import Reading

MOST_REMEMBERED = 2_000  # postings that a person read lately


# What lies before the last so many is forgotten.
_FORGET_OLD = """
DELETE FROM following_reading WHERE user_id = %(user)s AND read_at < (
    SELECT read_at FROM following_reading WHERE user_id = %(user)s
    ORDER BY read_at DESC, posting_id DESC OFFSET %(most)s - 1 LIMIT 1)
"""


@transaction.atomic
def remember_read(user: User, posting_ids: Iterable[int], *, now: datetime) -> None:
    """Let postings stand in the history of what a person read, at its top."""
    Reading.objects.bulk_create(
        [Reading(user=user, posting_id=posting_id, read_at=now) for posting_id in sorted(set(posting_ids))],
        update_conflicts=True,
        unique_fields=["user", "posting"],
        update_fields=["read_at"],
    )
    with connection.cursor() as cursor:
        cursor.execute(_FORGET_OLD, {"user": user.pk, "most": MOST_REMEMBERED})


def clear_history(user: User) -> int:
    """Forget when the person read what; returns how many postings that were. They stay read."""
    deleted, _by_model = Reading.objects.filter(user=user).delete()
    return deleted
