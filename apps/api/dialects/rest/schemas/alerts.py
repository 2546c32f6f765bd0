"""Saved searches, their hits and the rules of their alerts."""

from datetime import datetime

from pydantic import Field

from apps.accounts.models import User
from apps.alerts import models
from apps.alerts import queries as alerts
from apps.api.dialects.rest.schemas.base import Schema, cut, place_in, place_of
from apps.api.dialects.rest.schemas.postings import Posting, serialize
from apps.search.models import SavedSearch
from apps.search.queries.saved import saved_searches


class Search(Schema):
    id: int
    name: str
    query: str
    order: SavedSearch.Order
    saved_at: datetime
    hits: int = Field(description="Postings found since; 1000 means at least that many.")
    refusal: str = Field(description="Why it cannot be matched with new postings; empty if it can.")


class SearchList(Schema):
    items: list[Search] = Field(description="By name.")


class Rule(Schema):
    """What happens to new hits of a search."""

    mark_read: bool
    star: bool
    hide: bool
    tag: str
    mail: models.Rule.Mail
    push: bool
    webhook_url: str
    settings: dict[str, str] = Field(description="Of other channels, by name.")
    stopped_at: datetime | None = Field(description="Since when no messages are sent.")
    importance: float = Field(description="Relative to your other searches; 1 by default.")


class Hit(Schema):
    found_at: datetime
    posting: Posting


class HitList(Schema):
    items: list[Hit] = Field(description="Without unreadable postings, so that a page can be short.")
    next: str | None


def search_list(user: User) -> SearchList:
    """Two queries."""
    counts = alerts.count_hits(user)
    found = saved_searches(user).select_related("percolator_query")
    return SearchList(items=[_search(saved, counts.get(saved.pk, 0)) for saved in found])


def search_of(user: User, search_id: int) -> Search | None:
    return next((search for search in search_list(user).items if search.id == search_id), None)


def _search(saved: SavedSearch, hits: int) -> Search:
    percolated = getattr(saved, "percolator_query", None)
    plain = {name: getattr(saved, name) for name in ("id", "name", "query", "order", "saved_at")}
    return Search(**plain, hits=hits, refusal=percolated.refusal if percolated else "")


def rule_of(saved: SavedSearch) -> Rule:
    """The rule of a saved search, or the defaults. Two queries."""
    rule = models.Rule.objects.filter(pk=saved.pk).first() or models.Rule(saved=saved)
    percolated = models.PercolatorQuery.objects.filter(pk=saved.pk).first() or models.PercolatorQuery(saved=saved)
    plain = {name: getattr(rule, name) for name in Rule.model_fields if name != "importance"}
    return Rule(**plain, importance=percolated.importance)


def hit_list(user: User, saved: SavedSearch, *, cursor: str, limit: int) -> HitList:
    """A page of a saved search's hits, the newest first. Two queries."""
    before = int(place_in(cursor, int)[0]) if cursor else None
    shown, last = cut(alerts.hits_of(saved, before, limit + 1), limit)
    postings = serialize(user, [hit.posting_id for hit in shown])
    return HitList(
        items=[
            Hit(found_at=hit.found_at, posting=postings[hit.posting_id]) for hit in shown if hit.posting_id in postings
        ],
        next=place_of(last.pk) if last is not None else None,
    )
