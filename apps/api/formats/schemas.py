"""Feeds, categories and postings of a user, as the dialects share them."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from apps.postings.algorithms.teasers import heading_of


class Category(NamedTuple):
    id: int
    title: str


class Feed(NamedTuple):
    """A source that a user follows, or of which they starred a posting."""

    id: int
    title: str
    url: str
    site_url: str
    description: str
    checked_at: datetime | None
    next_check_at: datetime | None
    failures: int  # in a row
    is_active: bool
    is_muted: bool
    wants_pages: bool
    icon_id: str | None  # its digest
    category: Category


@dataclass(frozen=True, slots=True)
class Item:
    """A posting with its state for a user."""

    id: int
    feed_id: int
    title: str
    author: str
    html: str
    url: str
    starred: bool
    unread: bool
    published_at: datetime

    @property
    def heading(self) -> str:
        """The title, or else the first words."""
        return heading_of(self.title, self.html)
