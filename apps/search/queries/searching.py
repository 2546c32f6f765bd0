"""Search: a query of one person, in one order, page by page."""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Literal

import numpy as np
from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache
from django.db import OperationalError
from django.db.models import Count
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from numpy.typing import NDArray
from psycopg.errors import QueryCanceled

from apps.accounts.models import User
from apps.following import queries as following
from apps.following.models import Follow
from apps.search.algorithms.index.conditions import All, Before, Condition, Postings, Sources
from apps.search.algorithms.index.impacts import Worth
from apps.search.algorithms.index.newest import Found
from apps.search.algorithms.language import Tree, conditions
from apps.search.algorithms.models import recipe
from apps.search.algorithms.models.factors import Authority, Freshness
from apps.search.algorithms.models.query import Query
from apps.search.algorithms.models.recipe import OURS, WITHOUT_FEEDBACK, Judgement, Recipe
from apps.search.queries.analysis import languages_of, query_of
from apps.search.queries.cursors import LENGTH, RankCursor, TimeCursor
from apps.search.queries.facets import Facets, attributes_of, facets
from apps.search.queries.limits import Limited
from apps.search.queries.resolving import condition_of
from apps.search.queries.snapshot import Snapshot, snapshot
from apps.search.queries.times import microseconds

Order = Literal["relevance", "fresh", "newest"]

MAX_RANKED = 1_000  # postings in an order by relevance
MAX_COUNTED = 1_000  # postings that facets are of, in an order by time
KEPT = 1_800  # seconds that an order by relevance stays as it was on its first page
FOLLOWERS_KEPT = 600  # seconds
_FOLLOWERS = "search.followers"
_DAY = 86_400_000_000  # microseconds
_NO_TERMS = np.empty(0, np.int64)


class TooCostly(Exception):
    """A search that the database gave up; the message is for whoever asked."""


@dataclass(frozen=True, slots=True)
class Added:
    """A term that was looked for besides those of the query."""

    term: str
    weight: float  # the query's own together have 1
    posting_ids: tuple[int, ...]  # the postings that it came from, the most telling first


@dataclass(frozen=True, slots=True)
class SearchResult:
    postings: tuple[int, ...]  # those of this page
    total: int  # about
    with_own_words: int  # of them, those that hold one of the query's own words
    added: tuple[Added, ...]  # heaviest first
    sources: tuple[tuple[int, int], ...]  # with how many of the postings found
    categories: tuple[tuple[str, int], ...]
    days: tuple[tuple[date, int], ...]
    reasons: Mapping[int, tuple[str, ...]]  # what freshness and authority did to each posting of the page
    is_partial: bool  # old postings were not looked at, for that would have cost too much
    next: str  # cursor of the page that follows, "" at the end
    milliseconds: float


def search(
    user: User | AnonymousUser,
    tree: Tree,
    *,
    order: Order,
    cursor: str,
    expansion: bool,
    removed_terms: Collection[str],
    liked_ids: Collection[int],
    disliked_ids: Collection[int],
    now: datetime,
) -> SearchResult:
    """A page of what a person finds.

    In an order by time all words have to be there; by relevance those postings come first that have most of them, or
    of the words added to them, and only the best thousand come at all. However much there is, it costs some forty
    statements at most.

    An order by relevance is kept for half an hour, since what arrives changes how rare words are and with it all
    scores: its pages are pages of one list. After that it is made anew, without what arrived since.

    Parameters
    ----------
    tree : Tree
    order : "relevance", "fresh" or "newest"
        "fresh" is by relevance times freshness and authority. Where there are no words to rank by, it is by time.
    cursor : str
        `next` of the page before; "" for the first.
    expansion : bool
        Whether words of the best postings are looked for as well.
    removed_terms : collection of str
        That are not added.
    liked_ids, disliked_ids : collection of int
        Postings that a person would have more of, and less; those that they may not open say nothing.
    now : datetime
        Aware, in the person's time zone.

    Raises
    ------
    BadCursor
        If the cursor is no place in such a list.
    TooCostly
        If a statement took longer than any may.
    """
    started = time.perf_counter()
    asked = _Asked(user, tree, order, expansion, tuple(removed_terms), tuple(liked_ids), tuple(disliked_ids), now)
    try:
        result = _by_relevance(asked, cursor) if order != "newest" else None
        result = result or _by_time(asked, cursor)
    except OperationalError as error:
        raise _given_up(error) from error
    return replace(result, milliseconds=1_000 * (time.perf_counter() - started))


