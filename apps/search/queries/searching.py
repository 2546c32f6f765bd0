"""Search for a user, in one order, page by page."""

import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import Literal

import numpy as np
from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache
from django.db.models import Count
from django.utils.translation import ngettext

from apps.accounts.models import User
from apps.following import queries as following
from apps.following.models import Follow
from apps.postings import queries as postings
from apps.postings.algorithms.times import microseconds, moment_of
from apps.postings.queries import Cursor
from apps.search.algorithms.index.conditions import All, Before, Condition, Postings, Sources
from apps.search.algorithms.index.newest import Found
from apps.search.algorithms.index.worth import DAY, Worth
from apps.search.algorithms.language import Phrase, Tree, conditions, says_nothing, wanted
from apps.search.algorithms.models import recipe
from apps.search.algorithms.models.factors import Authority, Freshness
from apps.search.algorithms.models.index import IntArray, distinct
from apps.search.algorithms.models.recipe import OURS, WITHOUT_FEEDBACK, Judgement, Recipe
from apps.search.queries.analysis import languages_of, query_of, required_terms
from apps.search.queries.blocks import NOTHING
from apps.search.queries.cursors import LENGTH, RankCursor
from apps.search.queries.limits import Limited
from apps.search.queries.ordering import first_of_each, own_languages_first, tickers_last, titled
from apps.search.queries.resolving import condition_of
from apps.search.queries.snapshot import Snapshot, snapshot

Order = Literal["relevance", "fresh", "newest"]

MAX_RANKED = 1_000  # postings in an order by relevance
MAX_COUNTED = 1_000  # postings that are counted by source, in an order by time
CACHE_SECONDS = 1_800  # of an order by relevance, from its first page on
FOLLOWERS_CACHE_SECONDS = 600
_FOLLOWERS = "search.followers"


@dataclass(frozen=True, slots=True)
class Added:
    """A term added to those of the query."""

    term: str
    weight: float  # the query's own terms have 1 together
    posting_ids: tuple[int, ...]  # the postings that it comes from, those with the largest share first


@dataclass(frozen=True, slots=True)
class SearchResult:
    postings: tuple[int, ...]  # of this page
    total: int  # approximately
    exact: int  # of them, those with all words of the query
    sources: Mapping[int, int]  # how many postings of each
    is_partial: bool  # old postings were skipped to bound the cost
    added: tuple[Added, ...] = ()  # heaviest first
    # Effects of freshness and authority on each posting of the page.
    reasons: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    next: str = ""  # cursor of the next page, "" at the end
    is_ranked: bool = True  # False by time, and for words that are too common to rank by
    milliseconds: float = 0.0


def search(
    user: User | AnonymousUser,
    tree: Tree,
    *,
    order: Order,
    cursor: str,
    expansion: bool,
    removed_terms: Collection[str] = (),
    liked_ids: Collection[int] = (),
    disliked_ids: Collection[int] = (),
    now: datetime,
    fold: bool = False,
) -> SearchResult:
    """A page of results, in about forty statements at most; raises `BadCursor` or `TooCostly`.

    In an order by time all words are required; by relevance postings with most of them, or of the added words, come
    first, up to the best thousand. New postings change all scores, so an order by relevance is cached for half an hour
    to make its pages consistent, and computed again afterwards without what has arrived since.

    Parameters
    ----------
    order : "relevance", "fresh" or "newest"
        "fresh" is by relevance times freshness and authority. A query without words to rank by is ordered by time.
    cursor : str
        `next` of the previous page; "" for the first.
    expansion : bool
        Whether to add words of the best postings, except `removed_terms`.
    liked_ids, disliked_ids : collection of int
        Relevance feedback; postings that the user may not open are ignored.
    now : datetime
        Aware, in the user's time zone.
    fold : bool
        Whether to show one of all copies of an article: the best, or by time the one that came first. A page by time
        is shorter then.
    """
    started = time.perf_counter()
    judged = tuple(liked_ids), tuple(disliked_ids)
    if says_nothing(tree) and not liked_ids:
        return SearchResult((), 0, 0, {}, is_partial=False)
    request = _Request(user, tree, order, expansion, tuple(removed_terms), *judged, now, fold)
    result = (order != "newest" and _by_relevance(request, cursor)) or _by_time(request, cursor)
    return replace(result, milliseconds=1_000 * (time.perf_counter() - started))


