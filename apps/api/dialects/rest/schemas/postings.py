"""Lists of postings, and a posting in full."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import CharField, F, OuterRef, QuerySet, Value
from django.db.models.functions import Coalesce, Left
from pydantic import Field

from apps.accounts.models import User
from apps.api.dialects.rest.schemas.base import Schema, cut
from apps.following import queries as following
from apps.following.models import Tagging
from apps.following.queries import Scope
from apps.following.queries.listing import after_place, positions
from apps.following.queries.states import posting_state
from apps.postings import models
from apps.postings import queries as postings
from apps.postings.queries import Cursor
from apps.sources.algorithms.addresses import http_address
from apps.stories.queries.front import with_story

EXCERPT = 300  # characters


class Posting(Schema):
    id: int
    source_id: int
    source_title: str = Field(description="Your own title for it, if you set one.")
    url: str = Field(description="Empty unless it is an HTTP address.")
    title: str
    author: str
    excerpt: str
    html: str | None = Field(description="Sanitized; null unless requested.")
    language: str
    categories: list[str]
    image_url: str
    published_at: datetime
    retrieved_at: datetime
    edited_at: datetime | None
    unread: bool
    starred: bool
    tags: list[str] = Field(description="Your own on it.")
    story_id: int | None = Field(description="Of its related coverage.")


class PostingList(Schema):
    items: list[Posting]
    next: str | None
    shown_at: datetime = Field(description="Send it to mark read what was here then.")


class Enclosure(Schema):
    url: str
    media_type: str
    length: int = Field(description="Bytes; 0 if unknown.")
    title: str


class Edition(Schema):
    """A version before an edit."""

    title: str
    html: str
    text: str
    replaced_at: datetime


class PostingDetails(Posting):
    text: str
    feed_html: str = Field(description="The content in the feed, if `html` is from the posting's page.")
    comments_url: str
    claimed_at: datetime | None = Field(description="The publisher's own date.")
    enclosures: list[Enclosure]
    editions: list[Edition] = Field(description="Earlier ones, the latest first; at most twenty.")
    note: str | None = Field(description="Your own on it.")


def posting_list(
    user: User,
    scope: Scope,
    *,
    unread_only: bool = False,
    oldest_first: bool = False,
    with_html: bool = False,
    cursor: str,
    limit: int,
    now: datetime,
) -> PostingList:
    """A page of a list that the user may see. At most five queries. Raises BadCursor."""
    start = Cursor.decode(cursor) if cursor else None
    shown, last = cut(_ids(user, scope, unread_only, oldest_first, start, limit + 1), limit)
    found = serialize(user, shown, with_html=with_html)
    ordered = [found[posting_id] for posting_id in shown if posting_id in found]
    place = Cursor(ordered[-1].published_at, ordered[-1].id).encode() if last is not None and ordered else None
    return PostingList(items=ordered, next=place, shown_at=now)


def _ids(
    user: User, scope: Scope, unread_only: bool, oldest_first: bool, start: Cursor | None, limit: int
) -> list[int]:
    if scope.kind in {"all", "folder"} or (scope.kind == "source" and following.follow_of(user, scope.id)):
        places = positions(user, scope, unread_only=unread_only, oldest_first=oldest_first, start=start, limit=limit)
        return [place.id for place in places]
    found = following.postings_in(user, scope)
    if unread_only:
        found = following.unread(found, user)
    return list(after_place(found, start, oldest_first=oldest_first).values_list("pk", flat=True)[:limit])


def serialize(user: User, posting_ids: Collection[int], *, with_html: bool = False) -> dict[int, Posting]:
    """The readable ones of the postings, by id. One query."""
    found = _as_seen(user, following.readable_by(user).filter(pk__in=posting_ids))
    html = F("html") if with_html else Value(None, output_field=CharField())
    rows = found.values(*_PLAIN, shown_html=html)
    return {row["id"]: Posting(**_values(row)) for row in rows}


_PLAIN = (
    *("id", "source_id", "shown_title", "url", "title", "author", "excerpt", "language", "categories", "image_url"),
    *("published_at", "retrieved_at", "edited_at", "unread", "starred", "own_tags", "story_id"),
)
_WHOLE = (*_PLAIN, "html", "text", "feed_html", "comments_url", "claimed_at", "enclosures")


def _as_seen(user: User, found: QuerySet[models.Posting]) -> QuerySet[models.Posting]:
    theirs = Tagging.objects.filter(tag__user=user, posting=OuterRef("pk"))
    return with_story(following.with_state(found, user)).annotate(
        excerpt=Left(Coalesce("lead", "text"), EXCERPT),
        shown_title=following.first_nonempty("my_follow__title", "source__title", "source__url"),
        own_tags=ArraySubquery(theirs.order_by("tag__name").values("tag__name")),
    )


def _values(row: Mapping[str, Any]) -> dict[str, Any]:
    return dict(row) | {
        "source_title": row["shown_title"],
        "tags": row["own_tags"],
        "url": http_address(row["url"]),
        "image_url": http_address(row["image_url"]),
        "html": row["shown_html"] if "shown_html" in row else row["html"],
    }


def posting_details(user: User, posting_id: int) -> PostingDetails | None:
    """A readable posting, or None. It stays unread. Three queries."""
    row = _as_seen(user, following.readable_by(user).filter(pk=posting_id)).values(*_WHOLE).first()
    if row is None:
        return None
    own = posting_state(user, posting_id)
    return PostingDetails(
        **_values(row)
        | {
            "comments_url": http_address(row["comments_url"]),
            "enclosures": _enclosures(row["enclosures"]),
            "editions": [Edition.model_validate(edition) for edition in postings.earlier_editions(posting_id)],
            "note": own.note.text if own and own.note else None,
        }
    )


def _enclosures(carried: Sequence[Mapping[str, Any]]) -> list[Enclosure]:
    return [
        Enclosure(
            url=address,
            media_type=str(each.get("media_type") or ""),
            length=int(each.get("length") or 0),
            title=str(each.get("title") or ""),
        )
        for each in carried
        if (address := http_address(str(each.get("url") or "")))
    ]
