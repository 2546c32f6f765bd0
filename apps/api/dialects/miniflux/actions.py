"""What programs that speak Miniflux change of what somebody follows. Each is one transaction, but for asking a site."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from apps.accounts.models import User
from apps.api.queries.feeds import PATH, folder_id_of
from apps.following import actions as following
from apps.following import queries as following_queries
from apps.following.actions import NotPossible
from apps.following.models import Folder, Follow
from apps.retrieval.actions import discover
from apps.retrieval.actions.following import follow

MAX_NAME_LENGTH = 100  # characters, of a folder


@dataclass(frozen=True, slots=True)
class FeedChange:
    """What is to be another of a followed source; None stays as it is."""

    title: str | None = None
    category_id: int | None = None
    muted: bool | None = None
    wants_pages: bool | None = None


def create_feed(user: User, address: str, category_id: int, *, now: datetime) -> int:
    """Follow the source at an address, in a category that the person has; its id.

    Raises NotPossible if they follow it already, there is none, or they follow too many, and TooOften if the portal
    does not know the address, and the person had too many such looked at within the hour.
    """
    found = discover(user, address, now=now)
    if found.source_id is None:
        named = ", ".join(choice.url for choice in found.choices)
        raise NotPossible(f"The page names several feeds, choose one: {named}" if named else found.problem)
    if following_queries.follow_of(user, found.source_id) is not None:
        raise NotPossible("This feed already exists.")
    folder_id = folder_id_of(category_id)
    follow(user, found.source_id, now=now, folder_ids=[] if folder_id is None else [folder_id])
    return found.source_id


@transaction.atomic
def update_feed(follow: Follow, wish: FeedChange) -> None:
    """Change what is wished of a followed source.

    Programs that speak Miniflux know one category of each feed: a source that they put into another one lies there
    alone afterwards.
    """
    folders: list[Folder] = list(follow.folders.all())
    if wish.category_id is not None:
        folder_id = folder_id_of(wish.category_id)
        folder = None if folder_id is None else following_queries.folder_of(follow.user, folder_id)
        folders = [folder] if folder is not None else []
    choices: dict[str, Any] = {}
    if wish.muted is not None:
        choices["muted"] = wish.muted
    if wish.wants_pages is not None:
        choices["full_text"] = Follow.FullText.PAGE if wish.wants_pages else Follow.FullText.FEED
    title = follow.title if wish.title is None else wish.title
    following.edit_follow(follow, title="" if title == follow.source.title else title, folders=folders, **choices)


@transaction.atomic
def create_category(user: User, title: str) -> Folder:
    """Make a folder beside those that lie in no other.

    Raises NotPossible if there is one of that name, the name is too long, or there are too many.
    """
    if following_queries.folders_of(user).filter(parent=None, name=title).exists():
        raise NotPossible("This category already exists.")
    return following.create_folder(user, _checked_name(title))


@transaction.atomic
def rename_category(folder: Folder, title: str) -> None:
    """Give a folder another name; it keeps its place, so the names of those above it may stand before the name or not.

    Raises NotPossible if another one there has the name, or it is too long.
    """
    above = following_queries.folder_paths(following_queries.folders_of(folder.user))[folder.pk][:-1]
    name = title.removeprefix(PATH.join((*above, ""))).strip() if above else title
    following.edit_folder(folder, name=_checked_name(name or title), parent=folder.parent)


def _checked_name(name: str) -> str:
    if len(name) > MAX_NAME_LENGTH:
        raise NotPossible(f"The title has {len(name):,} characters; at most {MAX_NAME_LENGTH} are allowed.")
    return name


@transaction.atomic
def delete_category(folder: Folder) -> None:
    """Delete a folder; the sources in it stay followed.

    Raises NotPossible if there are folders inside: programs show them beside it, and would not expect that they go,
    too.
    """
    if folder.children.exists():
        raise NotPossible("This category has others inside. Delete those first.")
    following.delete_folder(folder)
