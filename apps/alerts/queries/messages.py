"""Reads of messages."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from django.db.models import Count, Prefetch, Q, QuerySet, Window
from django.db.models.functions import Coalesce, Left, RowNumber
from django.urls import reverse

from apps.accounts.models import User
from apps.accounts.queries.site import own_address
from apps.accounts.queries.time_zones import zone_named
from apps.alerts.models import Attempt, Hit, Message, NotificationSettings
from apps.postings.algorithms.teasers import MAX_WORDS, first_words
from apps.postings.models import Posting

State = Message.State
LEFT_BEHIND = timedelta(seconds=20)  # after which a due message counts as overdue
MAX_DUE = 500  # enqueued at once
MAX_COUNTED = 100_000  # a longer queue is not counted further
_UNUSED = [f"posting__{name}" for name in ("html", "text", "feed_html", "enclosures", "categories", "lead")]
MAX_OF_ONE = 50  # of them for one user: dead webhooks must not delay other users


def zone_of(user: User) -> ZoneInfo:
    return zone_named(user.time_zone)


def notification_settings_of(user: User) -> NotificationSettings:
    """The user's settings, or the defaults."""
    known: NotificationSettings | None = getattr(user, "notification_settings", None)
    return known or NotificationSettings(user=user)


def messages_of(user: User, *, before: int | None = None, most: int = 50) -> list[Message]:
    """Messages of a user, the newest first, with search, browser and `log` (oldest first).

    `before` is the id of the last one seen, for the next page.
    """
    rows = Message.objects.filter(user=user) if before is None else Message.objects.filter(user=user, pk__lt=before)
    return list(_with_log(rows.order_by("-pk"))[:most])


def dead_letters(user: User, *, most: int = 50) -> list[Message]:
    """Failed messages of a user, like `messages_of`."""
    return list(_with_log(Message.objects.filter(user=user, state=State.FAILED).order_by("-pk"))[:most])


def count_dead_letters(user: User) -> int:
    return Message.objects.filter(user=user, state=State.FAILED).count()


def _with_log(rows: QuerySet[Message]) -> QuerySet[Message]:
    log = Prefetch("log", Attempt.objects.order_by("pk"))
    rows = rows.select_related("saved", "browser", "destination", "posting").defer(*_UNUSED)
    return rows.prefetch_related(log)


def due(now: datetime) -> list[int]:
    """Due messages without a lease, the longest due first, a bounded number of each user."""
    turn = Window(RowNumber(), partition_by="user", order_by=["due_at", "pk"])
    mine = _due(now).annotate(turn=turn).filter(turn__lte=MAX_OF_ONE)
    return list(mine.order_by("due_at", "pk").values_list("pk", flat=True)[:MAX_DUE])


def left_behind(now: datetime) -> int:
    """The number of overdue messages."""
    return _due(now).filter(due_at__lte=now - LEFT_BEHIND).count()


def waiting_and_failed() -> dict[str, int]:
    """Numbers of waiting and failed messages, up to a bound."""
    states = (State.WAITING, State.FAILED)
    return {state.value: Message.objects.filter(state=state)[:MAX_COUNTED].count() for state in states}


def failed_messages(*, most: int) -> list[Message]:
    """Failed messages of all users, the latest first, without their content; for admins."""
    failed = Message.objects.filter(state=State.FAILED, done_at__isnull=False).order_by("-done_at", "-pk")
    return list(failed.select_related("user").defer("hits")[:most])


def done_since(since: datetime) -> dict[str, int]:
    """Numbers of messages that ended since a time, by final state."""
    done = Message.objects.filter(done_at__gt=since).order_by("state").values_list("state")
    return dict.fromkeys((State.SENT.value, State.FAILED.value, State.DROPPED.value), 0) | dict(
        done.annotate(count=Count("pk"))
    )


def _due(now: datetime) -> QuerySet[Message]:
    free = Q(lease_until=None) | Q(lease_until__lte=now)
    return Message.objects.filter(free, state=State.WAITING, due_at__lte=now)


# --- contents ---------------------------------------------------------------------------------------------------------
class Finding(NamedTuple):
    title: str
    url: str  # of the original; "" if it has none
    page: str  # on the portal
    source: str
    published_at: datetime


class Group(NamedTuple):
    """Hits of one search."""

    saved_id: int
    name: str
    query: str
    findings: tuple[Finding, ...]


def groups_of(hits: Sequence[int], *, saved_ids: Collection[int]) -> list[Group]:
    """The hits of these searches: searches by name, hits in the given order."""
    rows = Hit.objects.filter(pk__in=hits, saved_id__in=saved_ids).select_related("saved", "posting__source")
    beginning = Left(Coalesce("posting__lead", "posting__text"), 2 * MAX_WORDS)
    rows = rows.defer("posting__html", "posting__text").annotate(beginning=beginning)
    place = {hit_id: number for number, hit_id in enumerate(hits)}
    by_search: dict[int, list[Hit]] = {}
    for hit in sorted(rows, key=lambda hit: place[hit.pk]):
        by_search.setdefault(hit.saved_id, []).append(hit)
    groups = [_group(found) for found in by_search.values()]
    return sorted(groups, key=lambda group: (group.name, group.saved_id))


def _group(hits: Sequence[Any]) -> Group:
    saved = hits[0].saved
    return Group(saved.pk, saved.name, saved.query, tuple(finding_of(hit.posting, hit.beginning) for hit in hits))


def article_of(posting_id: int) -> list[Group]:
    """An article that a user sends, as a group of no search; empty if it is gone."""
    posting = Posting.objects.filter(pk=posting_id).select_related("source").first()
    return [Group(0, "", "", (finding_of(posting, posting.lead or posting.text),))] if posting else []


def finding_of(posting: Posting, beginning: str) -> Finding:
    return Finding(
        title=" ".join(posting.title.split()) or first_words(beginning) or "Untitled",
        page=own_address(reverse("posting", args=[posting.pk])),
        url=posting.url if posting.url.startswith(("http://", "https://")) else "",
        source=str(posting.source),
        published_at=posting.published_at,
    )


def stop_page(token: str) -> str:
    """The address that stops messages with one click, without authentication."""
    return own_address(reverse("alert_stop", args=[token]))
