"""The menu of a posting in a list."""

from collections.abc import Mapping
from dataclasses import dataclass

from apps.accounts.models import User
from apps.following import queries as following
from apps.following.models import Tag
from apps.web.pages.rows import PostingRow, row


@dataclass(frozen=True, slots=True)
class PostingMenu:
    posting: PostingRow
    tags: tuple[Tag, ...]  # the user's on this posting
    other_tags: tuple[Tag, ...]
    scope: str  # of its list in the notation of forms, or empty
    order: str
    shown_at: str
    next: str  # address of that list


def posting_menu(user: User, posting_id: int, place: Mapping[str, str]) -> PostingMenu | None:
    """The menu of a posting that the user may read, or None; `place` describes its list. Two queries."""
    posting = row(user, posting_id)
    if posting is None:
        return None
    tags = tuple(following.tags_of(user))
    return PostingMenu(
        posting,
        tuple(tag for tag in tags if tag.name in posting.own_tags),
        tuple(tag for tag in tags if tag.name not in posting.own_tags),
        *(place.get(name, "") for name in ("scope", "order", "shown_at", "next")),
    )
