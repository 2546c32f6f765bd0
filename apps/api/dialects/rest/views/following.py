"""Follows."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db.models import QuerySet
from django.http import Http404
from django.utils.timezone import now
from ninja import Router, Status
from pydantic import Field, model_validator

from apps.accounts.models import User
from apps.accounts.views.requests import PersonsRequest, present
from apps.api.dialects.rest.schemas.base import Schema, cut, place_in, place_of
from apps.api.dialects.rest.views.parameters import GivenId, Id, PartOf, RequestBody, Truth, Words, answers
from apps.api.dialects.rest.views.problems import Choice, Impossible
from apps.following import actions as following_actions
from apps.following import models
from apps.following import queries as following
from apps.following.queries import FAILURES_SHOWN
from apps.retrieval.actions import following as actions
from apps.sources.algorithms.addresses import http_address
from apps.sources.models import Source

router = Router(tags=["following"])

MAX_FOLDERS = 100  # per follow
MAX_ADDRESS_LENGTH = 2_000  # characters


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


class NewFollow(RequestBody):
    """A source by id, or by the address of a feed or of a page that names its feed."""

    source_id: GivenId | None = None
    address: Words = Field("", max_length=MAX_ADDRESS_LENGTH)
    folder_ids: list[GivenId] = Field([], max_length=MAX_FOLDERS)

    @model_validator(mode="after")
    def _names_one(self) -> "NewFollow":
        if (self.source_id is None) == (not self.address.strip()):
            raise ValueError("Name either a source or an address.")
        return self


class FollowChanges(RequestBody):
    """Missing fields stay unchanged."""

    title: Words | None = Field(None, description="Your own title; empty for that of the source.")
    folder_ids: list[GivenId] | None = Field(None, max_length=MAX_FOLDERS)
    muted: Truth | None = None
    view: models.Follow.View | None = None
    full_text: models.Follow.FullText | None = None
    images: models.Follow.Images | None = None


@router.get("/follows", response=answers(FollowList))
def list_follows(request: PersonsRequest, params: PartOf) -> FollowList:
    """All your follows, the oldest first."""
    found = _with_source(following.follows_of(request.user).order_by("pk"))
    if params.cursor:
        found = found.filter(pk__gt=place_in(params.cursor, int)[0])
    shown, last = cut(list(found[: params.limit + 1]), params.limit)
    filed, unread = following.folders_by_source(request.user), following.unread_counts(request.user)
    return FollowList(
        items=[_follow(follow, filed, unread) for follow in shown],
        next=place_of(last.pk) if last is not None else None,
    )


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
        folder_ids=sorted(filed.get(source.pk, ())),
        unread=unread.get(source.pk, 0),
        **{name: getattr(follow, name) for name in ("muted", "view", "full_text", "images", "followed_at")},
        is_failing=schedule is not None and schedule.consecutive_failures >= FAILURES_SHOWN,
        is_gone=source.state == Source.State.GONE,
    )


@router.post("/follows", response=answers(Follow, 404, 409) | answers(Follow, status=201))
def follow(request: PersonsRequest, data: NewFollow) -> Status[Follow]:
    """Follow a source, and add it to folders. 200: you followed it already.

    If a page names several feeds, the problem (422) lists them: follow one by its address.
    """
    _folders(request.user, data.folder_ids)
    before = following.follows_of(request.user).count()
    source_id = data.source_id
    if source_id is None:
        source_id = _at(request.user, data.address, data.folder_ids)
    elif not following.visible_sources(request.user).filter(pk=source_id).exists():
        raise Http404("There is no such source.")
    else:
        actions.follow(request.user, source_id, now=now(), folder_ids=data.folder_ids)
    is_new = following.follows_of(request.user).count() > before
    return Status(201 if is_new else 200, read_follow(request, source_id))


def _at(user: User, address: str, folder_ids: list[int]) -> int:
    """Follow the source at an address."""
    found = actions.follow_address(user, address, now=now(), folder_ids=folder_ids)
    if found.source_id is not None:
        return found.source_id
    choices = [Choice(url=choice.url, title=choice.title) for choice in found.choices]
    words = found.problem or "There may be several feeds: follow one by its own address."
    raise Impossible(words, 422, choices=choices)


@router.get("/follows/{source_id}", response=answers(Follow))
def read_follow(request: PersonsRequest, source_id: Id) -> Follow:
    """A follow."""
    user = request.user
    found = _with_source(following.follows_of(user).filter(source_id=source_id)).first()
    follow = present(found, "You do not follow such a source.")
    return _follow(follow, following.folders_by_source(user), following.unread_counts(user))


@router.patch("/follows/{source_id}", response=answers(Follow, 409))
def change_follow(request: PersonsRequest, source_id: Id, data: FollowChanges) -> Follow:
    """Change its title, folders, muting or display."""
    known = present(following.follow_of(request.user, source_id), "You do not follow such a source.")
    changes = data.model_dump(exclude_none=True)
    folder_ids = changes.pop("folder_ids", None)
    folders = list(known.folders.all()) if folder_ids is None else _folders(request.user, folder_ids)
    following_actions.follows.edit_follow(known, title=changes.pop("title", known.title), folders=folders, **changes)
    return read_follow(request, source_id)


def _folders(user: User, folder_ids: list[int]) -> list[models.Folder]:
    found = list(following.folders_of(user).filter(pk__in=folder_ids)) if folder_ids else []
    if len(found) < len(set(folder_ids)):
        raise Http404("You have no such folder.")
    return found


@router.delete("/follows/{source_id}", response=answers(None, status=204))
def unfollow(request: PersonsRequest, source_id: Id) -> None:
    """Unfollow it. Read states and stars are kept."""
    present(following.follow_of(request.user, source_id), "You do not follow such a source.")
    actions.unfollow(request.user, source_id, now=now())
