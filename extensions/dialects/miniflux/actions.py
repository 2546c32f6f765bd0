"""Changes by Miniflux clients. Each is one transaction, except for requests to sites."""

from datetime import datetime
from typing import Any

from django.db import transaction

from apps.accounts.models import User
from apps.api.actions import marking
from apps.api.queries.feeds import ALL, PATH
from apps.following import queries as following_queries
from apps.following.actions import follows
from apps.following.actions.errors import NotPossible
from apps.following.models import Folder, Follow, Mark
from apps.retrieval.actions import discover
from apps.retrieval.actions.following import follow

MAX_NAME_LENGTH = 100  # characters, of a folder


def folder_id_of(category_id: int) -> int | None:
    """The folder of a category; None for `ALL`."""
    return None if category_id == ALL.id else category_id - 1


def create_feed(user: User, address: str, category_id: int, *, now: datetime) -> int:
    """Follow the source at an address, in an existing category; returns its id.

    Raises NotPossible if there is no single feed, or it is followed already or one too many, and TooOften after too
    many lookups of unknown addresses within the hour.
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
def update_feed(
    follow: Follow,
    *,
    title: str | None = None,
    category_id: int | None = None,
    wants_pages: bool | None = None,
    **choices: bool,
) -> None:
    """Change a followed source. Clients know one category per feed, so a new one replaces all folders."""
    folders: list[Folder] = list(follow.folders.all())
    if category_id is not None:
        folder_id = folder_id_of(category_id)
        folder = None if folder_id is None else following_queries.folder_of(follow.user, folder_id)
        folders = [folder] if folder is not None else []
    options: dict[str, Any] = dict(choices)
    if wants_pages is not None:
        options["full_text"] = Follow.FullText.PAGE if wants_pages else Follow.FullText.FEED
    title = follow.title if title is None else title
    follows.edit_follow(follow, title="" if title == follow.source.title else title, folders=folders, **options)


@transaction.atomic
def create_category(user: User, title: str) -> Folder:
    """Create a top-level folder. Raises NotPossible if the name is taken or too long, or there are too many."""
    if following_queries.folders_of(user).filter(parent=None, name=title).exists():
        raise NotPossible("This category already exists.")
    return follows.create_folder(user, _checked_name(title))


@transaction.atomic
def rename_category(folder: Folder, title: str) -> None:
    """Rename a folder in its place; the title may contain the path of its parents or not.

    Raises NotPossible if the name is taken or too long.
    """
    above = following_queries.folder_paths(following_queries.folders_of(folder.user))[folder.pk][:-1]
    name = title.removeprefix(PATH.join((*above, ""))).strip() if above else title
    follows.edit_folder(folder, name=_checked_name(name or title), parent=folder.parent)


def _checked_name(name: str) -> str:
    if len(name) > MAX_NAME_LENGTH:
        raise NotPossible(f"The title has {len(name):,} characters; at most {MAX_NAME_LENGTH} are allowed.")
    return name


@transaction.atomic
def delete_category(folder: Folder) -> None:
    """Delete a folder; its sources stay followed.

    Raises NotPossible if it has subfolders: clients show them as siblings, and do not expect their deletion.
    """
    if folder.children.exists():
        raise NotPossible("This category has others inside. Delete those first.")
    follows.delete_folder(folder)


@transaction.atomic
def toggle_star(user: User, posting_id: int, *, now: datetime) -> bool:
    """Star a posting, or unstar a starred one; False if it is not the user's."""
    marks = Mark.objects.select_for_update().filter(user=user, posting=posting_id)
    is_starred = any(marks.values_list("starred_at", flat=True))
    return marking.star(user, posting_id, starred=not is_starred, now=now)
