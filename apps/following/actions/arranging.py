"""The only writers of the manual order of folders and sources. Each is idempotent."""

from collections.abc import Mapping, Sequence

from django.db import transaction
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.database.statements import execute
from apps.following import actions, queries
from apps.following.actions.errors import NotPossible
from apps.following.algorithms.ordering import Step, placed, rearranged, stepped
from apps.following.models import Folder, Follow

FolderId = int | None  # None: outside of all folders


@transaction.atomic
def step_source(user: User, source_id: int, *, within: FolderId, step: Step) -> None:
    """Move a source by a step in one of the user's lists. Raises NotPossible if it is not in the list."""
    _lock(user)
    _arrange(user, stepped(_listed(user, within, source_id), source_id, step))


@transaction.atomic
def place_source(user: User, source_id: int, *, out_of: FolderId, into: FolderId, before: int | None) -> None:
    """Move a source from one of the user's lists to a place in the same list or another one.

    It stays in other folders. Raises NotPossible if the source is not in the first list, or a folder does not exist.
    """
    _lock(user)
    listed = _listed(user, out_of, source_id)
    if into != out_of:
        _refile(user, source_id, out_of, into)
        listed = _sources_in(user, into)
    _arrange(user, placed(listed, source_id, before))


@transaction.atomic
def step_folder(user: User, folder_id: int, *, step: Step) -> None:
    """Move a folder by a step among its siblings. Raises NotPossible if it does not exist."""
    _lock(user)
    folder = _folder(user, folder_id)
    _number_folders(stepped(_siblings(user, folder.parent_id), folder_id, step))


@transaction.atomic
def place_folder(user: User, folder_id: int, *, into: FolderId, before: int | None) -> None:
    """Move a folder with its contents to a place among its siblings or in another folder.

    Raises NotPossible if a folder does not exist, or for the reasons of `edit_folder`.
    """
    _lock(user)
    folder = _folder(user, folder_id)
    if into != folder.parent_id:
        parent = None if into is None else _folder(user, into)
        actions.edit_folder(folder, name=folder.name, parent=parent)
    _number_folders(placed(_siblings(user, into), folder_id, before))


def _lock(user: User) -> None:
    """Two concurrent changes could otherwise each write half of an order."""
    User.objects.select_for_update().only("pk").get(pk=user.pk)


def _folder(user: User, folder_id: int) -> Folder:
    folder = queries.folder_of(user, folder_id)
    if folder is None:
        raise NotPossible(_("You have no such folder."))
    return folder


# --- sources ----------------------------------------------------------------------------------------------------------
def _sources_in(user: User, place: FolderId) -> list[int]:
    followed = queries.followed_sources(user)
    if place is None:
        return [each.source_id for each in followed if not each.folder_ids]
    return [each.source_id for each in followed if place in each.folder_ids]


def _listed(user: User, place: FolderId, source_id: int) -> list[int]:
    listed = _sources_in(user, place)
    if source_id not in listed:
        raise NotPossible(_("The feed is no longer in this list."))
    return listed


def _refile(user: User, source_id: int, out_of: FolderId, into: FolderId) -> None:
    follow = queries.follows_of(user).get(source_id=source_id)
    if into is not None:
        follow.folders.add(_folder(user, into))
    if out_of is not None:
        follow.folders.remove(out_of)


def _arrange(user: User, part: Sequence[int]) -> None:
    """Store the order of some of the user's sources; the others keep their positions."""
    followed = {each.source_id: each.follow_id for each in queries.followed_sources(user)}
    here = [source_id for source_id in part if source_id in followed]
    _write(Follow, {followed[id]: number for number, id in enumerate(rearranged(list(followed), here), start=1)})


# --- folders ----------------------------------------------------------------------------------------------------------
def _siblings(user: User, parent_id: FolderId) -> list[int]:
    return [folder.pk for folder in queries.in_order(queries.folders_of(user).filter(parent_id=parent_id))]


def _number_folders(order: Sequence[int]) -> None:
    _write(Folder, {folder_id: number for number, folder_id in enumerate(order, start=1)})


def _write(model: type[Follow] | type[Folder], positions: Mapping[int, int]) -> None:
    execute(
        f"""UPDATE {model._meta.db_table} placed SET position = given.position
        FROM unnest(%s::bigint[], %s::int[]) given (id, position)
        WHERE placed.id = given.id AND placed.position <> given.position""",
        [list(positions), list(positions.values())],
    )
