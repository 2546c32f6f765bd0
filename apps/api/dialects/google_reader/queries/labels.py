"""Labels: folders of feeds, and tags of items."""

from collections.abc import Mapping
from dataclasses import dataclass

from apps.accounts.models import User
from apps.api.dialects.google_reader.formats.streams import label_of
from apps.following import queries as following
from apps.following.models import Folder


@dataclass(frozen=True, slots=True)
class Labels:
    """A label can be a folder and a tag: Google Reader does not distinguish them."""

    folders: Mapping[str, Folder]  # by label, sorted
    tags: Mapping[str, int]  # ids by name


def labels_of(user: User) -> Labels:
    """Two queries."""
    folders = list(following.folders_of(user))
    paths = following.folder_paths(folders)
    by_label = sorted((label_of(paths[folder.pk]), folder) for folder in folders)
    return Labels(dict(by_label), dict(following.tags_of(user).values_list("name", "pk")))


def labels_by_source(user: User, labels: Labels) -> dict[int, tuple[str, ...]]:
    """The folder labels of each followed source. One query."""
    names = {folder.pk: label for label, folder in labels.folders.items()}
    filed = following.folders_by_source(user)
    return {source_id: tuple(sorted(names[id] for id in ids if id in names)) for source_id, ids in filed.items()}
