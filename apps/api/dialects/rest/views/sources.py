"""Sources."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from django.db.models import Q, QuerySet
from django.db.models.functions import Lower
from django.utils.timezone import now
from ninja import Query, Router
from pydantic import Field

from apps.accounts.models import User
from apps.accounts.views.requests import PersonsRequest, present
from apps.api.dialects.rest.schemas.base import Schema, cut, place_in, place_of
from apps.api.dialects.rest.views.parameters import Id, Part, Short, Words, answers
from apps.following import queries as following
from apps.postings import queries as postings
from apps.retrieval import queries as retrieval
from apps.retrieval.models import Retrieval
from apps.retrieval.queries.lateness import late
from apps.sources import models
from apps.sources import queries as sources
from apps.sources.algorithms.addresses import hosts_only, http_address
from apps.web.pages.rows import own_icon

router = Router(tags=["sources"])


Sort = Literal["popular", "new", "name"]

RETRIEVALS = 20  # latest ones per source


class Source(Schema):
    id: int
    url: str
    kind: str
    state: models.Source.State
    title: str
    site_url: str = Field(description="Empty unless it is an HTTP address.")
    description: str
    language: str
    category: str
    image_url: str
    icon_url: str = Field(description="Of a PNG of at most 64 x 64 pixels; empty if no icon was found.")
    added_at: datetime
    followers: int
    weekly: int = Field(description="Postings of the last seven days.")
    followed: bool


class SourceList(Schema):
    items: list[Source]
    next: str | None


class Health(Schema):
    """Results of checks, and their effect on the next one."""

    next_at: datetime | None = Field(
        validation_alias="check_due_at",
        description="When the next check is due; of one that is late or under way, when it was due for the first time."
        " Null while the source is not checked.",
    )
    reason: str = Field(description="Of that time.")
    asked_at: datetime | None = Field(validation_alias="requested_at", description="The last check.")
    answered_at: datetime | None = Field(validation_alias="observed_at", description="The last successful check.")
    not_before: datetime | None = Field(description="Requested by the source.")
    failures: int = Field(validation_alias="consecutive_failures", description="In a row.")
    failing_since: datetime | None
    slowdown: float = Field(description="Factor of its gaps, after it requested fewer checks.")


class Check(Schema):
    due_at: datetime = Field(description="First due time, however often it was dispatched.")
    dispatched_at: datetime
    begun_at: datetime | None = Field(description="When the request was sent; null without one.")
    fetched_at: datetime
    stored_at: datetime
    lateness_seconds: float | None = Field(
        description="From the first due time until it was stored; null without a request."
    )
    outcome: Retrieval.Outcome
    status: int = Field(description="Of HTTP; 0 without a response.")
    new: int
    edited: int
    bytes: int
    message: str


class SourceDetails(Source):
    health: Health | None = Field(description="Null while it is not checked.")
    retrievals: list[Check] = Field(description="The latest first.")


class CataloguePart(Part):
    words: Words = Field("", description="Each has to be in title, address or description.")
    category: Short = ""
    language: Short = Field("", description="ISO 639; `en` finds `en-GB`, too.")
    sort: Sort = "popular"


@router.get("/sources", response=answers(SourceList))
def list_sources(request: PersonsRequest, params: Annotated[CataloguePart, Query()]) -> SourceList:
    """The catalogue of listed sources."""
    found = sources.matching(sources.listed(), params.words)
    if params.category:
        found = found.filter(category=params.category)
    if language := params.language:
        found = found.filter(Q(language__iexact=language) | Q(language__istartswith=f"{language}-"))
    counted = following.with_follower_counts(found).annotate(written=Lower("title"))
    shown, last = cut(list(_sorted(counted, params.sort, params.cursor)[: params.limit + 1]), params.limit)
    ids = [source.pk for source in shown]
    weekly, followed = postings.weekly_counts(ids, now()), following.followed_among(request.user, ids)
    return SourceList(
        items=[Source(**_values(source, weekly.get(source.pk, 0), source.pk in followed)) for source in shown],
        next=_place(last, params.sort) if last is not None else None,
    )


_ORDERS: Mapping[Sort, tuple[str, str]] = {
    "popular": ("-followers", "pk"),
    "new": ("-added_at", "-pk"),
    "name": ("written", "pk"),
}


def _sorted(found: QuerySet[Any], sort: Sort, cursor: str) -> QuerySet[Any]:
    first, tie = _ORDERS[sort]
    if cursor:
        place = postings.Cursor.decode(cursor) if sort == "new" else None
        kind = str if sort == "name" else int
        value, pk = (place.published_at, place.id) if place else place_in(cursor, kind, int)
        tied = Q(**{first.lstrip("-"): value, _beyond(tie): pk})
        found = found.filter(Q(**{_beyond(first): value}) | tied)
    return found.order_by(first, tie)


def _beyond(column: str) -> str:
    """The condition for the rows after one in the order of a column."""
    return f"{column[1:]}__lt" if column.startswith("-") else f"{column}__gt"


def _place(last: models.Source, sort: Sort) -> str:
    if sort == "new":
        return postings.Cursor(last.added_at, last.pk).encode()
    return place_of(getattr(last, _ORDERS[sort][0].lstrip("-")), last.pk)


def _values(source: models.Source, weekly: int, followed: bool) -> dict[str, Any]:
    plain = ("id", "url", "kind", "state", "title", "description", "language", "category", "added_at", "followers")
    return {name: getattr(source, name) for name in plain} | {
        "site_url": http_address(source.site_url),
        "image_url": http_address(source.image_url),
        "icon_url": own_icon(source.icon_id),
        "weekly": weekly,
        "followed": followed,
    }


def _manageable(user: User, source_id: int) -> models.Source:
    found = following.with_follower_counts(following.manageable_sources(user)).filter(pk=source_id).first()
    return present(found, "There is no such source.")


@router.get("/sources/{source_id}", response=answers(SourceDetails))
def read_source(request: PersonsRequest, source_id: Id) -> SourceDetails:
    """A listed or followed source, with its recent checks."""
    source = _manageable(request.user, source_id)
    weekly = postings.weekly_counts([source_id], now()).get(source_id, 0)
    followed = bool(following.followed_among(request.user, [source_id]))
    hidden = following.hide_address(request.user, source, followed=followed)
    schedule, checks = retrieval.schedule_of(source_id), retrieval.latest_retrievals(source_id, RETRIEVALS)
    for row in checks if hidden else ():
        row.message = hosts_only(row.message)
    return SourceDetails(
        **_values(source, weekly, followed),
        health=Health.model_validate(schedule) if schedule else None,
        retrievals=[_check(row) for row in checks],
    )


def _check(row: Retrieval) -> Check:
    plain = {name: getattr(row, name) for name in Check.model_fields if name not in ("bytes", "lateness_seconds")}
    seconds = late(row)
    return Check(**plain, bytes=row.wire_bytes, lateness_seconds=seconds.stored if seconds else None)