def _given_up(error: OperationalError) -> Exception:
    """What to tell of a statement that failed."""
    is_slow = isinstance(error.__cause__, QueryCanceled)
    return TooCostly(_("This search took too long: make it more specific.")) if is_slow else error


@dataclass(frozen=True, slots=True)
class _Asked:
    user: User | AnonymousUser
    tree: Tree
    order: Order
    expansion: bool
    removed: tuple[str, ...]
    liked: tuple[int, ...]
    disliked: tuple[int, ...]
    now: datetime

    def key(self, place: RankCursor) -> str:
        """Under which an order by relevance is kept that was begun at this place."""
        said = (self.order, self.expansion, self.removed, self.liked, self.disliked)
        return place.key(self.user.pk, self.tree, said)


# --- by time ----------------------------------------------------------------------------------------------------------
def _by_time(asked: _Asked, cursor: str) -> SearchResult:
    place = TimeCursor.decode(cursor) if cursor else None
    with snapshot() as index:
        condition = condition_of(asked.tree, asked.user, languages=languages_of(index, asked.tree), now=asked.now)
        limited = Limited(condition)
        found = index.such(limited).newest(MAX_COUNTED)
        rest = found if place is None else _behind(index, condition, found, place)
        total = len(found) if len(found) < MAX_COUNTED else _amount(index, limited)
        counted = facets(attributes_of(index, _documents(found)), asked.now.tzinfo)
    shown = rest[:LENGTH]
    following_place = TimeCursor(shown[-1].published, shown[-1].posting_id) if len(rest) > LENGTH else None
    return SearchResult(
        postings=tuple(each.posting_id for each in shown),
        total=total,
        with_own_words=total,
        added=(),
        sources=counted.sources,
        categories=counted.categories,
        days=counted.days,
        reasons={},
        is_partial=limited.is_partial,
        next=following_place.encode() if following_place else "",
        milliseconds=0.0,
    )


def _behind(index: Snapshot, condition: Condition, found: Sequence[Found], place: TimeCursor) -> Sequence[Found]:
    known = [each for each in found if (each.published, each.posting_id) < (place.published, place.posting_id)]
    if len(known) > LENGTH or len(found) < MAX_COUNTED:
        return known
    behind = All((Limited(condition), Before(place.published, place.posting_id)))
    return index.such(behind).newest(LENGTH + 1)


def _amount(index: Snapshot, limited: Limited) -> int:
    """How many documents it holds for, about."""
    return round(sum(limited.about(block) for block in index.such(limited).blocks(_NO_TERMS)))


def _documents(found: Sequence[Found]) -> NDArray[np.int64]:
    return np.array([each.document for each in found], np.int64)


# --- by relevance -----------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Ranked:
    """All of an order by relevance, as it is kept for its later pages."""

    postings: tuple[int, ...]
    sources: tuple[int, ...]  # of each of these postings
    published: tuple[int, ...]  # each of them; microseconds since 1970
    total: int
    with_own_words: int
    added: tuple[Added, ...]
    facets: Facets
    followers: Mapping[int, int] | None  # of sources, where they and freshness count
    is_partial: bool


def _by_relevance(asked: _Asked, cursor: str) -> SearchResult | None:
    """None if there is nothing to rank by."""
    place = RankCursor.decode(cursor, asked.now) if RankCursor.may_be(cursor) else None
    if cursor and place is None:
        return None
    ranked: _Ranked | None = cache.get(asked.key(place)) if place else None
    if ranked is None:
        if place:
            asked = replace(asked, now=place.at(asked.now))
        with snapshot() as index:
            place = place or RankCursor(index.state.next_document, microseconds(asked.now))
            ranked = _rank(index, asked, place.until)
        if ranked is None:
            return None
        if len(ranked.postings) > LENGTH:
            cache.set(asked.key(place), ranked, KEPT)
    assert place
    end = place.position + LENGTH
    return SearchResult(
        postings=ranked.postings[place.position : end],
        total=ranked.total,
        with_own_words=ranked.with_own_words,
        added=ranked.added,
        sources=ranked.facets.sources,
        categories=ranked.facets.categories,
        days=ranked.facets.days,
        reasons=_reasons(ranked, place, range(place.position, min(end, len(ranked.postings)))),
        is_partial=ranked.is_partial,
        next=replace(place, position=end).encode() if end < len(ranked.postings) else "",
        milliseconds=0.0,
    )


