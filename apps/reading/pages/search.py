"""Search: what was found, why, and every way to go on from there."""

from collections.abc import Iterable, Mapping
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
from apps.search.algorithms.language import (
    And,
    BadQuery,
    Field,
    Filter,
    Not,
    Or,
    Tree,
    names_match,
    narrowed,
    parse,
    to_text,
    wanted,
    without,
)
from apps.search.algorithms.language.trees import parts_of
from apps.search.queries import LENGTH, Added, Order, SearchResult
from apps.search.queries.marks import Marked, Marker, Text, spelled, texts
from apps.web.pages.rows import PostingRow, rows_by_id
from apps.web.pages.search_query import Complaint, SearchQuery, Verdict, complaint

__all__ = ["LENGTH", "SearchPage", "search_page"]

MAX_CHIPS = 12  # added words that are shown at once; all of them stand in a table


@dataclass(frozen=True, slots=True)
class FoundRow:
    posting: PostingRow
    marked: Marked
    verdict: Verdict
    reasons: tuple[str, ...]  # what its freshness and its source did to its place
    like: str  # address of the same search with this one liked, or no longer if it was
    dislike: str


class Origin(NamedTuple):
    posting_id: int
    title: str


@dataclass(frozen=True, slots=True)
class AddedWord:
    """A word that was looked for besides those of the query."""

    word: str  # as postings spell it
    weight: float  # the query's own words have 1 together
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


@dataclass(frozen=True, slots=True)
class SearchPage:
    asked: SearchQuery
    order: Order
    now: datetime
    complaint: Complaint | None = None
    meant: Link | None = None  # the search that was probably meant
    understood: str = ""  # the query in other words, where those could be doubted
    has_words: bool = False  # something to order by relevance
    needs_account: bool = False  # it asks for what only people who are signed in have
    rows: tuple[FoundRow, ...] = ()
    total: int = 0  # about
    own: int = 0  # of them, those that hold one of the query's own words
    is_partial: bool = False  # old postings were not looked at
    filters: tuple[Link, ...] = ()  # to the search without each
    added: tuple[AddedWord, ...] = ()
    removed: tuple[Link, ...] = ()  # to the search with each put back
    facets: tuple[Facet, ...] = ()
    next: str = ""  # address of the page that follows, "" at the end

    @property
    def is_empty(self) -> bool:
        """Nothing is asked yet."""
        return self.complaint is None and not is_anything_asked(self.asked)

    @property
    def related(self) -> int:
        """Results with none of the query's own words, only with related terms."""
        return self.total - self.own

    @property
    def can_expand(self) -> bool:
        return self.has_words and self.order != "newest"

    @property
    def chips(self) -> tuple[AddedWord, ...]:
        return self.added[:MAX_CHIPS]

    @property
    def here(self) -> str:
        return reverse("search") + self.asked.address()

    @property
    def by_relevance(self) -> str:
        return self.asked.ordered_by("relevance").address()

    @property
    def by_freshness(self) -> str:
        return self.asked.ordered_by("fresh").address()

    @property
    def by_time(self) -> str:
        return self.asked.ordered_by("newest").address()

    @property
    def with_own_words(self) -> str:
        return self.asked.expanded(False).address()

    @property
    def with_more_words(self) -> str:
        return self.asked.expanded(True).address()

    @property
    def without_verdicts(self) -> str:
        return self.asked.without_verdicts().address()


def is_anything_asked(asked: SearchQuery) -> bool:
    return bool(asked.text.strip() or asked.liked)


def search_page(user: User | AnonymousUser, asked: SearchQuery, now: datetime) -> SearchPage:
    """A page of what was found; `now` is in the reader's time zone. Besides the search itself, four queries.

    Raises
    ------
    BadCursor
        If the start in the address is no place in these results.
    TooCostly
        If a statement took longer than any may.
    """
    try:
        tree = parse(asked.text)
    except BadQuery as error:
        return SearchPage(asked, "relevance", now, complaint=complaint(asked.text, error))
    has_words = bool(wanted(tree) or asked.liked)
    order: Order = (asked.order or "relevance") if has_words else "newest"
    if not is_anything_asked(asked):
        return SearchPage(asked, order, now)
    result = searching.search(
        user,
        tree,
        order=order,
        cursor=asked.start,
        expansion=asked.expansion,
        removed_terms=asked.removed,
        liked_ids=asked.liked,
        disliked_ids=asked.disliked,
        now=now,
    )
    origins = {posting_id for added in result.added for posting_id in added.posting_ids}
    read = texts(user, origins.union(result.postings))
    return SearchPage(
        asked,
        order,
        now,
        meant=_meant(tree, asked),
        understood=understood(tree, asked.text),
        has_words=has_words,
        needs_account=not user.is_authenticated and asks_for_an_account(tree),
        rows=_found(user, result, read, tree, asked),
        total=result.total,
        own=result.with_own_words,
        is_partial=result.is_partial,
        filters=filters(tree, asked),
        added=_added(result.added, read, asked),
        removed=tuple(Link(term, asked.putting_back(term).address()) for term in asked.removed),
        facets=facets(tree, asked, result, _source_names(user, result)),
        next=asked.from_start(result.next).address() if result.next else "",
    )


