"""The dashboard's page of storage: sizes, growth, and how long articles are kept."""

from datetime import datetime
from math import inf
from typing import NamedTuple

from django.conf import settings
from django.core.cache import cache

from apps.dashboard.pages.overview import with_timeout
from apps.database.activity import load
from apps.database.sizes import sizes
from apps.documents.queries import kept
from apps.retrieval.queries import retention
from apps.retrieval.reports.delays import Stored, stored_by_day
from apps.search.queries.state import index_state
from apps.sources import queries as sources
from apps.web.pages import Context

DAYS_STORED = 14
GROWTH_KEPT = 600  # s; the log of two weeks is read for it
MAX_TABLES = 15
HORIZONS = (30, 90, 365)  # days


class Forecast(NamedTuple):
    """What is expected to be stored some days from now."""

    days: int
    postings: float
    database: float  # bytes; files of Postgres do not shrink when rows are deleted


def storage_page(now: datetime) -> Context:
    """A fixed number of queries."""
    found, loaded = with_timeout(sizes), with_timeout(load)
    stored = _stored(now)
    per_posting = retention.bytes_per_posting(found) if found else None
    week = [day.postings for day in stored[-8:-1]]  # whole days
    expected = with_timeout(retention.postings_expected, now, (0, *HORIZONS))
    return {
        "load": loaded,
        "tables": tuple(found[:MAX_TABLES]) if found else (),  # the largest
        "documents": with_timeout(kept),
        "stored": stored,  # postings by day
        "bytes_per_posting": per_posting,  # with all data derived from it
        "growth": per_posting * sum(week) / len(week) if per_posting and week else None,  # bytes a day
        "index": with_timeout(index_state),
        "forecast": forecast(expected, loaded.size, per_posting) if expected and loaded and per_posting else (),
        "quota": settings.QUOTA_BYTES,  # 0: none
        "retentions": sources.retentions(),
        "categories": sources.categories(sources.everything()),
    }


def forecast(expected: dict[int, float], size: int, per_posting: float) -> list[Forecast]:
    """The forecast for each number of days, from the postings expected then; `expected[0]` are those of now."""
    limit = max(settings.QUOTA_BYTES or inf, size)
    growth = {days: per_posting * max(0.0, postings - expected[0]) for days, postings in expected.items() if days}
    return [Forecast(days, expected[days], min(size + grown, limit)) for days, grown in growth.items()]


def _stored(now: datetime) -> tuple[Stored, ...]:
    key = f"dashboard.stored.{now:%Y%m%d}"
    known: tuple[Stored, ...] | None = cache.get(key)
    if known is None:
        known = tuple(with_timeout(stored_by_day, now, DAYS_STORED) or ())
        if known:
            cache.set(key, known, GROWTH_KEPT)
    return known
