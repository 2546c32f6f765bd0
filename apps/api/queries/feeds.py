"""Follows for dialects with one level of folders: each feed is in one category.

A source can be in several nested folders, or in none. Its category is the first of its folders in display order, and is
titled with the folder's path; without a folder it is `ALL`. The id of a category is that of its folder plus one, so
that none has the id of `ALL`.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from django.db.models import BooleanField, Case, F, FilteredRelation, Q, Value, When
from django.db.models.functions import Coalesce, Lower

from apps.accounts.models import User
from apps.api.formats.schemas import Category, Feed
from apps.following import queries as following
from apps.following.models import UNSORTED, Folder, Follow
from apps.sources.models import Source

ALL = Category(1, "All")
PATH = " / "  # between the names of folders


def folder_id_of(category_id: int) -> int | None:
    """The folder of a category; None for `ALL`."""
    return None if category_id == ALL.id else category_id - 1


def category_id_of(folder_id: int) -> int:
    return folder_id + 1


def categories(user: User) -> list[Category]:
    """`ALL` first, then the folders in display order. One query."""
    folders = list(following.folders_of(user))
    paths = following.folder_paths(folders)
    shown = [Category(category_id_of(id), PATH.join(paths[id])) for id in following.as_shown(folders)]
    return [ALL, *shown]


def category_of(user: User, category_id: int) -> Category | None:
    return next((category for category in categories(user) if category.id == category_id), None)


def feeds(user: User, source_ids: Collection[int] | None = None) -> list[Feed]:
    """A user's feeds in their order; or the given sources, followed or not. Three queries."""
    shown = categories(user)
    filed = following.folders_by_follow(user)
    mine = Source.objects.annotate(my_follow=FilteredRelation("follows", condition=Q(follows__user=user)))
    mine = mine.filter(my_follow__isnull=False) if source_ids is None else mine.filter(pk__in=source_ids)
    rows = mine.annotate(
        follow_id=F("my_follow__pk"),
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
        *("follow_id", "shown_title", "state", "icon_id"),
    )
    return [_feed(row, shown, filed) for row in columns]


def _feed(row: dict[str, Any], shown: list[Category], filed: Mapping[int, list[int]]) -> Feed:
    its = {category_id_of(folder_id) for folder_id in filed.get(row.pop("follow_id"), ())}
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
