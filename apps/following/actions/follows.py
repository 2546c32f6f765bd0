"""Follows: their beginning, folders and settings."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import OuterRef, Subquery
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.database.statements import execute
from apps.following import queries
from apps.following.actions.errors import NotPossible
from apps.following.actions.marking import settle
from apps.following.models import Folder, Follow
from apps.postings import queries as postings
from apps.postings.models import Posting
from apps.sources.models import Source

UNREAD_AT_FIRST = 20  # newest postings of a source that are unread to a new follower
UNREAD_AT_FIRST_FOR = timedelta(days=30)  # maximum age of these, if the source has fewer
MAX_FOLLOWS = 10_000  # of a user
CHOICES = {"view", "full_text", "images", "muted"}  # settings of a follow


@transaction.atomic
def follow(user: User, source_ids: Sequence[int], *, now: datetime, folder_ids: Collection[int] = ()) -> list[int]:
    """Follow sources and add them to folders; returns the ids of newly followed ones.

    Raises NotPossible if the user would follow too many sources; nothing is followed then.
    """
    known = set(queries.follows_of(user).filter(source_id__in=source_ids).values_list("source_id", flat=True))
    fresh = [source_id for source_id in dict.fromkeys(source_ids) if source_id not in known]
    if queries.follows_of(user).count() + len(fresh) > MAX_FOLLOWS:
        raise NotPossible(_("You can follow at most %(number)s feeds.") % {"number": f"{MAX_FOLLOWS:,}"})
    starts = _first_unread(fresh, now)
    Follow.objects.bulk_create(
        [Follow(user=user, source_id=source_id, unread_from=starts[source_id]) for source_id in fresh],
        ignore_conflicts=True,
        batch_size=1_000,
    )
    execute(_SKIP_OLDER, [fresh, user.pk, user.pk])
    mine = queries.folders_of(user).filter(pk__in=folder_ids).values_list("pk", flat=True)
    file_into(user, {source_id: list(mine) for source_id in source_ids})
    return fresh


def _first_unread(source_ids: Collection[int], now: datetime) -> dict[int, datetime]:
    twentieth = postings.newest(Posting.objects.filter(source=OuterRef("pk"))).values("published_at")
    starts = Source.objects.filter(pk__in=source_ids).values_list(
        "pk", Subquery(twentieth[UNREAD_AT_FIRST - 1 : UNREAD_AT_FIRST])
    )
    return {source_id: start or now - UNREAD_AT_FIRST_FOR for source_id, start in starts}


# Counting unread postings then skips what is older than the follow.
_SKIP_OLDER = """
UPDATE following_follow follow SET read_through = lowest - 1
FROM unnest(%s::bigint[]) wanted (source_id) CROSS JOIN LATERAL (
    SELECT min(posting.id) AS lowest
    FROM following_follow follow JOIN postings_posting posting USING (source_id)
    WHERE follow.user_id = %s AND source_id = wanted.source_id AND published_at >= unread_from
) first
WHERE follow.user_id = %s AND follow.source_id = wanted.source_id AND lowest IS NOT NULL AND read_through = 0
"""


def file_into(user: User, folders_by_source: dict[int, list[int]]) -> None:
    """Add follows to folders of the same user."""
    follows = queries.follows_of(user).filter(source_id__in=folders_by_source).values_list("source_id", "pk")
    link = Follow.folders.through
    link.objects.bulk_create(
        [
            link(follow_id=follow_id, folder_id=folder_id)
            for source_id, follow_id in follows
            for folder_id in folders_by_source[source_id]
        ],
        ignore_conflicts=True,
        batch_size=1_000,
    )


@transaction.atomic
def unfollow(user: User, source_id: int) -> bool:
    """Read states and stars of the source are kept, in case the user follows it again."""
    follows = queries.follows_of(user).filter(source_id=source_id)
    if not follows.exists():
        return False
    settle(user, source_id, newest=UNREAD_AT_FIRST)
    deleted, _ = follows.delete()
    return deleted > 0


@transaction.atomic
def edit_follow(follow: Follow, *, title: str, folders: Iterable[Folder], **choices: object) -> None:
    """Set the user's title, the folders and some of the settings in `CHOICES` of a follow."""
    if unknown := choices.keys() - CHOICES:
        raise TypeError(f"unknown settings of a follow: {', '.join(sorted(unknown))}")
    Follow.objects.filter(pk=follow.pk).update(title=title, **choices)
    follow.folders.set([folder for folder in folders if folder.user_id == follow.user_id])


def set_view(follow: Follow, view: str) -> None:
    Follow.objects.filter(pk=follow.pk).update(view=view)
