"""The list of sources for staff, and the page of a source."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.contrib.auth.models import AnonymousUser
from django.core.paginator import Paginator
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import User
from apps.alerts.queries.interest import raising
from apps.dashboard.queries import SORTS, SourceFilter, chosen_sources
from apps.following import queries as following
from apps.following.models import Follow, Mark
from apps.postings import queries as postings
from apps.postings.models import Posting
from apps.postings.queries.boilerplate import learned
from apps.retrieval import queries as retrieval
from apps.retrieval.models import Page, Retrieval
from apps.retrieval.queries.lateness import late, overdue_since
from apps.retrieval.reports.lateness import lateness_of_source
from apps.sources import queries as sources
from apps.sources.actions.curating import MAX_AT_ONCE
from apps.sources.algorithms.addresses import hosts_only
from apps.sources.models import AuditEntry, Source
from apps.sources.queries import AuditFilter
from apps.stories.queries.front import authority_of
from apps.web.pages import Context
from apps.websub.queries import PushOfSource, push_of

LOG_LENGTH = 100
OF_A_SOURCE = 10  # the latest


def audit_page(chosen: AuditFilter, before: int | None, *, hidden: bool) -> Context:
    """Two queries. With `hidden`, addresses are reduced to their hosts."""
    found = sources.audit(chosen)
    if before is not None:
        found = found.filter(pk__lt=before)
    entries = list(found[: LOG_LENGTH + 1])
    shown = entries[:LOG_LENGTH]
    return {
        "rows": _log_rows(_without_addresses(shown) if hidden else shown),
        "filter": chosen,
        "kinds": AuditEntry.What.choices,
        "next": shown[-1].pk if len(entries) > LOG_LENGTH else 0,  # the next page has the ids below; 0 at the end
    }


def audit_of_source(source_id: int, *, hidden: bool) -> list[Context]:
    """The latest changes of an existing source. One query."""
    entries = list(sources.audit(AuditFilter(source_id=source_id))[:OF_A_SOURCE])
    if hidden:
        _without_addresses(entries)
    return [{"entry": entry, "is_there": True} for entry in entries]


def _log_rows(entries: list[AuditEntry]) -> list[Context]:
    ids = {entry.source_id for entry in entries if entry.source_id is not None}
    present = set(Source.objects.filter(pk__in=ids).values_list("pk", flat=True))
    return [{"entry": entry, "is_there": entry.source_id in present} for entry in entries]


def _without_addresses(entries: list[AuditEntry]) -> list[AuditEntry]:
    for entry in entries:
        for name in ("name", "before", "after", "why"):
            setattr(entry, name, hosts_only(getattr(entry, name)))
    return entries


LENGTH = 50
RECENT = timedelta(days=7)  # for lateness
STATES = {"active": _("Active"), "paused": _("Paused"), "gone": _("Gone"), "imported": _("Not checked")}
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


# --- merging ----------------------------------------------------------------------------------------------------------
MAX_CHOICES = 20


def merge_page(user: User, source_id: int, *, words: str, kept_id: int | None) -> Context | None:
    """One query, one more for choices, and seven for a preview; None if there is no such source."""
    everything = following.publishable_sources(user)
    source = everything.filter(pk=source_id).first()
    if source is None:
        return None
    others = following.with_follower_counts(everything.exclude(pk=source_id))
    choices = list(sources.matching(others, words).order_by(*SORTS["followers"])[:MAX_CHOICES]) if words else []
    kept = others.filter(pk=kept_id).first() if kept_id else None
    return {
        "source": source,  # to be merged into another
        "words": words,
        "choices": tuple(choices),  # with `followers`
        "preview": _preview(source, kept) if kept else None,
    }


def _preview(source: Source, kept: Source) -> Context:
    follows = Follow.objects.filter(source=source)
    both = follows.filter(user__in=Follow.objects.filter(source=kept).values("user")).count()
    joined = len(postings.same_postings(source.pk, kept.pk))
    return {
        "kept": kept,
        "followers": follows.count() - both,  # of the merged source alone
        "following_both": both,
        "moved": Posting.objects.filter(source=source).count() - joined,  # postings
        "joined": joined,  # postings that both have
        "starred": Mark.objects.filter(posting__source=source, starred_at__isnull=False).count(),
    }


# --- crawled pages and keen tags --------------------------------------------------------------------------------------
PAGES_LENGTH = 50


def source_pages_page(user: User, source_id: int, *, kind: str, words: str, number: str) -> Context | None:
    """Six queries."""
    source = following.known_sources(user).filter(pk=source_id).first()
    if source is None:
        return None
    kind = kind if kind in Page.Kind.values else ""
    shown = Paginator(retrieval.pages_of(source_id, kind=kind, words=words), PAGES_LENGTH).get_page(number)
    shown.object_list = list(shown.object_list)
    by_kind = retrieval.page_counts(source_id)
    return {
        "source": source,
        "crawl": retrieval.crawl_of(source_id),  # None before the first check
        "counts": {str(Page.Kind(name).label): count for name, (count, _) in by_kind.items()},
        "waiting": sum(waiting for _, waiting in by_kind.values()),
        "index_pages": tuple(retrieval.index_pages_of(source_id)),  # checked like feeds, with their schedules
        "pages": shown,
        "kinds": tuple((value, str(label)) for value, label in Page.Kind.choices),
        "kind": kind,  # shown, or "" for all
        "words": words,
    }


def keen_tags_page(source_id: int) -> Context | None:
    """Three queries."""
    source = sources.everything().filter(pk=source_id).first()
    if source is None:
        return None
    crawl = retrieval.crawl_of(source_id)
    tags = None if crawl is None or crawl.keen_tags is None else tuple(sorted(crawl.keen_tags))
    return {
        "source": source,
        "tags": tags,  # None: the source has none of its own
        "examples": postings.with_documents(source_id).count(),
    }


# --- many sources at once ---------------------------------------------------------------------------------------------
MAX_NAMED = 50


def found_ids(filter: SourceFilter) -> list[int]:
    """All sources of a filter, up to one more than can be changed at once. One query."""
    return list(chosen_sources(filter).values_list("pk", flat=True)[: MAX_AT_ONCE + 1])


def curating_page(source_ids: Sequence[int]) -> Context:
    """Three queries; deleted sources are left out."""
    wanted = sources.everything().filter(pk__in=source_ids[:MAX_AT_ONCE])
    ids = list(wanted.order_by("title", "pk").values_list("pk", flat=True))
    named = tuple(chosen_sources(SourceFilter()).filter(pk__in=ids[:MAX_NAMED]))
    return {
        "ids": ids,
        "chosen": ",".join(map(str, ids)),  # as one form field
        "count": len(ids),
        "named": named,  # the first MAX_NAMED, with `followers`
        "unnamed": len(ids) - len(named),
        "pair": named if len(named) == len(ids) == 2 else None,  # could be merged
        "categories": sources.categories(sources.everything()),
        "followers": sum(source.followers for source in named),  # type: ignore[attr-defined]
        "too_many": len(source_ids) > MAX_AT_ONCE,
    }
