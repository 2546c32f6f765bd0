"""Search, and saved searches."""

from typing import Annotated, Literal

from django.utils.timezone import now
from ninja import Query, Router, Status
from pydantic import BaseModel, Field

from apps.accounts.models import User
from apps.accounts.queries.time_zones import zone_named
from apps.accounts.views.requests import PersonsRequest, present
from apps.api.dialects.rest.schemas import search as pages
from apps.api.dialects.rest.schemas.alerts import Search, SearchList, search_list, search_of
from apps.api.dialects.rest.schemas.search import SearchAnswer
from apps.api.dialects.rest.views.parameters import MAX_CURSOR_LENGTH, Id, Name, RequestBody, Short, Words, answers
from apps.search.actions import saved as actions
from apps.search.models import SavedSearch
from apps.search.queries import LENGTH
from apps.search.queries.saved import saved_searches

router = Router(tags=["search"])

MAX_WITHOUT, MAX_JUDGED = 50, 20


class Question(BaseModel):
    q: Words = Field(
        min_length=1,
        description='Required words; `"a phrase"`, `-without`, `one OR two`, and filters such as'
        " `source:` `category:` `lang:` `author:` `intitle:` `before:` `after:` `is:unread`.",
    )
    order: Literal["relevance", "fresh", "newest"] = Field(
        "relevance", description="`fresh`: by relevance, freshness and followers. Without words it is `newest`."
    )
    expansion: bool = Field(True, description="Whether related terms are added.")
    without: list[Short] = Field([], max_length=MAX_WITHOUT, description="Related terms to leave out.")
    like_ids: list[Id] = Field([], max_length=MAX_JUDGED, description="Relevant postings.")
    unlike_ids: list[Id] = Field([], max_length=MAX_JUDGED, description="Irrelevant postings.")
    cursor: str = Field(
        "", max_length=MAX_CURSOR_LENGTH, description=f"`next` of the page before, of {LENGTH} postings."
    )


class NewSearch(RequestBody):
    name: Name
    query: Words = Field(min_length=1)
    order: SavedSearch.Order = SavedSearch.Order.RELEVANCE


class SearchChanges(RequestBody):
    """Missing fields stay unchanged."""

    name: Name | None = None
    query: Words | None = Field(None, min_length=1)
    order: SavedSearch.Order | None = None


@router.get("/search", response=answers(SearchAnswer, 400))
def search(request: PersonsRequest, params: Annotated[Question, Query()]) -> SearchAnswer:
    """Search the archive. The result contains the added terms, their weights and origins.

    An invalid query is a problem (400) that names the place; so is one that takes too long (422).
    """
    at = now().astimezone(zone_named(request.user.time_zone))
    return pages.search(request.user, **params.model_dump(), now=at)


@router.get("/searches", response=answers(SearchList))
def list_searches(request: PersonsRequest) -> SearchList:
    """Your saved searches. Each is matched with new postings."""
    return search_list(request.user)


@router.post("/searches", response=answers(Search, 400, 409, status=201))
def save_search(request: PersonsRequest, data: NewSearch) -> Status[Search]:
    """Save a search; it replaces one of the same name."""
    saved = actions.save_search(request.user, data.name, data.query, order=data.order, now=now())
    return Status(201, _found(request.user, saved.pk))


@router.get("/searches/{search_id}", response=answers(Search))
def read_search(request: PersonsRequest, search_id: Id) -> Search:
    """One of your saved searches."""
    return _found(request.user, search_id)


def _found(user: User, search_id: int) -> Search:
    return present(search_of(user, search_id), "You keep no such search.")


@router.patch("/searches/{search_id}", response=answers(Search, 400, 409))
def change_search(request: PersonsRequest, search_id: Id, data: SearchChanges) -> Search:
    """Change name, query or order of a saved search."""
    present(saved_searches(request.user).filter(pk=search_id).first(), "You keep no such search.")
    actions.change_search(request.user, search_id, **data.model_dump(exclude_none=True), now=now())
    return _found(request.user, search_id)


@router.delete("/searches/{search_id}", response=answers(None, status=204))
def forget_search(request: PersonsRequest, search_id: Id) -> None:
    """Delete a saved search with its hits."""
    _found(request.user, search_id)
    actions.forget_search(request.user, search_id)
