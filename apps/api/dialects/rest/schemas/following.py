"""Follows, folders and tags."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from django.db.models import QuerySet
from pydantic import Field

from apps.accounts.models import User
from apps.api.dialects.rest.schemas.base import Schema, cut, place_in, place_of
from apps.following import models
from apps.following import queries as following
from apps.following.actions import ImportReport
from apps.following.queries import FAILURES_THAT_TELL
from apps.sources.algorithms.addresses import http_address
from apps.sources.models import Source


class Follow(Schema):
    source_id: int
    url: str
    site_url: str
    title: str
    own_title: str = Field(description="Your own name for it; empty if you gave it none.")
    folder_ids: list[int]
    unread: int
    muted: bool = Field(description="Its postings are only in its own list.")
    view: models.Follow.View
    full_text: models.Follow.FullText
    images: models.Follow.Images
    is_failing: bool
    is_gone: bool
    followed_at: datetime


class FollowList(Schema):
    items: list[Follow]
    next: str | None


class Folder(Schema):
    id: int
    name: str
    parent_id: int | None
    path: list[str] = Field(description="Names from the outermost folder down to it.")
    unread: int = Field(description="Of the sources in it and below it, each once; muted ones do not count.")


class FolderList(Schema):
    items: list[Folder] = Field(description="In the order in which you sorted them.")


class Tag(Schema):
    id: int
    name: str
    postings: int = Field(validation_alias="amount")


class TagList(Schema):
    items: list[Tag] = Field(description="By name.")


class Imported(Schema):
    """The result of an OPML import."""

    followed: list[int] = Field(description="Sources that you did not follow before.")
    already_followed: int
    skipped: list[str] = Field(description="What was left out, and why.")
    problem: str = Field(description="Where the list is not well-formed, though it could be read.")


def follow_list(user: User, *, cursor: str, limit: int) -> FollowList:
    """A page of follows, the oldest first. Three queries."""
    found = following.follows_of(user).order_by("pk")
    if cursor:
        found = found.filter(pk__gt=place_in(cursor, int)[0])
    shown, last = cut(list(_with_source(found)[: limit + 1]), limit)
    filed, unread = following.folders_by_follow(user), following.unread_counts(user)
    return FollowList(
        items=[_follow(follow, filed, unread) for follow in shown],
        next=place_of(last.pk) if last is not None else None,
    )


def follow_of(user: User, source_id: int) -> Follow | None:
    """A follow, or None. Three queries."""
    follow = _with_source(following.follows_of(user).filter(source_id=source_id)).first()
    if follow is None:
        return None
    return _follow(follow, following.folders_by_follow(user), following.unread_counts(user))


def _with_source(follows: QuerySet[models.Follow]) -> QuerySet[models.Follow]:
    return follows.select_related("source", "source__schedule")


def _follow(follow: models.Follow, filed: Mapping[int, Sequence[int]], unread: Mapping[int, int]) -> Follow:
    source = follow.source
    schedule = getattr(source, "schedule", None)
    return Follow(
        source_id=source.pk,
        url=source.url,
        site_url=http_address(source.site_url),
        title=follow.title or str(source),
        own_title=follow.title,
        folder_ids=sorted(filed.get(follow.pk, ())),
        unread=unread.get(source.pk, 0),
        **{name: getattr(follow, name) for name in ("muted", "view", "full_text", "images", "followed_at")},
        is_failing=schedule is not None and schedule.consecutive_failures >= FAILURES_THAT_TELL,
        is_gone=source.state == Source.State.GONE,
    )


def folder_list(user: User) -> FolderList:
    """Four queries."""
    folders = list(following.folders_of(user))
    paths = following.folder_paths(folders)
    unread = _unread_by_folder(user, folders)
    return FolderList(
        items=[
            Folder(id=id, name=paths[id][-1], parent_id=parent_id, path=list(paths[id]), unread=unread[id])
            for id, parent_id in ((folder.pk, folder.parent_id) for folder in folders)
        ]
    )


def folder_of(user: User, folder_id: int) -> Folder | None:
    return next((folder for folder in folder_list(user).items if folder.id == folder_id), None)


def _unread_by_folder(user: User, folders: Sequence[models.Folder]) -> dict[int, int]:
    """The unread postings in each folder with its subfolders; each source counts once."""
    unread, filed = following.unread_counts(user), following.folders_by_follow(user)
    audible = following.follows_of(user).filter(muted=False).values_list("pk", "source_id")
    within: dict[int, set[int]] = {folder.pk: set() for folder in folders}
    for follow_id, source_id in audible:
        for folder_id in filed.get(follow_id, ()):
            within[folder_id].add(source_id)
    return {folder.pk: _sum(unread, within, following.with_descendants(folders, folder.pk)) for folder in folders}


def _sum(unread: Mapping[int, int], within: Mapping[int, set[int]], folder_ids: Iterable[int]) -> int:
    return sum(unread.get(source_id, 0) for source_id in set().union(*(within[id] for id in folder_ids)))


def tag_list(user: User) -> TagList:
    """One query."""
    return TagList(items=[Tag.model_validate(tag) for tag in following.counted_tags(user)])


def tag_of(user: User, tag_id: int) -> Tag | None:
    tag = following.counted_tags(user).filter(pk=tag_id).first()
    return Tag.model_validate(tag) if tag is not None else None


def imported(report: ImportReport) -> Imported:
    return Imported(
        followed=list(report.followed),
        already_followed=report.already_followed,
        skipped=[skipped.reason for skipped in report.skipped],
        problem=report.problem,
    )
