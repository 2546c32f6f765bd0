"""Results of saved searches, their coverage, and the delivery log."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.safestring import SafeString, mark_safe
from django.utils.text import get_text_list
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.alerts import queries as alerts
from apps.alerts.channels import with_settings
from apps.alerts.models import Browser, Message, PercolatorQuery, Rule
from apps.alerts.queries import interest, messages
from apps.search.models import SavedSearch
from apps.web.algorithms.charts import bar_chart
from apps.web.pages.durations import span
from apps.web.pages.rows import PostingRow, rows
from apps.web.pages.search_query import address_of

LENGTH = 40  # postings per page
MESSAGES = 50  # per page
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
BINS = (_MINUTE, 5 * _MINUTE, 15 * _MINUTE, 30 * _MINUTE, _HOUR, 2 * _HOUR, 6 * _HOUR, 12 * _HOUR, _DAY)  # s, ends


@dataclass(frozen=True, slots=True)
class FoundPage:
    saved: SavedSearch
    address: str  # of the search itself
    refusal: str  # why new postings cannot be matched
    rows: tuple[PostingRow, ...]
    next: int | None  # hit after which the next page begins
    actions: str  # applied to new postings


@dataclass(frozen=True, slots=True)
class ServicePage:
    """The coverage of a search by sources."""

    saved: SavedSearch
    sources: tuple[alerts.ServingSource, ...]
    raised: tuple[interest.Raised, ...]  # sources that are checked more often because of it
    cost: float  # additional retrievals a day
    delays: int
    histogram: SafeString
    table: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class MessagesPage:
    messages: tuple[Message, ...]
    failed: int
    next: int | None


@dataclass(frozen=True, slots=True)
class NotificationSettingsPage:
    browsers: tuple[Browser, ...]
    push_key: str  # the portal's public key
    zone: str


def found_page(saved: SavedSearch, user: User, before: int | None) -> FoundPage:
    """A fixed number of queries; postings that the user may no longer read are left out."""
    hits = alerts.hits_of(saved, before=before, limit=LENGTH + 1)
    shown = hits[:LENGTH]
    query = PercolatorQuery.objects.filter(pk=saved.pk).first()
    return FoundPage(
        saved,
        address_of(saved.query, saved.order),
        query.refusal if query else "",
        tuple(rows(user, [hit.posting_id for hit in shown])),
        shown[-1].pk if len(hits) > LENGTH else None,
        get_text_list(_actions_of(Rule.objects.filter(pk=saved.pk).first()), _("and")),
    )


def _actions_of(rule: Rule | None) -> list[str]:
    if rule is None:
        return []
    done = {
        _("marked as read"): rule.mark_read,
        _("starred"): rule.star,
        _("hidden"): rule.hide,
        _("tagged “{tag}”").format(tag=rule.tag): rule.tag,
        _("mailed {when}").format(when=rule.get_mail_display().lower()): rule.mail,
        _("sent to your browsers"): rule.push,
        _("sent to a webhook"): rule.webhook_url,
    } | {str(channel.label): channel.name in rule.settings for channel in with_settings()}
    return [words for words, is_on in done.items() if is_on]


def service_page(saved: SavedSearch, now: datetime) -> ServicePage:
    """A fixed number of queries."""
    delays = alerts.delays_of(saved)
    raised = interest.raised_by(saved, now)
    counts = histogram(delays)
    names = [f"< {span(end)}" for end in BINS] + [f"≥ {span(BINS[-1])}"]
    titles = [f"{name}: {count}" for name, count in zip(names, counts, strict=True)]
    drawn = bar_chart(counts, names, label=_("Articles by delay until they reached Wirebeat"), titles=titles)
    table = tuple(zip(names, counts, strict=True))
    serving = tuple(alerts.sources_of(saved, now))
    cost = sum(source.extra for source in raised)
    return ServicePage(saved, serving, tuple(raised), cost, len(delays), mark_safe(drawn), table)


def histogram(delays: Sequence[float]) -> list[int]:
    """The number of delays in each of BINS, and of longer ones.

    >>> histogram([1, 59, 60, 100_000])
    [2, 1, 0, 0, 0, 0, 0, 0, 0, 1]
    """
    counts = [0] * (len(BINS) + 1)
    for delay in delays:
        counts[bisect_left(BINS, delay + 1e-9)] += 1
    return counts


def messages_page(user: User, before: int | None, *, failed_only: bool) -> MessagesPage:
    """Three queries. Only the newest fifty failed messages are shown."""
    if failed_only:
        found = messages.dead_letters(user, most=MESSAGES)
    else:
        found = messages.messages_of(user, before=before, most=MESSAGES + 1)
    failed = messages.count_dead_letters(user)
    shown = found[:MESSAGES]
    return MessagesPage(tuple(shown), failed, shown[-1].pk if len(found) > MESSAGES else None)


def notification_settings_page(user: User, push_key: str) -> NotificationSettingsPage:
    browsers = tuple(Browser.objects.filter(user=user).order_by("added_at"))
    return NotificationSettingsPage(browsers, push_key, user.time_zone or "UTC")
