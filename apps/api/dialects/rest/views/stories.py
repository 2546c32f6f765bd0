"""Stories."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.cache import cache
from django.http import Http404
from django.utils.timezone import now
from ninja import Router
from pydantic import Field

from apps.accounts.models import User
from apps.accounts.views.requests import PersonsRequest, present
from apps.api.dialects.rest.schemas.base import Schema, place_in, place_of
from apps.api.dialects.rest.schemas.postings import Posting, serialize
from apps.api.dialects.rest.views.parameters import Id, PartOf, answers
from apps.postings.queries import BadCursor
from apps.stories import models
from apps.stories.queries import front as stories
from apps.summaries import queries as summaries

router = Router(tags=["stories"])


MAX_POSTINGS = 300  # of a story
SUMMARISED = 12  # of these
KEPT_SECONDS = 1_800  # for which pages share an order
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


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
        next=place_of((at - _EPOCH) // _MICROSECOND, end) if len(ranked) > end else None,
    )


def _place(cursor: str, now: datetime) -> tuple[datetime, int]:
    microseconds, begin = map(int, place_in(cursor, int, int))
    if not 0 <= begin <= stories.CONSIDERED or not 0 <= microseconds <= (now - _EPOCH) // _MICROSECOND:
        raise BadCursor(f"{cursor[:50]!r} is no place in this list")
    return _EPOCH + timedelta(microseconds=microseconds), begin


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

    key = f"api.stories.{user.pk}.{(at - _EPOCH) // _MICROSECOND}"
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
        summary=[
            Sentence(posting_id=each.posting_id, text=each.text) for each in summaries.summary_of_story(summarised)
        ],
    )