# --- the query --------------------------------------------------------------------------------------------------------
def understood(tree: Tree, text: str) -> str:
    """The query as it was read, if it has an OR without parentheses beside other words; else nothing is in doubt.

    >>> understood(parse("paris london OR rome"), "paris london OR rome"), understood(parse("paris"), "paris")
    ('paris (london OR rome)', '')
    """
    is_mixed = isinstance(tree, And) and any(isinstance(part, Or) for part in tree.parts)
    written = to_text(tree)
    return written if is_mixed and written != " ".join(text.split()) else ""


def _meant(tree: Tree, asked: SearchQuery) -> Link | None:
    meant = searching.suggestion(tree)
    written = to_text(meant)
    return None if meant == tree else Link(written, asked.narrowed_to(written).address())


def asks_for_an_account(tree: Tree) -> bool:
    """Whether it asks what somebody has read, starred or followed.

    >>> asks_for_an_account(parse("paris OR -(rome is:unread)")), asks_for_an_account(parse("lang:en"))
    (True, False)
    """
    match tree:
        case Filter(field):
            return field == "is"
        case Not(part):
            return asks_for_an_account(part)
        case And(parts) | Or(parts):
            return any(asks_for_an_account(part) for part in parts)
    return False


def filters(tree: Tree, asked: SearchQuery) -> tuple[Link, ...]:
    """The filters that hold for all results, each with the search without it.

    >>> filters(parse("paris -lang:de"), SearchQuery("paris -lang:de"))
    (Link(label='-lang:de', address='?q=paris', count=0),)
    """
    return tuple(
        Link(to_text(part), asked.narrowed_to(to_text(without(tree, part))).address())
        for part in parts_of(tree)
        if isinstance(part.part if isinstance(part, Not) else part, Filter)
    )


# --- what was found ---------------------------------------------------------------------------------------------------
def _found(
    user: User | AnonymousUser, result: SearchResult, read: Mapping[int, Text], tree: Tree, asked: SearchQuery
) -> tuple[FoundRow, ...]:
    marker = Marker(tree, {added.term: added.weight for added in result.added})
    by_id = rows_by_id(user, result.postings)
    # One that was deleted a moment ago is in the results and nowhere else.
    return tuple(
        _row(by_id[posting_id], read[posting_id], marker, asked, result.reasons.get(posting_id, ()))
        for posting_id in result.postings
        if posting_id in by_id and posting_id in read
    )


def _row(posting: PostingRow, text: Text, marker: Marker, asked: SearchQuery, reasons: tuple[str, ...]) -> FoundRow:
    verdict = asked.verdict(posting.id)
    return FoundRow(
        posting,
        marker.mark(text),
        verdict,
        reasons,
        asked.judging(posting.id, "" if verdict == "liked" else "liked").address(),
        asked.judging(posting.id, "" if verdict == "disliked" else "disliked").address(),
    )


def _added(added: Iterable[Added], read: Mapping[int, Text], asked: SearchQuery) -> tuple[AddedWord, ...]:
    added = list(added)
    sources = [read[posting_id] for word in added for posting_id in word.posting_ids if posting_id in read]
    spelling = spelled([word.term for word in added], dict.fromkeys(sources))
    return tuple(
        AddedWord(
            spelling[word.term],
            word.weight,
            tuple(
                Origin(posting_id, read[posting_id].title or read[posting_id].text[:80])
                for posting_id in word.posting_ids
                if posting_id in read
            ),
            asked.leaving_out(word.term).address(),
        )
        for word in added
    )


# --- ways to go on ----------------------------------------------------------------------------------------------------
def facets(tree: Tree, asked: SearchQuery, result: SearchResult, source_names: Mapping[int, str]) -> tuple[Facet, ...]:
    """Ways to narrow the results; a name that another source's name holds as well is given as a number."""

    def link(label: str, count: int, *narrowings: tuple[Field, str]) -> Link:
        narrower = tree
        for field, value in narrowings:
            narrower = narrowed(narrower, field, value)
        return Link(label, asked.narrowed_to(to_text(narrower)).address(), count)

    names = list(source_names.values())
    sources = [
        link(source_names[source_id], count, ("source", _telling(source_id, source_names[source_id], names)))
        for source_id, count in result.sources
        if source_id in source_names
    ]
    categories = [link(name, count, ("category", name)) for name, count in result.categories]
    days = [
        link(
            date_format(day, _("j F Y")),
            count,
            ("after", day.isoformat()),
            ("before", (day + timedelta(days=1)).isoformat()),
        )
        for day, count in result.days
    ]
    found = ((_("Feeds"), sources), (_("Categories"), categories), (_("Days"), days))
    return tuple(Facet(name, tuple(links)) for name, links in found if links)


def _telling(source_id: int, name: str, names: Iterable[str]) -> str:
    """What is written behind "source:" for this one and no other."""
    is_telling = sum(names_match(name, other) for other in names) == 1 and not name.isdecimal()
    return name if is_telling else str(source_id)


def _source_names(user: User | AnonymousUser, result: SearchResult) -> dict[int, str]:
    """The sources that the person may see, by the names that they gave them."""
    ids = [source_id for source_id, _ in result.sources]
    names = {source.pk: str(source) for source in following.visible_sources(user).filter(pk__in=ids)}
    if user.is_authenticated:
        own = following.follows_of(user).filter(source_id__in=ids).exclude(title="").values_list("source_id", "title")
        names |= dict(own)
    return names
