"""Saved searches and their feeds."""

from django.urls import reverse
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.alerts import queries as alerts
from apps.alerts.channels import with_settings
from apps.alerts.models import Rule
from apps.search.models import SavedSearch
from apps.search.queries.saved import saved_searches
from apps.web.pages import Context
from apps.web.pages.search_query import address_of


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
