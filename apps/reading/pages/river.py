"""Lists of postings: all, of a folder, of a source, starred, with a tag."""

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet

from apps.accounts.models import User
from apps.following import queries as following
from apps.following.models import Follow
from apps.following.queries import Scope
from apps.following.queries.listing import listed
from apps.postings import queries as postings
from apps.postings.models import Posting
from apps.postings.queries import Cursor
from apps.retrieval.reports.delays import CheckRate, check_rate_of
from apps.search import queries as searching
from apps.search.algorithms.language import BadQuery, Tree, narrowed, parse
from apps.sources.algorithms.addresses import http_address
from apps.sources.models import Source
from apps.web.pages.rows import PostingRow, rows
from apps.web.pages.search_query import Complaint, complaint

LENGTH = 30  # postings shown at once


@dataclass(frozen=True, slots=True)
class ListOptions:
    unread_only: bool
    order: User.Order
    start: Cursor | None  # where the page before ended
    words: str = ""  # a query that all postings have to answer
    view: User.View = User.View.LIST


@dataclass(frozen=True, slots=True)
class RiverPage:
    scope: Scope
    title: str
    rows: tuple[PostingRow, ...]
    arrangement: ListOptions
    next: str  # cursor of the page that follows, "" at the end
    source: Source | None
    follow: Follow | None
    asking: CheckRate | None  # of the source
    now: datetime
    complaint: Complaint | None = None  # about the query
    is_cut: bool = False  # older postings may answer the query as well

    @property
    def shown_at(self) -> str:
        return self.now.isoformat()

    @property
    def views(self) -> list[tuple[str, str]]:
        """Layouts to choose from, each with its name."""
        return [(view.value, str(view.label)) for view in User.View]

    @property
    def site_url(self) -> str:
        """Of the source, empty if it leads to no page of the web."""
        return http_address(self.source.site_url) if self.source else ""

    @property
    def place(self) -> str:
        """What a posting's own menu has to know of the list that it stands in, as a query string."""
        order = self.arrangement.order.value
        return urlencode({"scope": f"{self.scope.kind}-{self.scope.id}", "order": order, "shown_at": self.shown_at})


def river_page(
    user: User | AnonymousUser,
    scope: Scope,
    title: str,
    arrangement: ListOptions,
    now: datetime,
    source: Source | None = None,
    follow: Follow | None = None,
) -> RiverPage:
    """Three queries for the postings, four of a folder, and one of how a source is asked.

    The caller has found, and may show, the scope.

    Where the postings have to answer a query, a search besides, of a bounded number of queries.

    Raises
    ------
    TooCostly
        If that search takes too long.
    """
    asking = check_rate_of(source.pk, now) if source else None
    is_cut = False
    if not arrangement.words:
        found = _listed(user, scope, arrangement, follow)
    else:
        try:
            answering = _answering(user, scope, parse(arrangement.words), arrangement, now)
        except BadQuery as error:
            told = complaint(arrangement.words, error)
            return RiverPage(scope, title, (), arrangement, "", source, follow, asking, now, told)
        is_cut = len(answering) == searching.MAX_COUNTED
        found = _arranged(following.postings_in(user, scope).filter(pk__in=answering), user, arrangement)
    shown = rows(user, found[:LENGTH])
    last = Cursor(shown[-1].published_at, shown[-1].id).encode() if shown and len(found) > LENGTH else ""
    return RiverPage(scope, title, tuple(shown), arrangement, last, source, follow, asking, now, is_cut=is_cut)


def _listed(user: User | AnonymousUser, scope: Scope, arrangement: ListOptions, follow: Follow | None) -> list[int]:
    """The postings of a page of the scope, and the one that follows."""
    if not user.is_authenticated or not (scope.kind in {"all", "folder"} or follow):
        return _arranged(following.postings_in(user, scope), user, arrangement)
    return listed(
        user,
        scope,
        unread_only=arrangement.unread_only,
        oldest_first=arrangement.order == User.Order.OLDEST,
        start=arrangement.start,
        limit=LENGTH + 1,
    )


def _answering(
    user: User | AnonymousUser, scope: Scope, tree: Tree, arrangement: ListOptions, now: datetime
) -> list[int]:
    """The newest thousand of the scope's postings that answer a query."""
    if arrangement.unread_only:
        tree = narrowed(tree, "is", "unread")
    if scope.kind == "starred":
        tree = narrowed(tree, "is", "starred")
    return searching.matching(user, tree, now=now, source_ids=_sources_of(user, scope))


def _sources_of(user: User | AnonymousUser, scope: Scope) -> set[int] | None:
    """The sources that the scope's postings are of; None where they may be of any."""
    if scope.kind == "source":
        return {scope.id}
    if scope.kind in {"starred", "tag"} or not user.is_authenticated:
        return None
    follows = following.follows_of(user)
    if scope.kind == "folder":
        follows = follows.filter(folders__in=following.with_descendants(following.folders_of(user), scope.id))
    return set(follows.values_list("source_id", flat=True))


def _arranged(found: QuerySet[Posting], user: User | AnonymousUser, arrangement: ListOptions) -> list[int]:
    start = arrangement.start
    if arrangement.unread_only:
        found = following.with_state(found, user).filter(Q(unread=True))
    if arrangement.order == User.Order.OLDEST:
        ordered = postings.oldest(postings.after(found, start) if start else found)
    else:
        ordered = postings.newest(postings.before(found, start) if start else found)
    return list(ordered.values_list("pk", flat=True)[: LENGTH + 1])
