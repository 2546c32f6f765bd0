"""Search, and saved searches."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Annotated, Literal

from django.utils.timezone import now
from ninja import Query, Router, Status
from pydantic import BaseModel, Field

from apps.accounts.models import User
from apps.accounts.queries.time_zones import zone_named
from apps.accounts.views.requests import PersonsRequest, present
from apps.alerts import queries as alerts
from apps.api.dialects.rest.schemas.base import Schema, cut, finite, place_in, place_of
from apps.api.dialects.rest.schemas.postings import Posting, serialize
from apps.api.dialects.rest.views.parameters import (
    MAX_CURSOR_LENGTH,
    Id,
    Name,
    PartOf,
    RequestBody,
    Short,
    Words,
    answers,
)
from apps.search import queries as searching
from apps.search.actions import saved as actions
from apps.search.algorithms.language import parse, to_text, wanted
from apps.search.models import SavedSearch
from apps.search.queries import LENGTH, Added, Order, SearchResult
from apps.search.queries.marks import Marker, Text, spelled, texts
from apps.search.queries.saved import saved_searches

router = Router(tags=["search"])

MAX_WITHOUT, MAX_JUDGED = 50, 20


class Piece(Schema):
    text: str
    is_marked: bool = Field(description="Whether it matches the search.")


class Found(Schema):
    posting: Posting
    title: list[Piece]
    snippet: list[Piece]
    reasons: list[str] = Field(description="Effects of freshness and source on its rank.")


class Origin(Schema):
    posting_id: int
    title: str


class AddedWord(Schema):
    """A term added to the query."""

    term: str = Field(description="As indexed: name it in `without` to remove it.")
    word: str = Field(description="As spelled in postings.")
    weight: float | None = Field(description="The query's own words have 1 in total.")
    origins: list[Origin] = Field(description="The postings that it comes from, the most important first.")


class SearchAnswer(Schema):
    query: str = Field(description="As parsed.")
    meant: str | None = Field(description="A spelling suggestion.")
    order: Order
    total: int = Field(description="Approximate.")
    is_partial: bool = Field(description="Old postings were not searched, because that would take too long.")
    milliseconds: float
    items: list[Found]
    added: list[AddedWord] = Field(description="Heaviest first.")
    next: str | None


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


@router.get("/search", response=answers(SearchAnswer, 400))
def search(request: PersonsRequest, params: Annotated[Question, Query()]) -> SearchAnswer:
    """Search the archive. The result contains the added terms, their weights and origins.

    An invalid query is a problem (400) that names the place; so is one that takes too long (422).
    """
    user, tree = request.user, parse(params.q)
    order: Order = params.order if wanted(tree) or params.like_ids else "newest"
    result = searching.search(
        user,
        tree,
        order=order,
        cursor=params.cursor,
        expansion=params.expansion,
        removed_terms=tuple(params.without),
        liked_ids=tuple(params.like_ids),
        disliked_ids=tuple(params.unlike_ids),
        now=now().astimezone(zone_named(user.time_zone)),
    )
    read = texts(user, {id for added in result.added for id in added.posting_ids}.union(result.postings))
    marker = Marker(tree, {added.term: added.weight for added in result.added})
    meant = searching.suggestion(tree)
    return SearchAnswer(
        query=to_text(tree),
        meant=to_text(meant) if meant != tree else None,
        order=order,
        total=result.total,
        is_partial=result.is_partial,
        milliseconds=result.milliseconds,
        items=list(_results(serialize(user, result.postings), result, read, marker)),
        added=_added(result.added, read),
        next=result.next or None,
    )


def _results(
    postings: Mapping[int, Posting], result: SearchResult, read: Mapping[int, Text], marker: Marker
) -> Iterable[Found]:
    for posting_id in result.postings:
        if posting_id in postings and posting_id in read:  # else deleted meanwhile
            marked = marker.mark(read[posting_id])
            yield Found(
                posting=postings[posting_id],
                title=[Piece.model_validate(piece) for piece in marked.title],
                snippet=[Piece.model_validate(piece) for piece in marked.snippet],
                reasons=list(result.reasons.get(posting_id, ())),
            )


def _added(added: Collection[Added], read: Mapping[int, Text]) -> list[AddedWord]:
    return [
        AddedWord(
            term=word.term,
            word=spelling,
            weight=finite(word.weight),
            origins=[Origin(posting_id=id, title=read[id].title or read[id].text[:80]) for id in ids],
        )
        for word, spelling, ids in spelled(added, read)
    ]


# --- saved searches ---------------------------------------------------------------------------------------------------
class Search(Schema):
    id: int
    name: str
    query: str
    order: SavedSearch.Order
    saved_at: datetime
    hits: int = Field(description="Postings found since; 1000 means at least that many.")
    refusal: str = Field(description="Why it cannot be matched with new postings; empty if it can.")


class SearchList(Schema):
    items: list[Search] = Field(description="By name.")


class Hit(Schema):
    found_at: datetime
    posting: Posting


class HitList(Schema):
    items: list[Hit] = Field(description="Without unreadable postings, so that a page can be short.")
    next: str | None


class NewSearch(RequestBody):
    name: Name
    query: Words = Field(min_length=1)
    order: SavedSearch.Order = SavedSearch.Order.RELEVANCE


class SearchChanges(RequestBody):
    """Missing fields stay unchanged."""

    name: Name | None = None
    query: Words | None = Field(None, min_length=1)
    order: SavedSearch.Order | None = None


@router.get("/searches", response=answers(SearchList))
def list_searches(request: PersonsRequest) -> SearchList:
    """Your saved searches. Each is matched with new postings."""
    counts = alerts.count_hits(request.user)
    found = saved_searches(request.user).select_related("percolator_query")
    return SearchList(items=[_search(saved, counts.get(saved.pk, 0)) for saved in found])


def _search(saved: SavedSearch, hits: int) -> Search:
    percolated = getattr(saved, "percolator_query", None)
    plain = {name: getattr(saved, name) for name in ("id", "name", "query", "order", "saved_at")}
    return Search(**plain, hits=hits, refusal=percolated.refusal if percolated else "")


@router.post("/searches", response=answers(Search, 400, 409, status=201))
def save_search(request: PersonsRequest, data: NewSearch) -> Status[Search]:
    """Save a search; it replaces one of the same name."""
    saved = actions.save_search(request.user, data.name, data.query, order=data.order, now=now())
    return Status(201, read_search(request, saved.pk))


@router.get("/searches/{search_id}", response=answers(Search))
def read_search(request: PersonsRequest, search_id: Id) -> Search:
    """One of your saved searches."""
    return _search(_own(request.user, search_id), alerts.count_hits(request.user).get(search_id, 0))


def _own(user: User, search_id: int) -> SavedSearch:
    found = saved_searches(user).select_related("percolator_query").filter(pk=search_id).first()
    return present(found, "You have no such saved search.")


@router.patch("/searches/{search_id}", response=answers(Search, 400, 409))
def change_search(request: PersonsRequest, search_id: Id, data: SearchChanges) -> Search:
    """Change name, query or order of a saved search."""
    _own(request.user, search_id)
    actions.change_search(request.user, search_id, **data.model_dump(exclude_none=True), now=now())
    return read_search(request, search_id)


@router.delete("/searches/{search_id}", response=answers(None, status=204))
def forget_search(request: PersonsRequest, search_id: Id) -> None:
    """Delete a saved search with its hits."""
    _own(request.user, search_id)
    actions.forget_search(request.user, search_id)


@router.get("/searches/{search_id}/hits", response=answers(HitList))
def list_hits(request: PersonsRequest, search_id: Id, params: PartOf) -> HitList:
    """New postings that a saved search found, the latest first."""
    before = int(place_in(params.cursor, int)[0]) if params.cursor else None
    found = alerts.hits_of(_own(request.user, search_id), before, params.limit + 1)
    shown, last = cut(found, params.limit)
    postings = serialize(request.user, [hit.posting_id for hit in shown])
    return HitList(
        items=[
            Hit(found_at=hit.found_at, posting=postings[hit.posting_id]) for hit in shown if hit.posting_id in postings
        ],
        next=place_of(last.pk) if last is not None else None,
    )
