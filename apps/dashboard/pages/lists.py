"""What keepers look through: sources that fail, people, queues and tables."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from celery import current_app
from django.conf import settings
from django.core.cache import cache
from django.core.paginator import Page, Paginator
from django.utils.formats import date_format
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.accounts.models import User
from apps.alerts.models import Message
from apps.alerts.queries import messages
from apps.dashboard.pages.metrics import backlogs
from apps.dashboard.pages.overview import stuck_messages, within_time
from apps.dashboard.queries import (
    FAILING_SORTS,
    PEOPLE_SORTS,
    PEOPLE_STATES,
    PeopleCounts,
    chosen_people,
    failing_sources,
    people_counts,
    services,
)
from apps.database.activity import Load, load
from apps.database.sizes import Size, by_group, sizes
from apps.documents.queries import Kept, kept
from apps.following.queries import may_open_private
from apps.jobs.actions.dead_letters import dead_letters, known_tasks
from apps.jobs.models import DeadLetter
from apps.postings.queries.backlog import Backlog
from apps.retrieval.reports import health
from apps.retrieval.reports.growth import Stored, stored_by_day
from apps.retrieval.reports.health import Waiting
from apps.search.queries.state import IndexState, index_state
from apps.sources.algorithms.addresses import hosts_only
from apps.sources.models import Source
from apps.web.algorithms.charts import bar_chart

LENGTH = 50
MAX_FAILED = 50  # messages that were given up, the latest
ANSWER_WITHIN = 1.0  # s, of workers
DAYS = 14
DEAD_LETTERS = 100  # that are shown
GROWTH_KEPT = 600  # s; the log of two weeks is read for it
MAX_TABLES = 15
CONTENTS = ("postings_posting", "search_document", "search_generation", "search_row", "stories_member")


@dataclass(frozen=True, slots=True)
class FailingPage:
    sources: Page[Source]  # with `followers`, its schedule and why
    words: str
    sort: str
    sorts: tuple[str, ...]
    now: datetime


@dataclass(frozen=True, slots=True)
class PeoplePage:
    people: Page[User]  # with `followed`
    counts: PeopleCounts | None
    words: str
    state: str
    sort: str
    states: tuple[str, ...]
    sorts: tuple[str, ...]
    now: datetime


@dataclass(frozen=True, slots=True)
class QueuesPage:
    """What is None could not be read within its time."""

    backlogs: Mapping[str, Backlog] | None
    broker: Mapping[str, int]  # messages by queue; empty where it does not answer
    workers: Mapping[str, int] | None  # tasks that each is at; None: nobody has asked
    stuck: int | None
    waiting: Waiting | None
    told: Mapping[str, int] | None
    failed: tuple[Message, ...] | None  # messages to people that were given up, the latest first
    now: datetime


@dataclass(frozen=True, slots=True)
class StoragePage:
    """What is None could not be read within its time."""

    load: Load | None
    groups: Mapping[str, int] | None  # bytes by what they are for, the largest first
    groups_picture: SafeString
    tables: tuple[Size, ...]  # the largest
    documents: Kept | None
    stored: tuple[Stored, ...]  # postings by day
    stored_picture: SafeString
    bytes_per_posting: float | None  # with everything that is derived of it
    growth: float | None  # bytes a day, of the last week's postings at that size
    index: IndexState | None
    retention: tuple[tuple[str, str], ...]  # setting, value
    now: datetime


def failing_page(user: User, words: str, sort: str, number: str, now: datetime) -> FailingPage:
    """Two queries, and two more for the permission."""
    page = Paginator(failing_sources(words, sort), LENGTH).get_page(number)
    page.object_list = list(page.object_list)
    if not may_open_private(user):
        for source in page.object_list:
            if not source.listed:
                source.message = hosts_only(source.message or "")  # type: ignore[attr-defined]
    return FailingPage(page, words, sort if sort in FAILING_SORTS else "since", tuple(FAILING_SORTS), now)


def people_page(words: str, state: str, sort: str, number: str, now: datetime) -> PeoplePage:
    """Three queries."""
    page = Paginator(chosen_people(words, state, sort), LENGTH).get_page(number)
    page.object_list = list(page.object_list)
    return PeoplePage(
        people=page,
        counts=within_time(people_counts, now),
        words=words,
        state=state if state in PEOPLE_STATES else "",
        sort=sort if sort in PEOPLE_SORTS else "newest",
        states=tuple(PEOPLE_STATES),
        sorts=tuple(PEOPLE_SORTS),
        now=now,
    )


def queues_page(now: datetime, *, with_workers: bool) -> QueuesPage:
    """A fixed number of queries; workers are asked only if wished, since that takes a second."""
    return QueuesPage(
        backlogs=within_time(backlogs, now),
        broker=services.queue_lengths(),
        workers=_workers() if with_workers else None,
        stuck=within_time(stuck_messages),
        waiting=within_time(health.waiting, now),
        told=within_time(messages.waiting_and_failed),
        failed=within_time(_failed),
        now=now,
    )


def _workers() -> Mapping[str, int]:
    try:
        answers = current_app.control.inspect(timeout=ANSWER_WITHIN).active() or {}
    except Exception:  # whatever the broker's client raises where it does not answer
        return {}
    return {name: len(tasks) for name, tasks in sorted(answers.items())}


def _failed() -> tuple[Message, ...]:
    return tuple(messages.failed_messages(most=MAX_FAILED))


def storage_page(now: datetime) -> StoragePage:
    """A fixed number of queries."""
    found = within_time(sizes)
    groups = by_group(found) if found else None
    stored = _stored(now)
    per_posting = _bytes_per_posting(found) if found else None
    week = [day.postings for day in stored[-8:-1]]  # whole days
    return StoragePage(
        load=within_time(load),
        groups=groups,
        groups_picture=_groups_picture(groups) if groups else SafeString(),
        tables=tuple(found[:MAX_TABLES]) if found else (),
        documents=within_time(kept),
        stored=stored,
        stored_picture=_stored_picture(stored),
        bytes_per_posting=per_posting,
        growth=per_posting * sum(week) / len(week) if per_posting and week else None,
        index=within_time(index_state),
        retention=_retention(),
        now=now,
    )


def _stored(now: datetime) -> tuple[Stored, ...]:
    key = f"dashboard.stored.{now:%Y%m%d}"
    known: tuple[Stored, ...] | None = cache.get(key)
    if known is None:
        known = tuple(within_time(stored_by_day, now, DAYS) or ())
        if known:
            cache.set(key, known, GROWTH_KEPT)
    return known


def _bytes_per_posting(found: list[Size]) -> float | None:
    """What a posting takes with all that is derived of it and grows with it; None while there are none."""
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
            words=[f"{name}: {size / 1e6:,.1f} MB" for name, size in shown],
        )
    )


def _stored_picture(stored: tuple[Stored, ...]) -> SafeString:
    if not any(day.postings for day in stored):
        return SafeString()
    days = [date_format(day.day, _("j M")) for day in stored]
    words = [
        ngettext("{day}: {number} new article", "{day}: {number} new articles", day.postings).format(
            day=written, number=f"{day.postings:,}"
        )
        for day, written in zip(stored, days, strict=True)
    ]
    label = _("New articles per day; the table has the same figures")
    return mark_safe(bar_chart([day.postings for day in stored], days, label=label, words=words))


def _retention() -> tuple[tuple[str, str], ...]:
    return (
        ("WIREBEAT_DOCUMENT_DAYS", str(timedelta(days=settings.DOCUMENT_DAYS).days)),
        ("WIREBEAT_RETRIEVAL_LOG_DAYS", str(settings.RETRIEVAL_LOG_DAYS)),
        ("WIREBEAT_PICTURES_MB", str(settings.PICTURES_PER_DAY // 10**6)),
    )


@dataclass(frozen=True, slots=True)
class DeadLettersPage:
    messages: tuple[DeadLetter, ...]  # the latest first
    tasks: frozenset[str]  # those that can be sent again
    now: datetime


def dead_letters_page(now: datetime) -> DeadLettersPage:
    return DeadLettersPage(tuple(dead_letters()[:DEAD_LETTERS]), known_tasks(), now)
