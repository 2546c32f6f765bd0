"""Lists of postings: all, of a folder, of a source, starred."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet

from apps.accounts.models import User
from apps.following import queries as following
from apps.following.models import Follow
from apps.following.queries import Scope
from apps.postings import queries as postings
from apps.postings.models import Posting
from apps.postings.queries import Cursor
from apps.reading.pages.rows import PostingRow, rows
from apps.retrieval.reports.delays import Asking, asking_of
from apps.sources.models import Source

LENGTH = 40  # postings shown at once


@dataclass(frozen=True, slots=True)
class Arrangement:
    unread_only: bool
    order: User.Order
    start: Cursor | None  # where the page before ended


@dataclass(frozen=True, slots=True)
class RiverPage:
    scope: Scope
    title: str
    rows: tuple[PostingRow, ...]
    arrangement: Arrangement
    next: str  # cursor of the page that follows, "" at the end
    source: Source | None
    follow: Follow | None
    asking: Asking | None  # of the source
    now: datetime

    @property
    def shown_at(self) -> str:
        return self.now.isoformat()


def river_page(
    user: User | AnonymousUser,
    scope: Scope,
    title: str,
    arrangement: Arrangement,
    now: datetime,
    source: Source | None = None,
    follow: Follow | None = None,
) -> RiverPage:
    """One query for the postings and one of how a source is asked; the caller has found, and may show, the scope."""
    found = following.with_state(following.postings_in(user, scope), user)
    if arrangement.unread_only:
        found = found.filter(Q(unread=True))
    shown = rows(_arranged(found, arrangement)[: LENGTH + 1], user)
    more = len(shown) > LENGTH
    shown = shown[:LENGTH]
    last = Cursor(shown[-1].published_at, shown[-1].id).encode() if more else ""
    asking = asking_of(source.pk, now) if source else None
    return RiverPage(scope, title, tuple(shown), arrangement, last, source, follow, asking, now)


def _arranged(found: QuerySet[Posting], arrangement: Arrangement) -> QuerySet[Posting]:
    start = arrangement.start
    if arrangement.order == User.Order.OLDEST:
        return postings.oldest(postings.after(found, start) if start else found)
    return postings.newest(postings.before(found, start) if start else found)
