"""The stories of the front page, and a story with its reports."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.cache import cache
from pydantic import Field

from apps.accounts.models import User
from apps.api.dialects.rest.schemas.base import Schema, place_in, place_of
from apps.api.dialects.rest.schemas.postings import Posting, serialize
from apps.postings.queries import BadCursor
from apps.stories import models
from apps.stories.queries import front as stories
from apps.summaries import queries as summaries

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


def story_list(user: User, *, cursor: str, limit: int, now: datetime) -> StoryList:
    """A page of the front page, in the order at the time of its first page. At most eight queries."""
    at, begin = _place(cursor, now) if cursor else (now, 0)
    ranked = _ranked(user, at)
    shown = ranked[begin : begin + limit]
    leads = serialize(user, [story["lead_id"] for story in shown])
    is_last = len(ranked) <= begin + limit
    return StoryList(
        items=[Story(**story, lead=leads[story["lead_id"]]) for story in shown if story["lead_id"] in leads],
        next=None if is_last else place_of((at - _EPOCH) // _MICROSECOND, begin + limit),
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


def story_details(user: User, story_id: int) -> StoryDetails | None:
    """A story with its readable reports; None without any. At most eight queries."""
    story = stories.story_of(story_id)
    if story is None:
        return None
    members = list(stories.members_of(story.pk).values_list("posting_id", "copy_of")[: MAX_POSTINGS + 1])
    found = serialize(user, [posting_id for posting_id, _ in members[:MAX_POSTINGS]])
    reports = [
        Report(posting=found[posting_id], copy_of=copy_of if copy_of in found else None)
        for posting_id, copy_of in members[:MAX_POSTINGS]
        if posting_id in found
    ]
    if not reports:
        return None
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
