"""Search results, their reasons, and links to refine them."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from django.contrib.auth.models import AnonymousUser
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.following import queries as following
from apps.search import queries as searching
from apps.search.algorithms import language
from apps.search.algorithms.language.trees import parts_of
from apps.search.queries import Added, Order, SearchResult
from apps.search.queries.marks import Marker, Text, spelled, texts
from apps.web.pages import Context
from apps.web.pages.rows import PostingRow, rows_by_id
from apps.web.pages.search_query import Complaint, SearchQuery, complaint

MAX_CHIPS = 12  # related terms shown as chips; a table has all of them


class Origin(NamedTuple):
    posting_id: int
    title: str


class AddedWord(NamedTuple):
    """A related term."""

    word: str  # in the postings' spelling
    weight: float  # those of the query's own words sum to 1
    origins: tuple[Origin, ...]
    leave_out: str  # address


@dataclass(frozen=True, slots=True)
class Link:
    label: str
    address: str
    count: int = 0


class Facet(NamedTuple):
    name: str
    links: tuple[Link, ...]


def has_criteria(query: SearchQuery) -> bool:
    return bool(query.text.strip() or query.liked)


def search_page(user: User | AnonymousUser, query: SearchQuery, now: datetime) -> Context:
    """A page of results; `now` is in the reader's time zone. Four queries, plus the search itself.

    Raises BadCursor if the address has a wrong cursor, and TooCostly after a statement timeout.
    """
    try:
        tree = language.parse(query.text)
    except language.BadQuery as error:
        return _page(query, "relevance", complaint=complaint(query.text, error))
    has_words = bool(language.wanted(tree) or query.liked)
    order: Order = (query.order or "relevance") if has_words else "newest"
    if not has_criteria(query):
        return _page(query, order)
    result = searching.search(
        user,
        tree,
        order=order,
        cursor=query.start,
        expansion=query.expansion,
        removed_terms=query.removed,
        liked_ids=query.liked,
        disliked_ids=query.disliked,
        now=now,
        fold=following.folds(user),
    )
    origins = {posting_id for added in result.added for posting_id in added.posting_ids}
    read = texts(user, origins.union(result.postings))
    return (
        _page(query, order, has_words=has_words)
        | {
            "meant": _meant(tree, query),  # spelling suggestion
            "understood": understood(tree, query.text),  # the parsed query, if ambiguous
            "needs_account": not user.is_authenticated and requires_account(tree),
            "rows": _found(user, result, read, tree, query),
            "total": result.total,  # estimate
            "own": result.with_own_words,
            "related": result.total - result.with_own_words,
            "is_partial": result.is_partial,  # old postings were not searched
            "filters": filters(tree, query),  # links that remove one
            "added": (added := _added(result.added, read, query)),
            "chips": added[:MAX_CHIPS],
            "removed": tuple(Link(term, query.putting_back(term).address()) for term in query.removed),
            "facets": facets(tree, query, result, _source_names(user, result)),
            "next": query.changed(start=result.next).address() if result.next else "",
        }
    )


def _page(query: SearchQuery, order: Order, *, has_words: bool = False, complaint: Complaint | None = None) -> Context:
    """A page without results; `has_words` if relevance is defined."""
    return {
        "query": query,
        "order": order,
        "complaint": complaint,
        "has_words": has_words,
        "is_empty": complaint is None and not has_criteria(query),
        "can_expand": has_words and order != "newest",
        "here": reverse("search") + query.address(),
        "by_relevance": query.changed(order="relevance").address(),
        "by_freshness": query.changed(order="fresh").address(),
        "by_time": query.changed(order="newest").address(),
        "with_own_words": query.changed(expansion=False, removed=()).address(),
        "with_more_words": query.changed(expansion=True, removed=()).address(),
        "without_verdicts": query.changed(liked=(), disliked=()).address(),
    }


# --- the query --------------------------------------------------------------------------------------------------------
def understood(tree: language.Tree, text: str) -> str:
    """The parsed query if it mixes OR with other words without parentheses; else "".

    >>> understood(language.parse("paris london OR rome"), "paris london OR rome")
    'paris (london OR rome)'
    >>> understood(language.parse("paris"), "paris")
    ''
    """
    is_mixed = isinstance(tree, language.And) and any(isinstance(part, language.Or) for part in tree.parts)
    written = language.to_text(tree)
    return written if is_mixed and written != " ".join(text.split()) else ""


def _meant(tree: language.Tree, query: SearchQuery) -> Link | None:
    meant = searching.suggestion(tree)
    written = language.to_text(meant)
    return None if meant == tree else Link(written, query.changed(text=written).address())


def requires_account(tree: language.Tree) -> bool:
    """Whether it filters by a user's marks or follows.

    >>> requires_account(language.parse("paris OR -(rome is:unread)")), requires_account(language.parse("lang:en"))
    (True, False)
    """
    match tree:
        case language.Filter(field):
            return field == "is"
        case language.Not(part):
            return requires_account(part)
        case language.And(parts) | language.Or(parts):
            return any(requires_account(part) for part in parts)
    return False


def filters(tree: language.Tree, query: SearchQuery) -> tuple[Link, ...]:
    """The query's filters, each with a link to the search without it.

    >>> filters(language.parse("paris -lang:de"), SearchQuery("paris -lang:de"))
    (Link(label='-lang:de', address='?q=paris', count=0),)
    """
    return tuple(
        Link(language.to_text(part), query.changed(text=language.to_text(language.without(tree, part))).address())
        for part in parts_of(tree)
        if isinstance(part.part if isinstance(part, language.Not) else part, language.Filter)
    )


# --- results ----------------------------------------------------------------------------------------------------------
def _found(
    user: User | AnonymousUser, result: SearchResult, read: Mapping[int, Text], tree: language.Tree, query: SearchQuery
) -> tuple[Context, ...]:
    marker = Marker(tree, {added.term: added.weight for added in result.added})
    by_id = rows_by_id(user, result.postings)
    # A posting that was just deleted can still be among the results.
    return tuple(
        _row(by_id[posting_id], read[posting_id], marker, query, result.reasons.get(posting_id, ()))
        for posting_id in result.postings
        if posting_id in by_id and posting_id in read
    )


def _row(posting: PostingRow, text: Text, marker: Marker, query: SearchQuery, reasons: tuple[str, ...]) -> Context:
    verdict = query.verdict(posting.id)
    return {
        "posting": posting,
        "marked": marker.mark(text),
        "verdict": verdict,
        "reasons": reasons,  # effects of freshness and source on its rank
        "like": query.judging(posting.id, "" if verdict == "liked" else "liked").address(),  # toggles
        "dislike": query.judging(posting.id, "" if verdict == "disliked" else "disliked").address(),
    }


def _added(added: Collection[Added], read: Mapping[int, Text], query: SearchQuery) -> tuple[AddedWord, ...]:
    known = [(word, [id for id in word.posting_ids if id in read]) for word in added]
    spelling = spelled([word.term for word in added], dict.fromkeys(read[id] for _, ids in known for id in ids))
    return tuple(
        AddedWord(
            spelling[word.term],
            word.weight,
            tuple(Origin(id, read[id].title or read[id].text[:80]) for id in ids),
            query.leaving_out(word.term).address(),
        )
        for word, ids in known
    )


# --- facets -----------------------------------------------------------------------------------------------------------
def facets(
    tree: language.Tree, query: SearchQuery, result: SearchResult, source_names: Mapping[int, str]
) -> tuple[Facet, ...]:
    """Links that narrow the results; a source whose name is ambiguous is given by its number."""

    def link(label: str, count: int, *narrowings: tuple[language.Field, str]) -> Link:
        narrower = tree
        for field, value in narrowings:
            narrower = language.narrowed(narrower, field, value)
        return Link(label, query.changed(text=language.to_text(narrower)).address(), count)

    names = list(source_names.values())
    sources = [
        link(source_names[source_id], count, ("source", _filter_value(source_id, source_names[source_id], names)))
        for source_id, count in result.facets.sources
        if source_id in source_names
    ]
    categories = [link(name, count, ("category", name)) for name, count in result.facets.categories]
    days = [
        link(
            date_format(day, _("j F Y")),
            count,
            ("after", day.isoformat()),
            ("before", (day + timedelta(days=1)).isoformat()),
        )
        for day, count in result.facets.days
    ]
    found = ((_("Feeds"), sources), (_("Categories"), categories), (_("Days"), days))
    return tuple(Facet(name, tuple(links)) for name, links in found if links)


def _filter_value(source_id: int, name: str, names: Iterable[str]) -> str:
    """The value of `source:` that matches only this source."""
    is_unique = sum(language.names_match(name, other) for other in names) == 1 and not name.isdecimal()
    return name if is_unique else str(source_id)


def _source_names(user: User | AnonymousUser, result: SearchResult) -> dict[int, str]:
    """The names of sources that the user may see, custom ones first."""
    ids = [source_id for source_id, _ in result.facets.sources]
    names = {source.pk: str(source) for source in following.visible_sources(user).filter(pk__in=ids)}
    if user.is_authenticated:
        own = following.follows_of(user).filter(source_id__in=ids).exclude(title="").values_list("source_id", "title")
        names |= dict(own)
    return names