@dataclass(frozen=True, slots=True)
class _Request:
    user: User | AnonymousUser
    tree: Tree
    order: Order
    expansion: bool
    removed: tuple[str, ...]
    liked: tuple[int, ...]
    disliked: tuple[int, ...]
    now: datetime
    fold: bool

    def key(self, place: RankCursor) -> str:
        """The cache key of the order by relevance that began at this place."""
        options = (self.order, self.expansion, self.removed, self.liked, self.disliked, self.fold)
        return place.key(self.user.pk, self.tree, options)


# --- by time ----------------------------------------------------------------------------------------------------------
def _by_time(request: _Request, cursor: str) -> SearchResult:
    place = Cursor.decode(cursor) if cursor else None
    before = Before(microseconds(place.published_at), place.id) if place else None
    with snapshot() as index:
        condition = condition_of(
            request.tree, request.user, languages=languages_of(index, request.tree), now=request.now
        )
        limited = Limited(condition)
        found = index.restricted(limited).newest(MAX_COUNTED)
        rest = found if before is None else _behind(index, condition, found, before)
        documents = np.array([each.document for each in found], np.int64)
        total = len(found) if len(found) < MAX_COUNTED else _amount(index, limited)
        sources = Counter(index.attributes(documents).source_ids.tolist())
        shown = rest[:LENGTH]
        copies = _copies(index, condition, shown) if request.fold else frozenset()
    last = Cursor(moment_of(shown[-1].published), shown[-1].posting_id) if shown else None
    return SearchResult(
        postings=tuple(each.posting_id for each in shown if each.posting_id not in copies),
        total=total,
        exact=total,
        sources=sources,
        is_partial=limited.is_partial,
        is_ranked=False,
        next=last.encode() if last and len(rest) > LENGTH else "",
    )


def _behind(index: Snapshot, condition: Condition, found: Sequence[Found], before: Before) -> Sequence[Found]:
    known = [each for each in found if (each.published, each.posting_id) < (before.published, before.posting_id)]
    if len(known) > LENGTH or len(found) < MAX_COUNTED:
        return known
    return index.restricted(All((Limited(condition), before))).newest(LENGTH + 1)


def _copies(index: Snapshot, condition: Condition, shown: Sequence[Found]) -> frozenset[int]:
    """Those of the postings of which a matching copy came before: it is on this page or on another one."""
    earlier = postings.earlier_copies([each.posting_id for each in shown])
    if not earlier:
        return frozenset()
    among = frozenset().union(*earlier.values())
    found = index.restricted(All((Postings(among), Limited(condition)))).newest(len(among))
    matching = {each.posting_id for each in found}
    return frozenset(id for id, copies in earlier.items() if not matching.isdisjoint(copies))


def _amount(index: Snapshot, limited: Limited) -> int:
    """The approximate number of matching documents."""
    return round(sum(limited.about(block) for block in index.restricted(limited).blocks()))


# --- by relevance -----------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Ranked:
    """A whole order by relevance, as cached for its later pages."""

    whole: SearchResult  # as one page
    sources: tuple[int, ...]  # of each of its postings
    published: tuple[int, ...]  # of each; microseconds since 1970
    followers: Mapping[int, int] | None  # of sources, in the order "fresh"


def _by_relevance(request: _Request, cursor: str) -> SearchResult | None:
    """None if there are no words to rank by."""
    place = RankCursor.decode(cursor, request.now) if RankCursor.may_be(cursor) else None
    if cursor and place is None:
        return None
    ranked: _Ranked | None = cache.get(request.key(place)) if place else None
    if ranked is None:
        if place:
            request = replace(request, now=place.at(request.now))
        with snapshot() as index:
            place = place or RankCursor(index.state.next_document, microseconds(request.now))
            ranked = _rank(index, request, place.until)
        if ranked is None:
            return None
        if len(ranked.whole.postings) > LENGTH:
            cache.set(request.key(place), ranked, CACHE_SECONDS)
    assert place
    postings, end = ranked.whole.postings, place.position + LENGTH
    return replace(
        ranked.whole,
        postings=postings[place.position : end],
        reasons=_reasons(ranked, place, range(place.position, min(end, len(postings)))),
        next=replace(place, position=end).encode() if end < len(postings) else "",
    )


