"""Searches that a person keeps, and each as a feed."""

from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from apps.accounts.models import User
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


@dataclass(frozen=True, slots=True)
class SavedSearchesPage:
    searches: tuple[KeptSearch, ...]


def saved_searches_page(user: User) -> SavedSearchesPage:
    """One query."""
    return SavedSearchesPage(tuple(_kept(saved) for saved in saved_searches(user)))


def _kept(saved: SavedSearch) -> KeptSearch:
    rss, atom = (reverse("search_feed", args=[saved.secret, kind]) for kind in ("rss", "atom"))
    return KeptSearch(saved.pk, saved.name, saved.query, address_of(saved), rss, atom)


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
