"""The dashboard's lists: failing sources, users, queues, tables and dead letters."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from celery import current_app
from django.conf import settings
from django.core.cache import cache
from django.core.paginator import Paginator
from django.utils.formats import date_format
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.accounts.models import User
from apps.alerts.queries import messages
from apps.dashboard import queries
from apps.dashboard.pages.metrics import backlogs
from apps.dashboard.pages.overview import within_time
from apps.database.activity import load
from apps.database.sizes import Size, by_group, sizes
from apps.documents.queries import kept
from apps.following.queries import may_open_private
from apps.jobs.actions.dead_letters import dead_letters, known_tasks
from apps.retrieval.reports import lateness
from apps.retrieval.reports.delays import Stored, stored_by_day
from apps.search.queries.state import index_state
from apps.sources.algorithms.addresses import hosts_only
from apps.web.algorithms.charts import bar_chart
from apps.web.pages import Context

LENGTH = 50
MAX_FAILED = 50  # undeliverable messages, the latest
WORKER_SECONDS = 1.0  # s
DAYS = 14
DEAD_LETTERS = 100  # shown
GROWTH_KEPT = 600  # s; the log of two weeks is read for it
MAX_TABLES = 15
CONTENTS = ("postings_posting", "search_document", "search_generation", "search_row", "stories_member")


def failing_page(user: User, words: str, sort: str, number: str) -> Context:
    """Two queries, and two more for the permission."""
    page = Paginator(queries.failing_sources(words, sort), LENGTH).get_page(number)
    page.object_list = list(page.object_list)
    if not may_open_private(user):
        for source in page.object_list:
            if not source.listed:
                source.message = hosts_only(source.message or "")  # type: ignore[attr-defined]
    return {
        "sources": page,  # with `followers`, its schedule and why
        "words": words,
        "sort": sort if sort in queries.FAILING_SORTS else "since",
        "sorts": tuple(queries.FAILING_SORTS),
    }


def people_page(words: str, state: str, sort: str, number: str, now: datetime) -> Context:
    """Three queries."""
    page = Paginator(queries.chosen_people(words, state, sort), LENGTH).get_page(number)
    page.object_list = list(page.object_list)
    return {
        "people": page,  # with `followed`
        "counts": within_time(queries.people_counts, now),
        "words": words,
        "state": state if state in queries.PEOPLE_STATES else "",
        "sort": sort if sort in queries.PEOPLE_SORTS else "newest",
        "states": tuple(queries.PEOPLE_STATES),
        "sorts": tuple(queries.PEOPLE_SORTS),
    }


def queues_page(now: datetime, *, with_workers: bool) -> Context:
    """A fixed number of queries; workers are queried only on request, since that takes a second."""
    return {
        "backlogs": within_time(backlogs, now),
        "broker": queries.services.queue_lengths(),  # messages by queue; empty if it does not respond
        "workers": _workers() if with_workers else None,  # tasks of each; None if not requested
        "stuck": within_time(dead_letters().count),
        "waiting": within_time(lateness.waiting, now),
        "notifications": within_time(messages.waiting_and_failed),
        "failed": within_time(
            lambda: tuple(messages.failed_messages(most=MAX_FAILED))
        ),  # undeliverable messages, the latest first
    }


def _workers() -> Mapping[str, int]:
    try:
        responses = current_app.control.inspect(timeout=WORKER_SECONDS).active() or {}
    except Exception:  # any error of the broker's client
        return {}
    return {name: len(tasks) for name, tasks in sorted(responses.items())}


def storage_page(now: datetime) -> Context:
    """A fixed number of queries."""
    found = within_time(sizes)
    groups = by_group(found) if found else None
    stored = _stored(now)
    per_posting = _bytes_per_posting(found) if found else None
    week = [day.postings for day in stored[-8:-1]]  # whole days
    return {
        "load": within_time(load),
        "groups": groups,  # bytes by purpose, the largest first
        "groups_picture": _groups_picture(groups) if groups else SafeString(),
        "tables": tuple(found[:MAX_TABLES]) if found else (),  # the largest
        "documents": within_time(kept),
        "stored": stored,  # postings by day
        "stored_picture": _stored_picture(stored),
        "bytes_per_posting": per_posting,  # with all data derived from it
        "growth": per_posting * sum(week) / len(week) if per_posting and week else None,  # bytes a day
        "index": within_time(index_state),
        "retention": _retention(),  # setting, value
    }


def _stored(now: datetime) -> tuple[Stored, ...]:
    key = f"dashboard.stored.{now:%Y%m%d}"
    known: tuple[Stored, ...] | None = cache.get(key)
    if known is None:
        known = tuple(within_time(stored_by_day, now, DAYS) or ())
        if known:
            cache.set(key, known, GROWTH_KEPT)
    return known


def _bytes_per_posting(found: list[Size]) -> float | None:
    """The size of a posting with all data derived from it; None without postings."""
    total = sum(size.total for size in found if size.table in CONTENTS)
    rows = next((size.rows for size in found if size.table == "postings_posting"), 0)
    return total / rows if rows else None


def _groups_picture(groups: Mapping[str, int]) -> SafeString:
    shown = list(groups.items())[:8]
    return mark_safe(
        bar_chart(
            [size / 1e6 for _, size in shown],
            [name for name, _ in shown],
            label=_("Largest parts of the database in megabytes; the table has the same figures"),
            titles=[f"{name}: {size / 1e6:,.1f} MB" for name, size in shown],
        )
    )


def _stored_picture(stored: tuple[Stored, ...]) -> SafeString:
    if not any(day.postings for day in stored):
        return SafeString()
    days = [date_format(day.day, _("j M")) for day in stored]
    titles = [
        ngettext("{day}: {number} new article", "{day}: {number} new articles", day.postings).format(
            day=written, number=f"{day.postings:,}"
        )
        for day, written in zip(stored, days, strict=True)
    ]
    label = _("New articles per day; the table has the same figures")
    return mark_safe(bar_chart([day.postings for day in stored], days, label=label, titles=titles))


def _retention() -> tuple[tuple[str, str], ...]:
    return (
        ("WIREBEAT_DOCUMENT_DAYS", str(timedelta(days=settings.DOCUMENT_DAYS).days)),
        ("WIREBEAT_RETRIEVAL_LOG_DAYS", str(settings.RETRIEVAL_LOG_DAYS)),
        ("WIREBEAT_PICTURES_MB", str(settings.PICTURES_PER_DAY // 10**6)),
    )


def dead_letters_page() -> Context:
    return {
        "messages": tuple(dead_letters()[:DEAD_LETTERS]),  # the latest first
        "tasks": known_tasks(),  # that can be sent again
    }