def _rank(index: Snapshot, request: _Request, until: int) -> _Ranked | None:
    languages = languages_of(index, request.tree)
    query = query_of(index, request.tree, languages)
    judgement = _judgement(index, request)
    if not query and not judgement.wanted:
        return None
    condition = condition_of(conditions(request.tree), request.user, languages=languages, now=request.now)
    limited = Limited(condition, until=until, at_once=True)
    worth = Worth(microseconds(request.now), _followers()) if request.order == "fresh" else None
    narrowed = index.restricted(limited, worth, index.numbers(list(query.terms)).tolist())
    answer = recipe.search(narrowed, query, MAX_RANKED, recipe=_recipe(request, judgement), judgement=judgement)
    is_partial = limited.is_partial or narrowed.is_partial  # before counting, which skips no irrelevant blocks
    found, required = answer.ranking, required_terms(request.tree, languages)
    known = index.attributes(found.documents)
    is_unjudged = request.order == "relevance" and not judgement.wanted
    kept = own_languages_first(request.user, found, known, is_unjudged and titled(index, found, required))
    kept = tickers_last(index, found, known, kept)
    if request.fold:
        kept = first_of_each(known, kept)
    exact, with_own_words = _amounts_with(narrowed, required)
    added = answer.expansion.added(query.terms)
    origins = sorted({document for term in added for document, _ in term.origins})
    posting_of = dict(zip(origins, index.attributes(np.array(origins, np.int64)).posting_ids.tolist(), strict=True))
    whole = SearchResult(
        postings=tuple(known.posting_ids[kept].tolist()),
        # Added words find more, of which only the best are shown.
        total=max(with_own_words, len(found)),
        exact=exact,
        added=tuple(Added(term.term, term.weight, tuple(posting_of[at] for at, _ in term.origins)) for term in added),
        sources=Counter(known.source_ids.tolist()),
        is_partial=is_partial,
    )
    sources, published = known.source_ids[kept], known.published[kept]
    return _Ranked(whole, tuple(sources.tolist()), tuple(published.tolist()), worth and worth.followers)


def _recipe(request: _Request, judgement: Judgement) -> Recipe:
    is_quoted = any(isinstance(part, Phrase) for part in wanted(request.tree))  # wanted exactly so
    return OURS if judgement.wanted or (request.expansion and not is_quoted) else WITHOUT_FEEDBACK


def _judgement(index: Snapshot, request: _Request) -> Judgement:
    judged = {*request.liked, *request.disliked}
    if not judged:
        return Judgement(removed=request.removed)
    # Otherwise words of postings that the user may not open could be shown as added.
    readable = set(following.readable_by(request.user).filter(pk__in=judged).values_list("pk", flat=True))
    return Judgement(
        wanted=index.documents_of(readable.intersection(request.liked)).tolist(),
        unwanted=index.documents_of(readable.intersection(request.disliked)).tolist(),
        removed=request.removed,
    )


def _amounts_with(index: Snapshot, required: Sequence[Sequence[str]]) -> tuple[int, int]:
    """The numbers of admitted documents with a term of each group, and with any of the terms."""
    exact = amount = 0
    for block in index.blocks(index.numbers([term for group in required for term in group])):
        rows = iter(block.rows())
        held: list[IntArray] = [NOTHING]  # the documents of each group
        for group in required:
            of_group = [row.documents for row in islice(rows, len(group)) if row]
            found = of_group[0] if len(of_group) == 1 else distinct(np.concatenate([NOTHING, *of_group]))
            held.append(block.allowed(found))
        apart = len(required) - 1
        every = np.sort(np.concatenate(held)) if apart else held[-1]  # what all groups have stands that often
        amount += every.size - int((every[1:] == every[:-1]).sum())
        exact += int((every[apart:] == every[: max(0, every.size - apart)]).sum())
    return exact, amount


# --- freshness and authority ------------------------------------------------------------------------------------------
def _followers() -> dict[int, int]:
    """Followers of each source, cached for some minutes."""
    counts = Follow.objects.values_list("source_id").annotate(Count("pk")).order_by()
    return cache.get_or_set(_FOLLOWERS, lambda: dict(counts), FOLLOWERS_CACHE_SECONDS) or {}


def _reasons(ranked: _Ranked, place: RankCursor, positions: range) -> dict[int, tuple[str, ...]]:
    if ranked.followers is None:
        return {}
    most = max(ranked.followers.values(), default=0)
    return {
        ranked.whole.postings[at]: (
            Freshness().explanation((place.microseconds - ranked.published[at]) / DAY, ngettext),
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
    """The newest thousand postings that match a user's query, among these sources or postings; or `TooCostly`."""
    if says_nothing(tree):
        return []
    with snapshot() as index:
        parts: list[Condition] = [condition_of(tree, user, languages=languages_of(index, tree), now=now)]
        if source_ids is not None:
            parts.insert(0, Sources(frozenset(source_ids)))
        if posting_ids is not None:
            parts.insert(0, Postings(frozenset(posting_ids)))
        among = Limited(All(tuple(parts)))
        return [each.posting_id for each in index.restricted(among).newest(MAX_COUNTED)]
