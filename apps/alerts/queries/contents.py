"""Contents of messages: hits by search, with their addresses."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from django.conf import settings
from django.db.models.functions import Coalesce, Left
from django.urls import reverse

from apps.accounts.queries.site import own_address
from apps.alerts.models import Hit
from apps.postings.algorithms.teasers import MAX_WORDS, first_words


class Finding(NamedTuple):
    title: str
    url: str  # of the original; "" if it has none
    page: str  # on the portal
    source: str
    published_at: datetime


@dataclass(frozen=True, slots=True)
class Group:
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


def _group(hits: Sequence[Hit]) -> Group:
    saved = hits[0].saved
    return Group(saved.pk, saved.name, saved.query, tuple(map(_finding, hits)))


def _finding(hit: Any) -> Finding:
    posting = hit.posting
    return Finding(
        title=" ".join(posting.title.split()) or first_words(hit.beginning) or "Untitled",
        page=own_address(reverse("posting", args=[posting.pk])),
        url=posting.url if posting.url.startswith(("http://", "https://")) else "",
        source=str(posting.source),
        published_at=posting.published_at,
    )


def stop_page(token: str) -> str:
    """The address that stops messages with one click, without authentication."""
    return own_address(reverse("alert_stop", args=[token]))


def host() -> str:
    return urlsplit(settings.PROJECT_URL).hostname or "localhost"
