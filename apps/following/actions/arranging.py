"""The only writers of the order in which people see their folders and sources. Each may be called twice."""

from collections.abc import Mapping, Sequence

from django.db import connection, transaction
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.following import actions, queries
from apps.following.actions.errors import NotPossible
from apps.following.algorithms.ordering import Step, placed, rearranged, stepped
from apps.following.models import Folder, Follow

Place = int | None  # a folder's id; None: outside all folders


@transaction.atomic
def step_source(user: User, source_id: int, *, within: Place, step: Step) -> None:
    """Let a source go a step in one of the person's lists. Raises NotPossible if it does not lie there."""
    _hold(user)
    _arrange(user, stepped(_listed(user, within, source_id), source_id, step))


@transaction.atomic
def place_source(user: User, source_id: int, *, out_of: Place, into: Place, before: int | None) -> None:
    """Take a source from one of the person's lists to a place in the same or another one.

    Who takes it out of all folders takes it out of this one; it stays in the others. Raises NotPossible if it does not
    lie there, or there is no such folder.
    """
    _hold(user)
    listed = _listed(user, out_of, source_id)
    if into != out_of:
        _refile(user, source_id, out_of, into)
        listed = _sources_in(user, into)
    _arrange(user, placed(listed, source_id, before))


@transaction.atomic
def step_folder(user: User, folder_id: int, *, step: Step) -> None:
    """Let a folder go a step among those beside it. Raises NotPossible if the person has no such folder."""
    _hold(user)
    folder = _folder(user, folder_id)
    _number_folders(stepped(_beside(user, folder.parent_id), folder_id, step))


@transaction.atomic
def place_folder(user: User, folder_id: int, *, into: Place, before: int | None) -> None:
    """Take a folder, and what lies in it, to a place in another one, or among those beside it.

    Raises NotPossible if there is no such folder, it would lie inside itself or too deep, or another one there has its
    name.
    """
    _hold(user)
    folder = _folder(user, folder_id)
    if into != folder.parent_id:
        parent = None if into is None else _folder(user, into)
        actions.edit_folder(folder, name=folder.name, parent=parent)
    _number_folders(placed(_beside(user, into), folder_id, before))


def _hold(user: User) -> None:
    """Two who sort at once would else each write half of an order."""
    User.objects.select_for_update().only("pk").get(pk=user.pk)


def _folder(user: User, folder_id: int) -> Folder:
    folder = queries.folder_of(user, folder_id)
    if folder is None:
        raise NotPossible(_("You have no such folder."))
    return folder


# --- sources ----------------------------------------------------------------------------------------------------------
def _sources_in(user: User, place: Place) -> list[int]:
    followed = queries.followed_sources(user)
    if place is None:
        return [each.source_id for each in followed if not each.folder_ids]
    return [each.source_id for each in followed if place in each.folder_ids]


def _listed(user: User, place: Place, source_id: int) -> list[int]:
    listed = _sources_in(user, place)
    if source_id not in listed:
        raise NotPossible(_("The feed is no longer in this list."))
    return listed


def _refile(user: User, source_id: int, out_of: Place, into: Place) -> None:
    follow = queries.follows_of(user).get(source_id=source_id)
    if into is not None:
        follow.folders.add(_folder(user, into))
    if out_of is not None:
        follow.folders.remove(out_of)


def _arrange(user: User, part: Sequence[int]) -> None:
    """Write the order of some of the person's sources; the others keep their places."""
    followed = {each.source_id: each.follow_id for each in queries.followed_sources(user)}
    here = [source_id for source_id in part if source_id in followed]
    _write(Follow, {followed[id]: number for number, id in enumerate(rearranged(list(followed), here), start=1)})


# --- folders ----------------------------------------------------------------------------------------------------------
def _beside(user: User, parent_id: Place) -> list[int]:
    return list(queries.folders_of(user).filter(parent_id=parent_id).values_list("pk", flat=True))


def _number_folders(order: Sequence[int]) -> None:
    _write(Folder, {folder_id: number for number, folder_id in enumerate(order, start=1)})


def _write(model: type[Follow] | type[Folder], positions: Mapping[int, int]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            f"""UPDATE {model._meta.db_table} placed SET position = given.position
            FROM unnest(%s::bigint[], %s::int[]) given (id, position)
            WHERE placed.id = given.id AND placed.position <> given.position""",
            [list(positions), list(positions.values())],
        )
