"""The dashboard's overview: key figures, and what is not set up yet."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeVar

from django.conf import settings
from django.core.paginator import Paginator
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.accounts.queries.site import own_host
from apps.alerts.queries import messages
from apps.dashboard import queries
from apps.dashboard.pages.metrics import backlogs
from apps.dashboard.queries import people_counts, services
from apps.database.activity import load
from apps.database.statement_timeout import TookTooLong, statement_timeout
from apps.following.queries import may_open_private
from apps.jobs import queries as jobs
from apps.jobs.actions.dead_letters import dead_letters, known_tasks
from apps.retrieval import queries as retrieval
from apps.retrieval.reports import lateness
from apps.retrieval.reports.lateness import Overdue, overdue, recent, uncommitted_since
from apps.sources import queries as sources
from apps.sources.algorithms.addresses import hosts_only
from apps.stories.models import Section
from apps.stories.queries.sections import NOTHING, contents, sections
from apps.web.pages import Context

P99_LIMIT = 60.0  # s
DAY = timedelta(days=1)


def lateness_now(now: datetime) -> Context:
    """Three queries."""
    due, late = overdue(now), recent(now)
    return {
        "recent": late,  # of the last 24 hours
        "overdue": due,
        "causes": tuple(_causes(due, was_uncommitted=uncommitted_since(now - DAY))),
        "is_late": bool(due.count) or late.stored.p99 > P99_LIMIT,
    }


def _causes(due: Overdue, *, was_uncommitted: bool) -> Iterator[str]:
    if due.count and not due.workers:
        yield _("No retrieval worker is running.")
    for number, words in (
        (due.unclaimed, _("{number} not claimed: beat is not running or cannot keep up.")),
        (due.workers and due.unbegun, _("{number} claimed but not started: retrieval workers cannot keep up.")),
        (due.under_way, _("{number} started but not stored: servers or the database are slow.")),
        (due.deferred, _("{number} postponed: too many feeds share a host, or their worker stopped.")),
    ):
        if number:
            yield words.format(number=f"{number:,}")
    if was_uncommitted:
        yield _("Messages were published before their claims were committed.")


MAX_STATEMENT_SECONDS = 1.0  # s, per query of the dashboard
LATE = 300.0  # s that an outbox may lag
Found = TypeVar("Found")


class Need(NamedTuple):
    """Something that is not set up, and what to do."""

    what: str
    advice: str
    address: str = ""  # of the page where it is done


def overview_page(now: datetime) -> Context:
    """About forty short queries."""
    lengths = services.queue_lengths()
    load_found, waiting_rows = with_timeout(load), with_timeout(backlogs, now)
    return {
        "waiting": with_timeout(lateness.waiting, now),
        "lateness": with_timeout(lateness_now, now),
        "totals": with_timeout(retrieval.daily_totals, now),
        "backlogs": waiting_rows,
        "broker": sum(lengths.values()) if lengths else None,  # messages in all its queues; None if it does not respond
        "stuck": with_timeout(dead_letters().count),
        "people": with_timeout(people_counts, now),
        "notifications": with_timeout(messages.waiting_and_failed),  # waiting and failed
        "failed_today": with_timeout(lambda: messages.done_since(now - timedelta(days=1))["failed"]),  # within a day
        "jobs": with_timeout(lambda: len(jobs.unfinished())),  # unfinished
        "bytes": load_found.size if load_found else None,  # of the database
        "needs": with_timeout(needs),
        "late": [name for name, backlog in (waiting_rows or {}).items() if backlog.seconds > LATE],  # outboxes that lag
    }


def with_timeout(read: Callable[..., Found], *arguments: Any) -> Found | None:
    """The result of a query; None if it times out."""
    try:
        with statement_timeout(MAX_STATEMENT_SECONDS):
            return read(*arguments)
    except TookTooLong:
        return None


def needs() -> list[Need]:
    """What is not set up, as far as a few EXISTS queries show it."""
    return [*_needs_of_settings(), *_needs_of_content()]


def _needs_of_content() -> Iterator[Need]:
    if not sources.listed().exists():
        yield Need(_("The catalogue is empty."), _("Add feeds that everyone can see."), reverse("add_source"))
    elif sources.listed().filter(category="").exists():
        yield Need(
            _("Some feeds of the catalogue have no category."),
            _("Select them in the list of feeds and set a category."),
            f"{reverse('sources')}?shown=listed",
        )
    if not Section.objects.filter(is_on=True).exists():
        yield Need(_("The front page has no sections."), _("Choose what it shows."), reverse("sections"))
    if User.objects.filter(is_staff=True, is_active=True)[:2].count() < 2:
        yield Need(
            _("There is only one administrator."),
            _("Make someone else an administrator, too, who can help when you are away."),
            reverse("dashboard_users"),
        )


def _needs_of_settings() -> Iterator[Need]:
    if own_host() in ("localhost", "127.0.0.1", "::1"):
        yield Need(
            _("The portal does not know its own address."),
            _("Set WIREBEAT_URL to the public address: mails, feeds and hubs need it."),
        )
    elif not settings.BEHIND_TLS:
        yield Need(
            _("Pages are sent unencrypted."),
            _("Put a proxy with a certificate in front of the portal, and set WIREBEAT_TLS."),
        )
    if not settings.EMAIL_BACKEND.endswith("smtp.EmailBackend"):
        yield Need(_("Mail is not set up."), _("Set EMAIL_URL: password resets, confirmations and alerts need it."))
    if settings.DEBUG:
        yield Need(_("Error pages show visitors the internals of the program."), _("Remove WIREBEAT_DEBUG."))
    if not _is_backed_up():
        yield Need(
            _("There is no backup from the last week on this machine."),
            _("Run manage.py backup FILE every night, and keep the archive on another machine."),
        )


def _is_backed_up() -> bool:
    """Whether `manage.py backup` has run within the last week."""
    try:
        noted = datetime.fromisoformat((settings.VAR_DIR / "latest_backup").read_text(encoding="ascii").strip())
    except (OSError, ValueError):
        return False
    return datetime.now(noted.tzinfo) - noted < timedelta(days=7)


# --- lists ------------------------------------------------------------------------------------------------------------
LENGTH = 50
MAX_FAILED = 50  # undeliverable messages, the latest
DEAD_LETTERS = 100  # shown


def failing_page(user: User, words: str, number: str) -> Context:
    """Two queries, and two more for the permission."""
    page = Paginator(queries.failing_sources(words), LENGTH).get_page(number)
    page.object_list = list(page.object_list)
    if not may_open_private(user):
        for source in page.object_list:
            if not source.listed:
                source.message = hosts_only(source.message or "")  # type: ignore[attr-defined]
    return {
        "sources": page,  # with `followers`, its schedule and why
        "words": words,
    }


def people_page(words: str, state: str, sort: str, number: str, now: datetime) -> Context:
    """Three queries."""
    page = Paginator(queries.chosen_people(words, state, sort), LENGTH).get_page(number)
    page.object_list = list(page.object_list)
    return {
        "people": page,  # with `followed`
        "counts": with_timeout(queries.people_counts, now),
        "words": words,
        "state": state if state in queries.PEOPLE_STATES else "",
        "sort": sort if sort in queries.PEOPLE_SORTS else "newest",
        "states": tuple(queries.PEOPLE_STATES),
        "sorts": tuple(queries.PEOPLE_SORTS),
    }


def queues_page(now: datetime) -> Context:
    """A fixed number of queries."""
    return {
        "backlogs": with_timeout(backlogs, now),
        "broker": queries.services.queue_lengths(),  # messages by queue; empty if it does not respond
        "stuck": with_timeout(dead_letters().count),
        "waiting": with_timeout(lateness.waiting, now),
        "notifications": with_timeout(messages.waiting_and_failed),
        "failed": with_timeout(lambda: tuple(messages.failed_messages(most=MAX_FAILED))),  # the latest ones
    }


def dead_letters_page() -> Context:
    return {
        "messages": tuple(dead_letters()[:DEAD_LETTERS]),  # the latest first
        "tasks": known_tasks(),  # that can be sent again
    }


# --- sections of the front page ---------------------------------------------------------------------------------------
COSTLY = 500.0  # ms


def sections_page(now: datetime) -> Context:
    """All sections with their cached contents. One query."""
    found = list(sections())
    kept = contents(found, now, refresh=False)
    return {
        "sections": tuple(
            {"section": section, "content": content, "is_costly": content.milliseconds > COSTLY}
            for section in found
            for content in [kept.get(section.pk, NOTHING)]
        ),
    }
