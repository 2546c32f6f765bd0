"""Search, and searches that people keep."""

from typing import Annotated, Literal

from django.utils.timezone import now
from ninja import Query, Router, Status
from pydantic import BaseModel, Field

from apps.accounts.models import User
from apps.accounts.queries.time_zones import zone_named
from apps.accounts.views.requests import PersonsRequest, present
from apps.api.dialects.rest.schemas import search as pages
from apps.api.dialects.rest.schemas.alerts import Search, SearchList, search_list, search_of
from apps.api.dialects.rest.schemas.search import SearchAnswer, SearchRequest
from apps.api.dialects.rest.views.parameters import MAX_CURSOR_LENGTH, Id, Name, RequestBody, Short, Words, answers
from apps.search.actions import saved as actions
from apps.search.models import SavedSearch
from apps.search.queries import LENGTH
from apps.search.queries.saved import saved_searches

router = Router(tags=["search"])

MOST_WITHOUT, MOST_JUDGED = 50, 20


class Question(BaseModel):
    q: Words = Field(
        min_length=1,
        description='Words, which all have to be there; `"a phrase"`, `-without`, `one OR two`, and filters such as'
        " `source:` `category:` `lang:` `author:` `intitle:` `before:` `after:` `is:unread`.",
    )
    order: Literal["relevance", "fresh", "newest"] = Field(
        "relevance", description="`fresh`: by relevance, freshness and followers. Without words it is `newest`."
    )
    expansion: bool = Field(True, description="Whether words of the best answers are looked for as well.")
    without: list[Short] = Field([], max_length=MOST_WITHOUT, description="Terms that are not to be added.")
    like_ids: list[Id] = Field([], max_length=MOST_JUDGED, description="Postings that you would have more of.")
    unlike_ids: list[Id] = Field([], max_length=MOST_JUDGED, description="Postings that you would have less of.")
    cursor: str = Field(
        "", max_length=MAX_CURSOR_LENGTH, description=f"`next` of the page before, of {LENGTH} postings."
    )

    def asked(self) -> SearchRequest:
        return SearchRequest(
            text=self.q,
            order=self.order,
            expansion=self.expansion,
            without=tuple(self.without),
            liked=tuple(self.like_ids),
            disliked=tuple(self.unlike_ids),
            cursor=self.cursor,
        )


class NewSearch(RequestBody):
    name: Name
    query: Words = Field(min_length=1)
    order: SavedSearch.Order = SavedSearch.Order.RELEVANCE


class SearchChanges(RequestBody):
    """What is not named stays as it is."""

    name: Name | None = None
    query: Words | None = Field(None, min_length=1)
    order: SavedSearch.Order | None = None


@router.get("/search", response=answers(SearchAnswer, 400))
def search(request: PersonsRequest, asked: Annotated[Question, Query()]) -> SearchAnswer:
    """Search the whole archive. The answer says which words were added, with which weight, and where they are from.

    A query that cannot be read is a problem (400) that names the place; one that takes too long is one, too (422).
    """
    return pages.search(request.user, asked.asked(), now().astimezone(zone_named(request.user.time_zone)))


@router.get("/searches", response=answers(SearchList))
def list_searches(request: PersonsRequest) -> SearchList:
    """Searches that you keep. Each watches for what comes."""
    return search_list(request.user)


@router.post("/searches", response=answers(Search, 400, 409, status=201))
def save_search(request: PersonsRequest, wish: NewSearch) -> Status[Search]:
    """Keep a search; one of the same name becomes this one."""
    saved = actions.save_search(request.user, wish.name, wish.query, order=wish.order, now=now())
    return Status(201, _found(request.user, saved.pk))


@router.get("/searches/{search_id}", response=answers(Search))
def read_search(request: PersonsRequest, search_id: Id) -> Search:
    """One of the searches that you keep."""
    return _found(request.user, search_id)


def _found(user: User, search_id: int) -> Search:
    return present(search_of(user, search_id), "You keep no such search.")


@router.patch("/searches/{search_id}", response=answers(Search, 400, 409))
def change_search(request: PersonsRequest, search_id: Id, wish: SearchChanges) -> Search:
    """Give a search another name, query or order."""
    present(saved_searches(request.user).filter(pk=search_id).first(), "You keep no such search.")
    actions.change_search(request.user, search_id, **wish.model_dump(exclude_none=True), now=now())
    return _found(request.user, search_id)


@router.delete("/searches/{search_id}", response=answers(None, status=204))
def forget_search(request: PersonsRequest, search_id: Id) -> None:
    """Keep a search no longer; what it found is forgotten with it."""
    _found(request.user, search_id)
    actions.forget_search(request.user, search_id)
