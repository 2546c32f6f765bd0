"""Saved searches and their feeds."""

from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.alerts import queries as alerts
from apps.alerts.channels import with_settings
from apps.alerts.models import Rule
from apps.search.models import SavedSearch
from apps.search.queries.saved import saved_searches
from apps.web.pages.search_query import address_of


@dataclass(frozen=True, slots=True)
class KeptSearch:
    id: int
    name: str
    query: str
    address: str
    rss: str  # address
    atom: str  # address
    json: str  # address
    found: str  # number of postings since it was saved; empty for none
    channels: tuple[str, ...]  # by which the user is notified
    refusal: str  # why new postings cannot be matched


@dataclass(frozen=True, slots=True)
class SavedSearchesPage:
    searches: tuple[KeptSearch, ...]


def saved_searches_page(user: User) -> SavedSearchesPage:
    """Two queries."""
    counts = alerts.count_hits(user)
    found = saved_searches(user).select_related("rule", "percolator_query")
    return SavedSearchesPage(tuple(_kept(saved, counts.get(saved.pk, 0)) for saved in found))


def _kept(saved: SavedSearch, count: int) -> KeptSearch:
    rss, atom, json = (reverse("search_feed", args=[saved.secret, kind]) for kind in ("rss", "atom", "json"))
    found = f"{count:,}+" if count >= alerts.MAX_COUNTED else str(count or "")
    rule, percolator_query = getattr(saved, "rule", None), getattr(saved, "percolator_query", None)
    refusal = percolator_query.refusal if percolator_query else ""
    address = address_of(saved.query, saved.order)
    return KeptSearch(saved.pk, saved.name, saved.query, address, rss, atom, json, found, _channels(rule), refusal)


def _channels(rule: Rule | None) -> tuple[str, ...]:
    if rule is None or rule.stopped_at is not None:
        return ()
    ways = {_("mail"): rule.mail, _("browser"): rule.push, _("webhook"): rule.webhook_url}
    ways |= {str(channel.label): channel.name in rule.settings for channel in with_settings()}
    return tuple(way for way, is_on in ways.items() if is_on)
