"""Stories and trends."""

from collections.abc import Collection
from datetime import datetime
from typing import Annotated, Any

from django.core.cache import cache
from django.http import Http404
from django.utils.timezone import now
from ninja import Query, Router
from pydantic import BaseModel, Field

from apps.accounts.models import User
from apps.accounts.views.requests import PersonsRequest, present
from apps.api.dialects.rest.schemas.base import Schema, finite, place_in, place_of
from apps.api.dialects.rest.schemas.postings import Posting, serialize
from apps.api.dialects.rest.views.parameters import Id, PartOf, Short, answers
from apps.following import queries as following
from apps.postings.algorithms.times import microseconds, moment_of
from apps.postings.queries import BadCursor
from apps.stories import models
from apps.stories.queries import front as stories
from apps.summaries.queries import summary_of_story
from apps.trending import models as trending_models
from apps.trending import queries as trending

router = Router(tags=["stories"])


MAX_POSTINGS = 300  # per story
SUMMARISED = 12  # of these
KEPT_SECONDS = 1_800  # for which pages share an order


class Story(Schema):
    id: int
    lead: Posting = Field(description="The posting that represents it.")
    sources: int = Field(description="Visible ones.")
    reports: int = Field(description="Theirs, copies included.")
    score: float
    is_personal: bool = Field(description="Whether your reading influenced its rank.")


class StoryList(Schema):
    items: list[Story]
    next: str | None


class Report(Schema):
    posting: Posting
    copy_of: int | None = Field(description="The posting that it repeats.")


class Sentence(Schema):
    posting_id: int
    text: str


class StoryDetails(Schema):
    id: int = Field(description="Differs from the requested one if that was merged into this story.")
    lead: Posting
    first_at: datetime
    latest_at: datetime
    reports: list[Report] = Field(description="By publication; at most 300.")
    is_cut: bool = Field(description="Whether it has more.")
    summary: list[Sentence] = Field(description="From its postings, without repetitions.")


@router.get("/stories", response=answers(StoryList))
def list_stories(request: PersonsRequest, params: PartOf) -> StoryList:
    """The stories of the last three days, in the order of your front page."""
    at, begin = _place(params.cursor, now()) if params.cursor else (now(), 0)
    ranked, end = _ranked(request.user, at), begin + params.limit
    shown = ranked[begin:end]
    leads = serialize(request.user, [story["lead_id"] for story in shown])
    return StoryList(
        items=[Story(**story, lead=leads[story["lead_id"]]) for story in shown if story["lead_id"] in leads],
        next=place_of(microseconds(at), end) if len(ranked) > end else None,
    )


def _place(cursor: str, now: datetime) -> tuple[datetime, int]:
    at, begin = map(int, place_in(cursor, int, int))
    if not 0 <= begin <= stories.CONSIDERED or not 0 <= at <= microseconds(now):
        raise BadCursor(f"{cursor[:50]!r} is not a cursor of this list")
    return moment_of(at), begin


def _ranked(user: User, at: datetime) -> list[dict[str, Any]]:
    """The order of that time, cached for half an hour; later it is computed again without newer stories."""

    def rank() -> list[dict[str, Any]]:
        return [
            {
                **{name: getattr(each, name) for name in ("lead_id", "sources", "reports", "is_personal")},
                "id": each.story.pk,
                "score": each.place.score,
            }
            for each in stories.front(user, at)
        ]

    key = f"api.stories.{user.pk}.{microseconds(at)}"
    return cache.get_or_set(key, rank, KEPT_SECONDS) or []


@router.get("/stories/{story_id}", response=answers(StoryDetails))
def read_story(request: PersonsRequest, story_id: Id) -> StoryDetails:
    """A story with its readable reports and their summary."""
    story = present(stories.story_of(story_id), "There is no such story.")
    members = list(stories.members_of(story.pk).values_list("posting_id", "copy_of")[: MAX_POSTINGS + 1])
    found = serialize(request.user, [posting_id for posting_id, _ in members[:MAX_POSTINGS]])
    reports = [
        Report(posting=found[posting_id], copy_of=copy_of if copy_of in found else None)
        for posting_id, copy_of in members[:MAX_POSTINGS]
        if posting_id in found
    ]
    if not reports:
        raise Http404("There is no such story.")
    return _details(story, reports, is_cut=len(members) > MAX_POSTINGS)


