"""Trends."""

from typing import Annotated

from ninja import Query, Router
from pydantic import BaseModel, Field

from apps.accounts.views.requests import PersonsRequest
from apps.api.dialects.rest.schemas import trends as pages
from apps.api.dialects.rest.schemas.trends import Trends
from apps.api.dialects.rest.views.parameters import Short, answers
from apps.trending.models import Trend

router = Router(tags=["trends"])


class ListsPart(BaseModel):
    language: Short = Field("", description="By default that with the most postings.")
    category: Short = Field("", description="By default all.")
    horizon: Trend.Horizon | None = Field(None, description="A single list.")
    method: Trend.Method = Field(
        Trend.Method.OURS, description="`ours`: compared with its past. `yioop`: Yioop's formula."
    )
    limit: int = Field(20, ge=1, le=100, description="Terms of a list, at most.")


@router.get("/trends", response=answers(Trends))
def list_trends(request: PersonsRequest, params: Annotated[ListsPart, Query()]) -> Trends:
    """Trending terms of the last hours, day, week, month and year."""
    return pages.trends(request.user, **params.model_dump())
