"""The list of sources for staff, and the page of a source."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import AnonymousUser
from django.core.paginator import Paginator
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import User
from apps.alerts.queries.interest import Raising, raising
from apps.dashboard.pages.audit import AuditRow, audit_of_source
from apps.dashboard.queries import SourceFilter, chosen_sources
from apps.following import queries as following
from apps.retrieval import queries as retrieval
from apps.retrieval.models import Retrieval, Schedule
from apps.retrieval.queries.lateness import Late, late, overdue_since
from apps.retrieval.reports.lateness import Lateness, lateness_of_source
from apps.sources import queries as sources
from apps.sources.algorithms.addresses import hosts_only
from apps.sources.models import Source
from apps.stories.models import Authority
from apps.stories.queries.front import authority_of
from apps.web.pages import Context
from apps.websub.queries import PushOfSource, push_of

LENGTH = 50
RECENT = timedelta(days=7)  # for lateness
STATES = {"active": _("Active"), "paused": _("Paused"), "gone": _("Gone")}
ORDERS = {
    "title": _("by title"),
    "weight": _("by weight"),
    "next": _("by next check"),
    "added": _("by date added"),
    "followers": _("by followers"),
}


@dataclass(frozen=True, slots=True)
class LoggedRetrieval:
    retrieval: Retrieval
    late: Late | None  # None for entries without a retrieval


@dataclass(frozen=True, slots=True)
class SourcePage:
    source: Source  # with `followers`
    schedule: Schedule | None
    retrievals: tuple[LoggedRetrieval, ...]
    lateness: Lateness  # of the last seven days
    overdue_since: datetime | None
    push: PushOfSource | None
    authority: Authority | None
    raising: Raising | None  # for staff
    audit: tuple[AuditRow, ...]  # for staff, the latest first
    followed: bool
    hidden: bool  # whether the user may not see the address
    now: datetime

    @property
    def latest(self) -> LoggedRetrieval | None:
        """The latest actual retrieval."""
        return next((row for row in self.retrievals if row.late), None)


def sources_page(filter: SourceFilter, number: str, now: datetime) -> Context:
    """Five queries."""
    page = Paginator(chosen_sources(filter), LENGTH).get_page(number)
    page.object_list = list(page.object_list)
    everything = sources.everything()
    return {
        "sources": page,  # with `followers` and its schedule
        "filter": filter,
        "categories": tuple(sources.categories(everything)),
        "languages": tuple(sources.languages(everything)),
        "states": tuple(STATES.items()),
        "sorts": tuple(ORDERS.items()),
        "totals": retrieval.daily_totals(now),
        "now": now,
    }


def source_page(user: User | AnonymousUser, source_id: int, now: datetime) -> SourcePage | None:
    """The page of a source that the user may see, or None. Eleven queries at most."""
    source = following.with_follower_counts(following.manageable_sources(user)).filter(pk=source_id).first()
    if source is None:
        return None
    followed = bool(following.followed_among(user, [source_id]))
    hidden = following.hide_address(user, source, followed=followed)
    schedule, push = retrieval.schedule_of(source_id), push_of(source_id, now)
    visits = retrieval.latest_retrievals(source_id)
    if hidden:
        _cut_addresses(visits, push)
    return SourcePage(
        source=source,
        schedule=schedule,
        lateness=lateness_of_source(source_id, now - RECENT, now),
        overdue_since=overdue_since(schedule, now) if schedule else None,
        retrievals=tuple(_logged(row) for row in visits),
        push=push,
        authority=authority_of(source_id),
        raising=raising(source_id, user) if isinstance(user, User) and user.is_staff else None,
        audit=audit_of_source(source_id, hidden=hidden) if user.is_staff else (),
        followed=followed,
        hidden=hidden,
        now=now,
    )


def _cut_addresses(visits: list[Retrieval], push: PushOfSource | None) -> None:
    for row in visits:
        row.message = hosts_only(row.message)
    if push is not None:
        subscription = push.subscription
        for name in ("hub", "topic", "last_error"):
            setattr(subscription, name, hosts_only(getattr(subscription, name)))
        for delivery in push.deliveries:
            delivery.error = hosts_only(delivery.error)


def _logged(row: Retrieval) -> LoggedRetrieval:
    return LoggedRetrieval(row, late(row))
