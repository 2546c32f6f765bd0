"""Stories: those of the front page, and one with all that tell it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.core.cache import cache
from pydantic import Field

from apps.accounts.models import User
from apps.api.dialects.rest.schemas.base import Schema, place_in, place_of
from apps.api.dialects.rest.schemas.postings import Posting, serialize
from apps.postings.queries import BadCursor
from apps.stories import models
from apps.stories.queries import front as stories
from apps.summaries import queries as summaries

MAX_POSTINGS = 300  # postings of a story that are told
SUMMARISED = 12  # of them
KEPT = 1_800  # s that an order stays as it was on its first page
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Story(Schema):
    id: int
    lead: Posting = Field(description="The posting that stands for it.")
    sources: int = Field(description="That you may see.")
    reports: int = Field(description="Theirs, copies included.")
    score: float
    is_personal: bool = Field(description="Whether what you like to read had a say in its place.")


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
    id: int = Field(description="Another one than was asked for, if that story became a part of this one.")
    lead: Posting
    first_at: datetime
    latest_at: datetime
    reports: list[Report] = Field(description="In the order of publication; at most 300.")
    is_cut: bool = Field(description="Whether it has more.")
    summary: list[Sentence] = Field(description="From its postings, none said twice.")


@dataclass(frozen=True, slots=True)
class _Placed:
    """A story's place, as it is kept for later pages."""

    story_id: int
    lead_id: int
    sources: int
    reports: int
    score: float
    is_personal: bool


def story_list(user: User, *, cursor: str, limit: int, now: datetime) -> StoryList:
    """A page of the front page, as it was when its first page was asked for. At most eight queries."""
    at, begin = _place(cursor, now) if cursor else (now, 0)
    placed = _placed(user, at)
    shown = placed[begin : begin + limit]
    leads = serialize(user, [story.lead_id for story in shown])
    onward = place_of((at - _EPOCH) // _MICROSECOND, begin + limit) if len(placed) > begin + limit else None
    return StoryList(
        items=[_story(story, leads) for story in shown if story.lead_id in leads],
        next=onward,
    )


def _place(cursor: str, now: datetime) -> tuple[datetime, int]:
    microseconds, begin = map(int, place_in(cursor, int, int))
    if not 0 <= begin <= stories.CONSIDERED or not 0 <= microseconds <= (now - _EPOCH) // _MICROSECOND:
        raise BadCursor(f"{cursor[:50]!r} is no place in this list")
    return _EPOCH + timedelta(microseconds=microseconds), begin


def _placed(user: User, at: datetime) -> list[_Placed]:
    """The order of a moment, kept for half an hour; after that it is made anew without what came since."""
    key = f"api.stories.{user.pk}.{(at - _EPOCH) // _MICROSECOND}"
    known: list[_Placed] | None = cache.get(key)
    if known is None:
        known = [_kept(each) for each in stories.front(user, at)]
        cache.set(key, known, KEPT)
    return known


def _kept(each: stories.Front) -> _Placed:
    return _Placed(each.story.pk, each.lead_id, each.sources, each.reports, each.place.score, each.is_personal)


def _story(placed: _Placed, leads: Mapping[int, Posting]) -> Story:
    return Story(
        id=placed.story_id,
        lead=leads[placed.lead_id],
        sources=placed.sources,
        reports=placed.reports,
        score=placed.score,
        is_personal=placed.is_personal,
    )


def story_details(user: User, story_id: int) -> StoryDetails | None:
    """A story as far as the person may read it; None if that is nothing. Eight queries at most."""
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
    told_by = list(dict.fromkeys([lead.id, *originals]))[:SUMMARISED]
    return StoryDetails(
        id=story.pk,
        lead=lead,
        first_at=reports[0].posting.published_at,
        latest_at=reports[-1].posting.published_at,
        reports=reports,
        is_cut=is_cut,
        summary=[Sentence(posting_id=each.posting_id, text=each.text) for each in summaries.summary_of_story(told_by)],
    )
