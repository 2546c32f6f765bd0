"""What can be done with a posting of a list besides reading and starring it."""

from collections.abc import Mapping
from dataclasses import dataclass

from apps.accounts.models import User
from apps.following import queries as following
from apps.following.models import Tag
from apps.web.pages.rows import PostingRow, row


@dataclass(frozen=True, slots=True)
class PostingMenu:
    posting: PostingRow
    tags: tuple[Tag, ...]  # the person's own on it
    other_tags: tuple[Tag, ...]
    scope: str  # of the list in which it stands, as forms name it; empty if it stands in none
    order: str
    shown_at: str
    next: str  # address of that list


def posting_menu(user: User, posting_id: int, place: Mapping[str, str]) -> PostingMenu | None:
    """The menu of a posting that the person may read, or None; `place` says in which list it stands. Two queries."""
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
