"""Trends."""

from collections.abc import Collection
from datetime import datetime
from typing import Annotated

from ninja import Query, Router
from pydantic import BaseModel, Field

from apps.accounts.views.requests import PersonsRequest
from apps.api.dialects.rest.schemas.base import Schema, finite
from apps.api.dialects.rest.views.parameters import Short, answers
from apps.following import queries as following
from apps.trending import models
from apps.trending import queries as trending

router = Router(tags=["trends"])


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
    horizon: models.Trend.Horizon
    listed_at: datetime | None
    items: list[Trend]


class TrendPlace(Schema):
    language: str
    category: str = Field(description="Empty for all of them.")


class Trends(Schema):
    language: str
    category: str
    method: models.Trend.Method
    lists: list[TrendList] = Field(description="The shortest time first.")
    places: list[TrendPlace] = Field(description="With lists, the language with most postings first.")


class ListsPart(BaseModel):
    language: Short = Field("", description="By default that with the most postings.")
    category: Short = Field("", description="By default all.")
    horizon: models.Trend.Horizon | None = Field(None, description="A single list.")
    method: models.Trend.Method = Field(
        models.Trend.Method.OURS, description="`ours`: compared with its past. `yioop`: Yioop's formula."
    )
    limit: int = Field(20, ge=1, le=100, description="Terms of a list, at most.")


@router.get("/trends", response=answers(Trends))
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
                horizon=models.Trend.Horizon(name),
                listed_at=max((trend.listed_at for trend in found), default=None),
                items=[_trend(trend, readable) for trend in found],
            )
            for name, found in chosen.items()
        ],
        places=[TrendPlace.model_validate(place) for place in places],
    )


def _trend(trend: models.Trend, readable: Collection[int]) -> Trend:
    changes = {"expected": finite(trend.expected), "posting_ids": [id for id in trend.posting_ids if id in readable]}
    return Trend.model_validate(trend).model_copy(update=changes)