def _rank(index: Snapshot, asked: _Asked, until: int) -> _Ranked | None:
    languages = languages_of(index, asked.tree)
    query = query_of(index, asked.tree, languages)
    judgement = _judgement(index, asked)
    if not query and not judgement.wanted:
        return None
    condition = condition_of(conditions(asked.tree), asked.user, languages=languages, now=asked.now)
    limited = Limited(condition, until=until, at_once=True)
    worth = _worth(microseconds(asked.now)) if asked.order == "fresh" else None
    narrowed = index.such(limited, worth)
    answer = recipe.search(narrowed, query, MAX_RANKED, recipe=_recipe(asked, judgement), judgement=judgement)
    known = attributes_of(index, answer.ranking.documents)
    with_own_words = _amount_with(narrowed, query)
    added = answer.expansion.added(query.terms)
    origins = sorted({document for term in added for document, _ in term.origins})
    posting_of = dict(zip(origins, index.posting_ids(np.array(origins, np.int64)), strict=True))
    return _Ranked(
        postings=tuple(known.posting_ids.tolist()),
        sources=tuple(known.source_ids.tolist()),
        published=tuple(known.published.tolist()),
        # Words that were added find more than the query's own, of which only the best are shown.
        total=max(with_own_words, len(answer.ranking)),
        with_own_words=with_own_words,
        added=tuple(
            Added(term.term, term.weight, tuple(posting_of[document] for document, _ in term.origins)) for term in added
        ),
        facets=facets(known, asked.now.tzinfo),
        followers=worth.followers if worth else None,
        is_partial=limited.is_partial,
    )


def _recipe(asked: _Asked, judgement: Judgement) -> Recipe:
    if judgement.wanted:
        return replace(OURS, judged=1.0)  # what a person says counts, and nothing has to be guessed
    return OURS if asked.expansion else WITHOUT_FEEDBACK


def _judgement(index: Snapshot, asked: _Asked) -> Judgement:
    judged = {*asked.liked, *asked.disliked}
    if not judged:
        return Judgement(removed=asked.removed)
    # Words of what a person may not open would be shown as added.
    readable = set(following.readable_by(asked.user).filter(pk__in=judged).values_list("pk", flat=True))
    return Judgement(
        wanted=index.documents_of(readable.intersection(asked.liked)).tolist(),
        unwanted=index.documents_of(readable.intersection(asked.disliked)).tolist(),
        removed=asked.removed,
    )


def _amount_with(index: Snapshot, query: Query) -> int:
    """How many documents that may be found hold one of the query's words."""
    amount = 0
    for block in index.blocks(index.numbers(list(query.terms))):
        holding = np.zeros(block.size, np.bool_)
        for row in block.rows():
            if row is not None:
                holding[row.documents] = True
        allowed = block.allowed()
        amount += int((holding if allowed is None else holding & allowed).sum())
    return amount


# --- freshness and authority ------------------------------------------------------------------------------------------
def _worth(now: int) -> Worth:
    return Worth(now, Freshness(), Authority(), _followers())


def _followers() -> dict[int, int]:
    """Followers of each source, as of some minutes ago."""
    known: dict[int, int] | None = cache.get(_FOLLOWERS)
    if known is None:
        known = dict(Follow.objects.values_list("source_id").annotate(Count("pk")).order_by())
        cache.set(_FOLLOWERS, known, FOLLOWERS_KEPT)
    return known


def _reasons(ranked: _Ranked, place: RankCursor, positions: range) -> dict[int, tuple[str, ...]]:
    if ranked.followers is None:
        return {}
    most = max(ranked.followers.values(), default=0)
    return {
        ranked.postings[at]: (
            Freshness().explanation((place.microseconds - ranked.published[at]) / _DAY, ngettext),
            Authority().explanation(ranked.followers.get(ranked.sources[at], 0), most, ngettext),
        )
        for at in positions
    }


# --- for lists that are filtered --------------------------------------------------------------------------------------
def matching(
    user: User | AnonymousUser,
    tree: Tree,
    *,
    now: datetime,
    source_ids: Collection[int] | None = None,
    posting_ids: Collection[int] | None = None,
) -> list[int]:
    """The newest thousand postings that a query of a person holds for, of some sources or of all, or among some.

    Raises
    ------
    TooCostly
        If a statement took longer than any may.
    """
    try:
        with snapshot() as index:
            asked = condition_of(tree, user, languages=languages_of(index, tree), now=now)
            parts: list[Condition] = [asked]
            if source_ids is not None:
                parts.insert(0, Sources(frozenset(source_ids)))
            if posting_ids is not None:
                parts.insert(0, Postings(frozenset(posting_ids)))
            among = parts[0] if len(parts) == 1 else All(tuple(parts))
            return [each.posting_id for each in index.such(Limited(among)).newest(MAX_COUNTED)]
    except OperationalError as error:
        raise _given_up(error) from error
