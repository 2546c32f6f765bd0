"""What dialects tell of: feeds, folders and postings as the person has them whose program asks.

Each dialect writes them in its own words; what only one of them tells is its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Category:
    id: int
    title: str


@dataclass(frozen=True, slots=True)
class Feed:
    """A source, as somebody has it who follows it, or has starred something of it."""

    id: int
    title: str
    url: str
    site_url: str
    description: str
    checked_at: datetime | None
    next_check_at: datetime | None
    failures: int  # one after another
    is_active: bool
    is_muted: bool
    wants_pages: bool
    category: Category


@dataclass(frozen=True, slots=True)
class Item:
    """A posting as one person sees it."""

    id: int
    feed_id: int
    title: str
    author: str
    html: str
    url: str
    starred: bool
    unread: bool
    published_at: datetime


@dataclass(frozen=True, slots=True)
class Entry(Item):
    """A posting with all that is kept of it."""

    comments_url: str
    identity: str
    categories: Sequence[str]
    enclosures: Sequence[Mapping[str, Any]]  # as postings keep them
    retrieved_at: datetime
    changed_at: datetime
    minutes: int  # to read it
    heard: tuple[str, float] = ("", 0.0)  # the recording that the person has begun, and the second that they are at
