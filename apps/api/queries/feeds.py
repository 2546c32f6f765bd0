"""Follows for dialects with one level of folders: each feed is in one category.

A source can be in several nested folders, or in none. Its category is the first of its folders in display order, and is
titled with the folder's path; without a folder it is `ALL`. The id of a category is that of its folder plus one, so
that none has the id of `ALL`.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from django.db.models import BooleanField, Case, Exists, F, FilteredRelation, OuterRef, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce, Lower

from apps.accounts.models import User
from apps.api.formats.schemas import Category, Feed
from apps.database.statements import MAX_ID, fetch
from apps.following import queries as following
from apps.following.models import UNSORTED, Folder, Follow
from apps.following.queries import Scope
from apps.postings import queries as postings
from apps.postings.models import Posting
from apps.sources.models import Source

ALL = Category(1, "All")
PATH = " / "  # between the names of folders


def category_id_of(folder_id: int) -> int:
    return folder_id + 1


def categories(user: User) -> list[Category]:
    """`ALL` first, then the folders in display order. One query."""
    folders = list(following.folders_of(user))
    paths = following.folder_paths(folders)
    shown = [Category(category_id_of(id), PATH.join(paths[id])) for id in following.as_shown(folders)]
    return [ALL, *shown]


def feeds(user: User, source_ids: Collection[int] | None = None) -> list[Feed]:
    """A user's feeds in their order; or the given sources, followed or not. Three queries."""
    shown = categories(user)
    filed = following.folders_by_source(user)
    mine = Source.objects.annotate(my_follow=FilteredRelation("follows", condition=Q(follows__user=user)))
    mine = mine.filter(my_follow__isnull=False) if source_ids is None else mine.filter(pk__in=source_ids)
    rows = mine.annotate(
        shown_title=following.first_nonempty("my_follow__title", "title", "url"),
        is_muted=Coalesce(F("my_follow__muted"), Value(False), output_field=BooleanField()),
        wants_pages=Case(
            When(my_follow__full_text=Follow.FullText.PAGE, then=Value(True)),
            When(my_follow__full_text=Follow.FullText.FEED, then=Value(False)),
            default=F("full_text"),
        ),
        checked_at=F("schedule__requested_at"),
        next_check_at=Coalesce("schedule__first_due_at", "schedule__due_at"),
        failures=Coalesce("schedule__consecutive_failures", 0),
        place=Coalesce(F("my_follow__position"), Value(UNSORTED)),
    ).order_by("place", Lower("shown_title"), "pk")
    columns = rows.values(
        *("id", "url", "site_url", "description", "is_muted", "wants_pages", "checked_at", "next_check_at", "failures"),
        *("shown_title", "state", "icon_id"),
    )
    return [_feed(row, shown, filed) for row in columns]


def _feed(row: dict[str, Any], shown: list[Category], filed: Mapping[int, list[int]]) -> Feed:
    its = {category_id_of(folder_id) for folder_id in filed.get(row["id"], ())}
    return Feed(
        title=row.pop("shown_title"),
        is_active=row.pop("state") == Source.State.ACTIVE,
        **row,
        category=next((category for category in shown if category.id in its), ALL),
    )


def sources_by_folder(user: User, folders: Iterable[Folder]) -> dict[int, set[int]]:
    """The sources in each folder or its subfolders, given all folders of a user. Without muted sources. One query."""
    parents = {folder.pk: folder.parent_id for folder in folders}
    within: dict[int, set[int]] = {folder_id: set() for folder_id in parents}
    filed = Follow.folders.through.objects.filter(follow__user=user, follow__muted=False)
    for folder_id, source_id in filed.values_list("folder_id", "follow__source_id"):
        place: int | None = folder_id
        while place is not None and place in within:
            within[place].add(source_id)
            place = parents[place]
    return within


# --- postings that a program may read and change ----------------------------------------------------------------------
def own(user: User) -> QuerySet[Posting]:
    # EXISTS is evaluated per posting; IN would collect all of them first.
    follow = following.follows_of(user).filter(source=OuterRef("source_id"))
    starred = following.stars_of(user).filter(posting=OuterRef("pk"))
    return postings.everything().filter(Exists(follow) | Exists(starred))


def own_ids(user: User, posting_ids: Collection[int]) -> list[int]:
    """Those of the postings that are in `own`, in ascending order."""
    return list(own(user).filter(pk__in=posting_ids).order_by("pk").values_list("pk", flat=True))


def posting_counts(user: User, scope: Scope) -> dict[int, int]:
    """The number of postings of each followed source of a list that has any. Two queries."""
    return dict(fetch(_COUNTS, [list(following.follows_in(user, scope).values_list("source_id", flat=True))]))


_COUNTS = "SELECT source_id, count(*) FROM postings_posting WHERE source_id = ANY(%s) GROUP BY source_id"

# Source by source, because no index orders the ids of several sources.
_NUMBERED = """
SELECT posting.id FROM unnest(%(sources)s::bigint[]) mine (source_id) CROSS JOIN LATERAL (
    SELECT id FROM postings_posting posting
    WHERE posting.source_id = mine.source_id AND id > %(after)s AND id < %(before)s ORDER BY id {down} LIMIT %(limit)s
) posting ORDER BY id {down} LIMIT %(limit)s
"""


def numbered(
    user: User, scope: Scope, *, after: int = 0, before: int = MAX_ID, highest_first: bool = False, limit: int
) -> list[int]:
    """The first `limit` postings of a list between two ids, ordered by id. Two queries."""
    sources = list(following.follows_in(user, scope).values_list("source_id", flat=True))
    statement = _NUMBERED.format(down="DESC" if highest_first else "")
    named = {"sources": sources, "after": after, "before": before, "limit": limit}
    return [posting_id for (posting_id,) in fetch(statement, named)]
