"""Reads of Fever's API. It has no list of a single feed, so muted sources are left out."""

from collections.abc import Sequence
from datetime import datetime

from django.db.models import F, Max

from apps.accounts.models import User
from apps.api.formats.schemas import Feed, Item
from apps.api.queries import feeds as followed
from apps.api.queries.feeds import own
from apps.following import queries as following
from apps.following.queries import Scope
from apps.web.pages.rows import article_for_programs

ALL = Scope("all")


def groups(user: User) -> dict[int, tuple[str, list[int]]]:
    """Title and sources of each folder, including its subfolders. Two queries."""
    folders = list(following.folders_of(user))
    paths, within = following.folder_paths(folders), followed.sources_by_folder(user, folders)
    return {id: (followed.PATH.join(paths[id]), sorted(within[id])) for id in following.as_shown(folders)}


def feeds(user: User) -> list[Feed]:
    """Three queries."""
    return [feed for feed in followed.feeds(user) if not feed.is_muted]


def refreshed_at(user: User) -> datetime | None:
    """The time of the latest check of a followed source."""
    at: datetime | None = following.follows_in(user, ALL).aggregate(at=Max("source__schedule__requested_at"))["at"]
    return at


def items(user: User, posting_ids: Sequence[int]) -> list[Item]:
    """The user's postings among these, in the given order. One query."""
    rows = following.with_state(own(user), user).filter(pk__in=posting_ids)
    columns = ("id", "title", "author", "html", "url", "starred", "unread", "published_at")
    found = {row["id"]: row for row in rows.values(*columns, feed_id=F("source_id"))}
    shown = {id: Item(**row | {"html": article_for_programs(user, row["html"])}) for id, row in found.items()}
    return [shown[id] for id in dict.fromkeys(posting_ids) if id in found]


def starred_ids(user: User, most: int) -> list[int]:
    """Starred postings, the latest first."""
    return list(following.stars_of(user).order_by("-starred_at").values_list("posting_id", flat=True)[:most])
