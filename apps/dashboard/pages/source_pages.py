"""The known pages of a crawled site, or of a feed whose excerpts are completed."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.core.paginator import Page as Paged
from django.core.paginator import Paginator

from apps.accounts.models import User
from apps.following import queries as following
from apps.retrieval import queries as retrieval
from apps.retrieval.models import Crawl, Page
from apps.sources.models import Source

LENGTH = 50


@dataclass(frozen=True, slots=True)
class SourcePagesPage:
    source: Source
    crawl: Crawl | None  # None before the first check
    counts: Mapping[str, int]  # pages by the label of their kind
    waiting: int
    index_pages: tuple[Source, ...]  # checked like feeds, with their schedules
    pages: Paged[Page]
    kinds: tuple[tuple[str, str], ...]
    kind: str  # shown, or "" for all
    words: str
    now: datetime


def source_pages_page(
    user: User, source_id: int, *, kind: str, words: str, number: str, now: datetime
) -> SourcePagesPage | None:
    """Six queries."""
    source = following.known_sources(user).filter(pk=source_id).first()
    if source is None:
        return None
    kind = kind if kind in Page.Kind.values else ""
    shown = Paginator(retrieval.pages_of(source_id, kind=kind, words=words), LENGTH).get_page(number)
    shown.object_list = list(shown.object_list)
    by_kind = retrieval.page_counts(source_id)
    return SourcePagesPage(
        source=source,
        crawl=retrieval.crawl_of(source_id),
        counts={str(Page.Kind(name).label): count for name, (count, _) in by_kind.items()},
        waiting=sum(waiting for _, waiting in by_kind.values()),
        index_pages=tuple(retrieval.index_pages_of(source_id)),
        pages=shown,
        kinds=tuple((value, str(label)) for value, label in Page.Kind.choices),
        kind=kind,
        words=words,
        now=now,
    )