def _details(story: models.Story, reports: list[Report], *, is_cut: bool) -> StoryDetails:
    lead = next((report.posting for report in reports if report.posting.id == story.lead_id), reports[0].posting)
    originals = [report.posting.id for report in reports if report.copy_of is None]
    summarised = list(dict.fromkeys([lead.id, *originals]))[:SUMMARISED]
    return StoryDetails(
        id=story.pk,
        lead=lead,
        first_at=reports[0].posting.published_at,
        latest_at=reports[-1].posting.published_at,
        reports=reports,
        is_cut=is_cut,
        summary=[Sentence(posting_id=each.posting_id, text=each.text) for each in summary_of_story(summarised)],
    )


# --- trends -----------------------------------------------------------------------------------------------------------
trends_router = Router(tags=["trends"])


class Trend(Schema):
    rank: int
    term: str
    score: float
    postings: int = Field(validation_alias="documents", description="That contain it, in the list's time.")
    expected: float | None = Field(description="Postings, from its past; null if the method has none.")
    sources: int
    related: list[str]
    curve: list[int] = Field(description="Postings over time, the latest last.")
    posting_ids: list[int] = Field(description="The newest readable ones that contain it.")
    story_id: int | None = Field(description="The story behind it.")
    label: str = Field(description="That story's headline, or empty.")
    since: datetime = Field(description="When it entered the list.")


class TrendList(Schema):
    horizon: trending_models.Trend.Horizon
    listed_at: datetime | None
    items: list[Trend]


class TrendPlace(Schema):
    language: str
    category: str = Field(description="Empty for all of them.")


class Trends(Schema):
    language: str
    category: str
    method: trending_models.Trend.Method
    lists: list[TrendList] = Field(description="The shortest time first.")
    places: list[TrendPlace] = Field(description="With lists, the language with most postings first.")


class ListsPart(BaseModel):
    language: Short = Field("", description="By default that with the most postings.")
    category: Short = Field("", description="By default all.")
    horizon: trending_models.Trend.Horizon | None = Field(None, description="A single list.")
    method: trending_models.Trend.Method = Field(
        trending_models.Trend.Method.OURS, description="`ours`: compared with its past. `yioop`: Yioop's formula."
    )
    limit: int = Field(20, ge=1, le=100, description="Terms of a list, at most.")


@trends_router.get("/trends", response=answers(Trends))
def list_trends(request: PersonsRequest, params: Annotated[ListsPart, Query()]) -> Trends:
    """Trending terms of the last hours, day, week, month and year."""
    places = trending.ranks()
    language = params.language or (places[0].language if places else "")
    lists = trending.lists_of(language, params.category, params.method, most=params.limit)
    chosen = {name: found for name, found in lists.items() if params.horizon in (None, name)}
    ids = {id for found in chosen.values() for trend in found for id in trend.posting_ids}
    readable = set(following.readable_by(request.user).filter(pk__in=ids).values_list("pk", flat=True))
    return Trends(
        language=language,
        category=params.category,
        method=params.method,
        lists=[
            TrendList(
                horizon=trending_models.Trend.Horizon(name),
                listed_at=max((trend.listed_at for trend in found), default=None),
                items=[_trend(trend, readable) for trend in found],
            )
            for name, found in chosen.items()
        ],
        places=[TrendPlace.model_validate(place) for place in places],
    )


def _trend(trend: trending_models.Trend, readable: Collection[int]) -> Trend:
    changes = {"expected": finite(trend.expected), "posting_ids": [id for id in trend.posting_ids if id in readable]}
    return Trend.model_validate(trend).model_copy(update=changes)
