"""The dashboard's overview: key figures, and what is not set up yet."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.alerts.queries import messages
from apps.dashboard.pages.lateness import lateness_now
from apps.dashboard.pages.metrics import backlogs
from apps.dashboard.queries import people_counts, services
from apps.database.activity import load
from apps.database.statement_timeout import TookTooLong, statement_timeout
from apps.jobs import queries as jobs
from apps.jobs.actions.dead_letters import dead_letters
from apps.retrieval import queries as retrieval
from apps.retrieval.reports import lateness
from apps.sources import queries as sources
from apps.stories.models import Section
from apps.web.pages import Context

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
    load_found, waiting_rows = within_time(load), within_time(backlogs, now)
    return {
        "waiting": within_time(lateness.waiting, now),
        "lateness": within_time(lateness_now, now),
        "totals": within_time(retrieval.daily_totals, now),
        "backlogs": waiting_rows,
        "broker": sum(lengths.values()) if lengths else None,  # messages in all its queues; None if it does not respond
        "stuck": within_time(dead_letters().count),
        "people": within_time(people_counts, now),
        "notifications": within_time(messages.waiting_and_failed),  # waiting and failed
        "failed_today": within_time(lambda: messages.done_since(now - timedelta(days=1))["failed"]),  # within a day
        "jobs": within_time(lambda: len(jobs.unfinished())),  # unfinished
        "bytes": load_found.size if load_found else None,  # of the database
        "needs": within_time(needs),
        "late": [name for name, backlog in (waiting_rows or {}).items() if backlog.seconds > LATE],  # outboxes that lag
    }


def within_time(read: Callable[..., Found], *arguments: Any) -> Found | None:
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
    host = urlsplit(settings.PROJECT_URL).hostname or ""
    if host in ("localhost", "127.0.0.1", "::1", ""):
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
            _("Run manage.py backup every night, and keep the archive on another machine."),
        )


def _is_backed_up() -> bool:
    """Whether `manage.py backup` has run within the last week."""
    try:
        noted = datetime.fromisoformat((settings.VAR_DIR / "latest_backup").read_text(encoding="ascii").strip())
    except (OSError, ValueError):
        return False
    return datetime.now(noted.tzinfo) - noted < timedelta(days=7)
