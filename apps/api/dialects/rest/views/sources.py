"""Sources."""

from typing import Annotated

from django.http import Http404
from django.utils.timezone import now
from ninja import Query, Router
from pydantic import Field

from apps.accounts.views.requests import PersonsRequest, present
from apps.api.dialects.rest.schemas.plans import SourcePlan, source_plan
from apps.api.dialects.rest.schemas.postings import PostingList, posting_list
from apps.api.dialects.rest.schemas.sources import Sort, SourceDetails, SourceList, source_details, source_list
from apps.api.dialects.rest.views.parameters import Id, Part, PartOf, Short, Words, answers
from apps.following import queries as following
from apps.following.queries import Scope

router = Router(tags=["sources"])


class CataloguePart(Part):
    words: Words = Field("", description="Each has to be in title, address or description.")
    category: Short = ""
    language: Short = Field("", description="ISO 639; `en` finds `en-GB`, too.")
    sort: Sort = "popular"


@router.get("/sources", response=answers(SourceList))
def list_sources(request: PersonsRequest, params: Annotated[CataloguePart, Query()]) -> SourceList:
    """The catalogue of listed sources."""
    return source_list(request.user, **params.model_dump(), now=now())


@router.get("/sources/{source_id}", response=answers(SourceDetails))
def read_source(request: PersonsRequest, source_id: Id) -> SourceDetails:
    """A listed or followed source, with its recent checks."""
    return present(source_details(request.user, source_id, now()), "There is no such source.")


@router.get("/sources/{source_id}/plan", response=answers(SourcePlan))
def read_plan_of_source(request: PersonsRequest, source_id: Id) -> SourcePlan:
    """When a source is checked next, and why."""
    return present(source_plan(request.user, source_id, now()), "There is no such source.")


@router.get("/sources/{source_id}/postings", response=answers(PostingList))
def list_postings_of_source(request: PersonsRequest, source_id: Id, params: PartOf) -> PostingList:
    """Postings of a source, the newest first, followed or not."""
    if not following.visible_sources(request.user).filter(pk=source_id).exists():
        raise Http404("There is no such source.")
    return posting_list(request.user, Scope("source", source_id), cursor=params.cursor, limit=params.limit, now=now())
