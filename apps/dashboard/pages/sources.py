"""The list of sources for staff, and the page of a source."""

from datetime import datetime, timedelta

from django.contrib.auth.models import AnonymousUser
from django.core.paginator import Paginator
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import User
from apps.alerts.queries.interest import raising
from apps.dashboard.pages.audit import audit_of_source
from apps.dashboard.queries import SourceFilter, chosen_sources
from apps.following import queries as following
from apps.postings.queries.boilerplate import learned
from apps.retrieval import queries as retrieval
from apps.retrieval.models import Retrieval
from apps.retrieval.queries.lateness import late, overdue_since
from apps.retrieval.reports.lateness import lateness_of_source
from apps.sources import queries as sources
from apps.sources.algorithms.addresses import hosts_only
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
    }


def source_page(user: User | AnonymousUser, source_id: int, now: datetime) -> Context | None:
    """The page of a source that the user may see, or None. Twelve queries at most."""
    source = following.with_follower_counts(following.manageable_sources(user)).filter(pk=source_id).first()
    if source is None:
        return None
    followed = bool(following.followed_among(user, [source_id]))
    hidden = following.hide_address(user, source, followed=followed)
    schedule, push = retrieval.schedule_of(source_id), push_of(source_id, now)
    visits = retrieval.latest_retrievals(source_id)
    if hidden:
        _cut_addresses(visits, push)
    log = [{"retrieval": row, "late": late(row)} for row in visits]
    return {
        "source": source,  # with `followers`
        "schedule": schedule,
        "retrievals": log,
        "delay": sum(row.delay_seconds for row in visits) / max(sum(row.dated for row in visits), 1),  # s; 0 if unknown
        "lateness": lateness_of_source(source_id, now - RECENT, now),  # of the last seven days
        "overdue_since": overdue_since(schedule, now) if schedule else None,
        "push": push,
        "authority": authority_of(source_id),
        "raising": raising(source_id, user) if isinstance(user, User) and user.is_staff else None,  # for staff
        "audit": audit_of_source(source_id, hidden=hidden) if user.is_staff else (),  # for staff, the latest first
        "boilerplate": learned(source_id) if user.is_staff and not hidden else (),  # the most frequent first
        "followed": followed,
        "hidden": hidden,  # whether the user may not see the address
        "latest": next((row for row in log if row["late"]), None),  # actual retrieval
    }


def _cut_addresses(visits: list[Retrieval], push: PushOfSource | None) -> None:
    for row in visits:
        row.message = hosts_only(row.message)
    if push is not None:
        subscription = push.subscription
        for name in ("hub", "topic", "last_error"):
            setattr(subscription, name, hosts_only(getattr(subscription, name)))
        for delivery in push.deliveries:
            delivery.error = hosts_only(delivery.error)
