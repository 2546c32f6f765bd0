"""Nested folders."""

from collections.abc import Sequence

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.accounts.models import User
from apps.following import queries
from apps.following.actions.errors import NotPossible
from apps.following.models import Folder

MAX_FOLDERS = 500  # of a user
MAX_FOLDER_DEPTH = 8
TOO_DEEP = gettext_lazy("Folders can be nested at most %(number)s deep.")


@transaction.atomic
def create_folder(user: User, name: str, parent: Folder | None = None) -> Folder:
    """Create a folder, or return the one of that name and parent. Raises NotPossible above a limit."""
    folder = queries.folders_of(user).filter(parent=parent, name=name).first()
    if folder is not None:
        return folder
    if queries.folders_of(user).count() >= MAX_FOLDERS:
        raise NotPossible(_("You can have at most %(number)s folders.") % {"number": MAX_FOLDERS})
    if parent is not None and len(queries.folder_paths(queries.folders_of(user))[parent.pk]) >= MAX_FOLDER_DEPTH:
        raise NotPossible(TOO_DEEP % {"number": MAX_FOLDER_DEPTH})
    return Folder.objects.create(user=user, parent=parent, name=name)


@transaction.atomic
def folder_at(user: User, path: Sequence[str]) -> Folder:
    """The folder at a path of names, created with its parents if missing. Raises NotPossible above a limit."""
    *around, name = path
    return create_folder(user, name, folder_at(user, around) if around else None)


@transaction.atomic
def edit_folder(folder: Folder, *, name: str, parent: Folder | None) -> None:
    """Rename a folder, and move it with its contents.

    Raises NotPossible if a sibling has the name, or the folder would be inside itself or too deep.
    """
    # Locked, because two concurrent moves could put two folders inside each other.
    folders = list(queries.folders_of(folder.user).select_for_update())
    paths = queries.folder_paths(folders)
    moved = queries.with_descendants(folders, folder.pk)
    if parent is not None and parent.pk in moved:
        raise NotPossible(_("A folder cannot be moved into itself."))
    place = parent.pk if parent else None
    if any(other.name == name and other.parent_id == place and other.pk != folder.pk for other in folders):
        raise NotPossible(_("A folder named “%(name)s” already exists.") % {"name": name})
    height = max(len(paths[folder_id]) for folder_id in moved) - len(paths[folder.pk]) + 1
    if (len(paths[parent.pk]) if parent else 0) + height > MAX_FOLDER_DEPTH:
        raise NotPossible(TOO_DEEP % {"number": MAX_FOLDER_DEPTH})
    Folder.objects.filter(pk=folder.pk).update(name=name, parent=parent)


def delete_folder(folder: Folder) -> None:
    """Delete a folder and its subfolders; their sources stay followed."""
    folder.delete()
