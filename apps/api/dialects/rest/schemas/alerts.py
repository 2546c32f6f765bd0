"""Searches that a person keeps: what they found as it came, what is done then, and how the person was told."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from apps.accounts.models import User
from apps.alerts import models
from apps.alerts import queries as alerts
from apps.alerts.queries import messages
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
    hits: int = Field(description="Postings that it found since; a thousand means so many at least.")
    refusal: str = Field(description="Why nothing can be tried on it as it comes; empty if it can.")


class SearchList(Schema):
    items: list[Search] = Field(description="By name.")


class Rule(Schema):
    """What is done with what a search finds."""

    mark_read: bool
    star: bool
    hide: bool
    tag: str
    mail: models.Rule.Mail
    push: bool
    webhook_url: str
    settings: dict[str, str] = Field(description="Of other channels, by their names.")
    stopped_at: datetime | None = Field(description="Since when no message is sent; the rest goes on.")
    importance: float = Field(description="What it is worth beside your others; 1 is usual.")


class Hit(Schema):
    found_at: datetime
    posting: Posting


class HitList(Schema):
    items: list[Hit] = Field(description="What you may not read any more is left out, so that a page may be short.")
    next: str | None


class Attempt(Schema):
    at: datetime
    took: float = Field(description="Seconds.")
    status: int | None = Field(description="Of HTTP or SMTP; null where no answer came.")
    error: str


class Message(Schema):
    id: int
    channel: str
    search_id: int | None = Field(description="A digest is of several searches and has none.")
    state: Literal["waiting", "sent", "failed", "dropped"]
    created_at: datetime
    due_at: datetime
    done_at: datetime | None
    attempts: int
    error: str = Field(description="Of the last attempt.")
    log: list[Attempt] = Field(description="The oldest first.")


class MessageList(Schema):
    items: list[Message] = Field(description="The newest first.")
    next: str | None


def search_list(user: User) -> SearchList:
    """Two queries."""
    counts = alerts.count_hits(user)
    found = saved_searches(user).select_related("percolator_query")
    return SearchList(items=[_search(saved, counts.get(saved.pk, 0)) for saved in found])


def search_of(user: User, search_id: int) -> Search | None:
    return next((search for search in search_list(user).items if search.id == search_id), None)


def _search(saved: SavedSearch, hits: int) -> Search:
    standing = getattr(saved, "percolator_query", None)
    plain = {name: getattr(saved, name) for name in ("id", "name", "query", "order", "saved_at")}
    return Search(**plain, hits=hits, refusal=standing.refusal if standing else "")


def rule_of(saved: SavedSearch) -> Rule:
    """What is done with what one of the person's searches finds: nothing, unless they said so. Two queries."""
    rule = models.Rule.objects.filter(pk=saved.pk).first() or models.Rule(saved=saved)
    standing = models.PercolatorQuery.objects.filter(pk=saved.pk).first() or models.PercolatorQuery(saved=saved)
    plain = {name: getattr(rule, name) for name in Rule.model_fields if name != "importance"}
    return Rule(**plain, importance=standing.importance)


def hit_list(user: User, saved: SavedSearch, *, cursor: str, limit: int) -> HitList:
    """A page of what one of the person's searches found, the newest first. Two queries."""
    before = int(place_in(cursor, int)[0]) if cursor else None
    shown, last = cut(alerts.hits_of(saved, before, limit + 1), limit)
    postings = serialize(user, [hit.posting_id for hit in shown])
    return HitList(
        items=[
            Hit(found_at=hit.found_at, posting=postings[hit.posting_id]) for hit in shown if hit.posting_id in postings
        ],
        next=place_of(last.pk) if last is not None else None,
    )


def message_list(user: User, *, cursor: str, limit: int) -> MessageList:
    """A page of what the person was told, or is to be. Two queries."""
    before = int(place_in(cursor, int)[0]) if cursor else None
    shown, last = cut(messages.messages_of(user, before=before, most=limit + 1), limit)
    return MessageList(
        items=[_message(message) for message in shown], next=place_of(last.pk) if last is not None else None
    )


def _message(message: models.Message) -> Message:
    plain = ("id", "channel", "state", "created_at", "due_at", "done_at", "attempts", "error")
    return Message(
        **{name: getattr(message, name) for name in plain},
        search_id=message.saved_id,
        log=[Attempt.model_validate(attempt) for attempt in message.log.all()],
    )
