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
    language: Short = Field("", description="Empty: that with the most postings.")
    category: Short = Field("", description="Empty: all of them.")
    horizon: Trend.Horizon | None = Field(None, description="One list alone.")
    method: Trend.Method = Field(Trend.Method.OURS, description="`ours`: above its habit. `yioop`: Yioop's formula.")
    limit: int = Field(20, ge=1, le=100, description="Terms of a list, at most.")


@router.get("/trends", response=answers(Trends))
def list_trends(request: PersonsRequest, asked: Annotated[ListsPart, Query()]) -> Trends:
    """Terms that rise beyond their habit: of the last hours, day, week, month and year."""
    return pages.trends(request.user, **asked.model_dump())
