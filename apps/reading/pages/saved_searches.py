"""Searches that a person keeps, and each as a feed."""

from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.alerts import queries as alerts
from apps.alerts.models import Rule
from apps.following import queries as following
from apps.postings import queries as postings
from apps.postings.models import Posting
from apps.reading.pages.search_asked import Asked, order_named
from apps.search import queries as searching
from apps.search.algorithms.language import parse
from apps.search.models import SavedSearch
from apps.search.queries.saved import saved_searches

FEED_LENGTH = 50  # postings of a feed


@dataclass(frozen=True, slots=True)
class KeptSearch:
    id: int
    name: str
    query: str
    address: str
    rss: str  # address
    atom: str  # address
    json: str  # address
    found: str  # how many postings since it was saved, in words; empty if there are none
    told: tuple[str, ...]  # ways on which the person is told
    refusal: str  # why nothing can be tried on it as it comes


@dataclass(frozen=True, slots=True)
class SavedSearchesPage:
    searches: tuple[KeptSearch, ...]


def saved_searches_page(user: User) -> SavedSearchesPage:
    """Two queries."""
    counts = alerts.count_hits(user)
    found = saved_searches(user).select_related("rule", "standing")
    return SavedSearchesPage(tuple(_kept(saved, counts.get(saved.pk, 0)) for saved in found))


def _kept(saved: SavedSearch, count: int) -> KeptSearch:
    rss, atom, json = (reverse("search_feed", args=[saved.secret, kind]) for kind in ("rss", "atom", "json"))
    found = f"{count:,}+" if count >= alerts.MOST_COUNTED else str(count or "")
    rule, standing = getattr(saved, "rule", None), getattr(saved, "standing", None)
    refusal = standing.refusal if standing else ""
    return KeptSearch(
        saved.pk, saved.name, saved.query, address_of(saved), rss, atom, json, found, _told(rule), refusal
    )


def _told(rule: Rule | None) -> tuple[str, ...]:
    if rule is None or rule.stopped_at is not None:
        return ()
    ways = {_("mail"): rule.mail, _("browser"): rule.push, _("webhook"): rule.webhook_url}
    return tuple(way for way, holds in ways.items() if holds)


def address_of(saved: SavedSearch) -> str:
    return reverse("search") + Asked(saved.query, order=order_named(saved.order)).address()


def newest_of(saved: SavedSearch, now: datetime) -> list[Posting]:
    """What a saved search finds, as its owner sees it; always the newest, since feeds are read for news.

    Raises
    ------
    BadQuery
        If it was saved when queries were read in another way.
    TooCostly
        If it takes too long.
    """
    found = searching.matching(saved.user, parse(saved.query), now=now)[:FEED_LENGTH]
    readable = following.readable_by(saved.user).filter(pk__in=found).select_related("source")
    return list(postings.newest(readable))
