"""Trending terms."""

from collections.abc import Collection
from datetime import datetime

from pydantic import Field

from apps.accounts.models import User
from apps.api.dialects.rest.schemas.base import Schema, finite
from apps.following import queries as following
from apps.trending import models
from apps.trending import queries as trending


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


def trends(
    user: User, *, language: str, category: str, horizon: models.Trend.Horizon | None, method: str, limit: int
) -> Trends:
    """The lists of a language, by default that with most postings, and a category. Three queries."""
    places = trending.ranks()
    language = language or (places[0].language if places else "")
    lists = trending.lists_of(language, category, method, most=limit)
    chosen = {name: found for name, found in lists.items() if horizon in (None, name)}
    ids = {id for found in chosen.values() for trend in found for id in trend.posting_ids}
    readable = set(following.readable_by(user).filter(pk__in=ids).values_list("pk", flat=True))
    return Trends(
        language=language,
        category=category,
        method=models.Trend.Method(method),
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
