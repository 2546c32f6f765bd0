"""Saved searches and their alerts."""

from bisect import bisect_left
from collections.abc import Sequence
from datetime import datetime

from django.urls import reverse
from django.utils.safestring import mark_safe
from django.utils.text import get_text_list
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.alerts import queries as alerts
from apps.alerts.channels import with_settings
from apps.alerts.models import Browser, PercolatorQuery, Rule
from apps.alerts.queries import interest, messages
from apps.search.models import SavedSearch
from apps.search.queries.saved import saved_searches
from apps.web.algorithms.charts import bar_chart
from apps.web.pages import Context
from apps.web.pages.durations import span
from apps.web.pages.rows import rows
from apps.web.pages.search_query import address_of

LENGTH = 40  # postings per page
MESSAGES = 50  # per page
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
BINS = (_MINUTE, 5 * _MINUTE, 15 * _MINUTE, 30 * _MINUTE, _HOUR, 2 * _HOUR, 6 * _HOUR, 12 * _HOUR, _DAY)  # s, ends


def saved_search_rows(user: User) -> list[Context]:
    """Two queries."""
    counts = alerts.count_hits(user)
    found = saved_searches(user).select_related("rule", "percolator_query")
    return [_row(saved, counts.get(saved.pk, 0)) for saved in found]


def _row(saved: SavedSearch, count: int) -> Context:
    percolator_query = getattr(saved, "percolator_query", None)
    feeds = {kind: reverse("search_feed", args=[saved.secret, kind]) for kind in ("rss", "atom", "json")}
    return {
        "id": saved.pk,
        "name": saved.name,
        "query": saved.query,
        "address": address_of(saved.query, saved.order),
        "found": f"{count:,}+" if count >= alerts.MAX_COUNTED else str(count or ""),  # postings since it was saved
        "channels": _channels(getattr(saved, "rule", None)),  # by which the user is notified
        "refusal": percolator_query.refusal if percolator_query else "",  # why new postings cannot be matched
        **feeds,
    }


def _channels(rule: Rule | None) -> tuple[str, ...]:
    if rule is None or rule.stopped_at is not None:
        return ()
    ways = {_("mail"): rule.mail, _("browser"): rule.push, _("webhook"): rule.webhook_url}
    ways |= {str(channel.label): channel.name in rule.settings for channel in with_settings()}
    return tuple(way for way, is_on in ways.items() if is_on)


def found_page(saved: SavedSearch, user: User, before: int | None) -> Context:
    """A fixed number of queries; postings that the user may no longer read are left out."""
    hits = alerts.hits_of(saved, before=before, limit=LENGTH + 1)
    shown = hits[:LENGTH]
    query = PercolatorQuery.objects.filter(pk=saved.pk).first()
    return {
        "saved": saved,
        "address": address_of(saved.query, saved.order),
        "refusal": query.refusal if query else "",  # why new postings cannot be matched
        "rows": tuple(rows(user, [hit.posting_id for hit in shown])),
        "next": shown[-1].pk if len(hits) > LENGTH else None,  # hit after which the next page begins
        "actions": get_text_list(_actions_of(Rule.objects.filter(pk=saved.pk).first()), _("and")),
    }


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


def service_page(saved: SavedSearch, now: datetime) -> Context:
    """A fixed number of queries."""
    delays = alerts.delays_of(saved)
    raised = interest.raised_by(saved, now)
    counts = histogram(delays)
    names = [f"< {span(end)}" for end in BINS] + [f"≥ {span(BINS[-1])}"]
    titles = [f"{name}: {count}" for name, count in zip(names, counts, strict=True)]
    drawn = bar_chart(counts, names, label=_("Articles by delay until they reached Wirebeat"), titles=titles)
    return {
        "saved": saved,
        "sources": alerts.sources_of(saved, now),
        "raised": raised,  # sources that are checked more often because of it
        "cost": sum(source.extra for source in raised),  # additional retrievals a day
        "delays": len(delays),
        "histogram": mark_safe(drawn),
        "table": list(zip(names, counts, strict=True)),
    }


def histogram(delays: Sequence[float]) -> list[int]:
    """The number of delays in each of BINS, and of longer ones.

    >>> histogram([1, 59, 60, 100_000])
    [2, 1, 0, 0, 0, 0, 0, 0, 0, 1]
    """
    counts = [0] * (len(BINS) + 1)
    for delay in delays:
        counts[bisect_left(BINS, delay + 1e-9)] += 1
    return counts


def messages_page(user: User, before: int | None, *, failed_only: bool) -> Context:
    """Three queries. Only the newest fifty failed messages are shown."""
    if failed_only:
        found = messages.dead_letters(user, most=MESSAGES)
    else:
        found = messages.messages_of(user, before=before, most=MESSAGES + 1)
    failed = messages.count_dead_letters(user)
    shown = found[:MESSAGES]
    return {"messages": tuple(shown), "failed": failed, "next": shown[-1].pk if len(found) > MESSAGES else None}


def notification_settings_page(user: User, push_key: str) -> Context:
    browsers = tuple(Browser.objects.filter(user=user).order_by("added_at"))
    return {"browsers": browsers, "push_key": push_key, "zone": user.time_zone or "UTC"}
