"""Results of a search with their explanation."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from pydantic import Field

from apps.accounts.models import User
from apps.api.dialects.rest.schemas.base import Schema, finite
from apps.api.dialects.rest.schemas.postings import Posting, serialize
from apps.search import queries as searching
from apps.search.algorithms.language import parse, to_text, wanted
from apps.search.queries import Added, Order, SearchResult
from apps.search.queries.marks import Marker, Text, spelled, texts


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


def search(
    user: User,
    q: str,
    *,
    order: Order,
    expansion: bool,
    without: Sequence[str],
    like_ids: Sequence[int],
    unlike_ids: Sequence[int],
    cursor: str,
    now: datetime,
) -> SearchAnswer:
    """A page of results; `now` is in the user's time zone. Four queries besides the search itself.

    Raises BadQuery, BadCursor, or TooCostly after a statement timeout.
    """
    tree = parse(q)
    order = order if wanted(tree) or like_ids else "newest"
    result = searching.search(
        user,
        tree,
        order=order,
        cursor=cursor,
        expansion=expansion,
        removed_terms=tuple(without),
        liked_ids=tuple(like_ids),
        disliked_ids=tuple(unlike_ids),
        now=now,
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
        items=list(_found(serialize(user, result.postings), result, read, marker)),
        added=_added(result.added, read),
        next=result.next or None,
    )


def _found(
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
    known = [(word, [id for id in word.posting_ids if id in read]) for word in added]
    spelling = spelled([word.term for word in added], dict.fromkeys(read[id] for _, ids in known for id in ids))
    return [
        AddedWord(
            term=word.term,
            word=spelling[word.term],
            weight=finite(word.weight),
            origins=[Origin(posting_id=id, title=read[id].title or read[id].text[:80]) for id in ids],
        )
        for word, ids in known
    ]
