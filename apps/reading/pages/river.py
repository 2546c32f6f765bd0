"""Rivers: all postings, of a folder, of a source, starred, with a tag; and the layouts of lists."""

from datetime import datetime
from typing import NamedTuple
from urllib.parse import urlencode

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet

from apps.accounts.models import User
from apps.following import queries as following
from apps.following.models import Follow
from apps.following.queries import Scope
from apps.following.queries.listing import after_place, positions
from apps.postings.models import Posting
from apps.postings.queries import Cursor
from apps.retrieval.reports.delays import check_rate_of
from apps.search import queries as searching
from apps.search.algorithms.language import BadQuery, Tree, narrowed, parse
from apps.sources.algorithms.addresses import http_address
from apps.sources.models import Source
from apps.web.pages import Context
from apps.web.pages.rows import icon_address, rows
from apps.web.pages.search_query import complaint

LENGTH = 30  # postings shown at once


class ListOptions(NamedTuple):
    unread_only: bool
    order: User.Order
    start: Cursor | None  # end of the previous page
    words: str = ""  # filter query
    view: User.View = User.View.LIST


def river_page(
    user: User | AnonymousUser,
    scope: Scope,
    title: str,
    options: ListOptions,
    now: datetime,
    source: Source | None = None,
    follow: Follow | None = None,
) -> Context:
    """A page of a list whose access the caller has checked.

    Three queries, four for a folder, one more for a source's check rate, and a bounded number for a filter query.
    Raises TooCostly if that takes too long.
    """
    page: Context = {
        "scope": scope,
        "title": title,
        "rows": [],
        "options": options,
        "views": [(view.value, str(view.label)) for view in User.View],
        "next": "",  # cursor of the next page, "" at the end
        "source": source,
        "icon": icon_address(source.icon_id) if source else "",
        "site_url": http_address(source.site_url) if source else "",
        "follow": follow,
        "check_rate": check_rate_of(source.pk, now) if source else None,
        # The list, for the postings' menus.
        "list_query": urlencode(
            {"scope": f"{scope.kind}-{scope.id}", "order": options.order, "shown_at": now.isoformat()}
        ),
        "shown_at": now.isoformat(),
    }
    if not options.words:
        found = _listed(user, scope, options, follow)
    else:
        try:
            matching = _matching(user, scope, parse(options.words), options, now)
        except BadQuery as error:
            return page | {"complaint": complaint(options.words, error)}
        page["is_cut"] = len(matching) == searching.MAX_COUNTED  # older postings may match, too
        found = _ordered(following.postings_in(user, scope).filter(pk__in=matching), user, options)
    page["rows"] = shown = rows(user, found[:LENGTH])
    if shown and len(found) > LENGTH:
        page["next"] = Cursor(shown[-1].published_at, shown[-1].id).encode()
    return page


def _listed(user: User | AnonymousUser, scope: Scope, options: ListOptions, follow: Follow | None) -> list[int]:
    """The postings of a page, and the next one."""
    if not user.is_authenticated or not (scope.kind in {"all", "folder"} or follow):
        return _ordered(following.postings_in(user, scope), user, options)
    found = positions(
        user,
        scope,
        unread_only=options.unread_only,
        oldest_first=options.order == User.Order.OLDEST,
        start=options.start,
        limit=LENGTH + 1,
        fold=following.folds(user),
    )
    return [place.id for place in found]


def _matching(user: User | AnonymousUser, scope: Scope, tree: Tree, options: ListOptions, now: datetime) -> list[int]:
    """The newest thousand postings of the scope that match a query."""
    if options.unread_only:
        tree = narrowed(tree, "is", "unread")
    if scope.kind == "starred":
        tree = narrowed(tree, "is", "starred")
    return searching.matching(user, tree, now=now, source_ids=_sources_of(user, scope))


def _sources_of(user: User | AnonymousUser, scope: Scope) -> set[int] | None:
    """The sources of the scope; None for any."""
    if scope.kind == "source":
        return {scope.id}
    if scope.kind in {"starred", "tag"} or not user.is_authenticated:
        return None
    follows = following.follows_of(user)
    if scope.kind == "folder":
        follows = follows.filter(folders__in=following.with_descendants(following.folders_of(user), scope.id))
    return set(follows.values_list("source_id", flat=True))


def _ordered(found: QuerySet[Posting], user: User | AnonymousUser, options: ListOptions) -> list[int]:
    if options.unread_only:
        found = following.with_state(found, user).filter(Q(unread=True))
    if following.folds(user):
        found = following.folded(found)
    ordered = after_place(found, options.start, oldest_first=options.order == User.Order.OLDEST)
    return list(ordered.values_list("pk", flat=True)[: LENGTH + 1])


def view_of(
    user: User | AnonymousUser, follow: Follow | None = None, requested: str = "", list_name: str = ""
) -> User.View:
    """The layout of the address, or else of the followed source or the list, or else the user's default."""
    of_source = follow.view if follow else ""
    own = user.view if user.is_authenticated else User.View.LIST
    of_list = user.list_views.get(list_name) if user.is_authenticated else ""
    return User.View(next(view for view in (requested, of_source, of_list, own) if view in User.View.values))
