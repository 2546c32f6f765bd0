"""What standing searches found, how people are told of it, and what of that arrived."""

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

LENGTH = 40  # postings shown at once
MESSAGES = 50  # shown at once
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
BINS = (_MINUTE, 5 * _MINUTE, 15 * _MINUTE, 30 * _MINUTE, _HOUR, 2 * _HOUR, 6 * _HOUR, 12 * _HOUR, _DAY)  # s, ends


@dataclass(frozen=True, slots=True)
class FoundPage:
    saved: SavedSearch
    address: str  # of the search itself
    refusal: str  # why nothing can be tried on it
    rows: tuple[PostingRow, ...]
    next: int | None  # hit that the next page begins after
    told: str  # what is done with what is found


@dataclass(frozen=True, slots=True)
class ServicePage:
    """How a search is served."""

    saved: SavedSearch
    sources: tuple[alerts.ServingSource, ...]
    raised: tuple[interest.Raised, ...]  # sources that are asked more often because of it
    cost: float  # retrievals a day that are made for it
    delays: int
    histogram: SafeString
    table: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class MessagesPage:
    messages: tuple[Message, ...]
    given_up: int
    next: int | None


@dataclass(frozen=True, slots=True)
class NotificationSettingsPage:
    browsers: tuple[Browser, ...]
    push_key: str  # the portal's public one
    zone: str


def found_page(saved: SavedSearch, user: User, before: int | None) -> FoundPage:
    """A fixed number of queries; what the person may not read any more is left out."""
    hits = alerts.hits_of(saved, before=before, limit=LENGTH + 1)
    shown = hits[:LENGTH]
    standing = PercolatorQuery.objects.filter(pk=saved.pk).first()
    return FoundPage(
        saved,
        address_of(saved.query, saved.order),
        standing.refusal if standing else "",
        tuple(rows(user, [hit.posting_id for hit in shown])),
        shown[-1].pk if len(hits) > LENGTH else None,
        get_text_list(_told(Rule.objects.filter(pk=saved.pk).first()), _("and")),
    )


def _told(rule: Rule | None) -> list[str]:
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
    return [words for words, holds in done.items() if holds]


def service_page(saved: SavedSearch, now: datetime) -> ServicePage:
    """A fixed number of queries."""
    delays = alerts.delays_of(saved)
    raised = interest.raised_by(saved, now)
    counts = histogram(delays)
    names = [f"< {span(end)}" for end in BINS] + [f"≥ {span(BINS[-1])}"]
    said = [f"{name}: {count}" for name, count in zip(names, counts, strict=True)]
    drawn = bar_chart(counts, names, label=_("Articles by delay until they reached Wirebeat"), words=said)
    table = tuple(zip(names, counts, strict=True))
    serving = tuple(alerts.sources_of(saved, now))
    cost = sum(source.extra for source in raised)
    return ServicePage(saved, serving, tuple(raised), cost, len(delays), mark_safe(drawn), table)


def histogram(delays: Sequence[float]) -> list[int]:
    """How many delays end in each of BINS, and how many are longer.

    >>> histogram([1, 59, 60, 100_000])
    [2, 1, 0, 0, 0, 0, 0, 0, 0, 1]
    """
    counts = [0] * (len(BINS) + 1)
    for delay in delays:
        counts[bisect_left(BINS, delay + 1e-9)] += 1
    return counts


def messages_page(user: User, before: int | None, *, given_up_only: bool) -> MessagesPage:
    """Three queries. Of what was given up the newest fifty are shown."""
    if given_up_only:
        found = messages.dead_letters(user, most=MESSAGES)
    else:
        found = messages.messages_of(user, before=before, most=MESSAGES + 1)
    given_up = messages.count_dead_letters(user)
    shown = found[:MESSAGES]
    return MessagesPage(tuple(shown), given_up, shown[-1].pk if len(found) > MESSAGES else None)


def notification_settings_page(user: User, push_key: str) -> NotificationSettingsPage:
    browsers = tuple(Browser.objects.filter(user=user).order_by("added_at"))
    return NotificationSettingsPage(browsers, push_key, user.time_zone or "UTC")
