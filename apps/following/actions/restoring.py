"""Imports follows, marks, tags and notes from another portal. Later changes made here stay."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Model
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.following import queries
from apps.following.actions.errors import NotPossible
from apps.following.actions.follows import create_folder, folder_at
from apps.following.actions.marks import MAX_NOTES, MAX_REMEMBERED, MAX_TAGS, checked_tag
from apps.following.models import Folder, Follow, Mark, Note, Playback, Reading, Tag, Tagging


@transaction.atomic
def restore_folder(user: User, path: Sequence[str], **options: Any) -> Folder:
    """The folder at a path of names; options are set if it is new. Raises NotPossible above a limit."""
    parent = folder_at(user, path[:-1]) if len(path) > 1 else None
    is_new = not queries.folders_of(user).filter(parent=parent, name=path[-1]).exists()
    folder = create_folder(user, path[-1], parent)
    if is_new and options:
        Folder.objects.filter(pk=folder.pk).update(**options)
    return folder


def restore_follow(user: User, source_id: int, **values: Any) -> None:
    Follow.objects.filter(user=user, source_id=source_id).update(**values)


@transaction.atomic
def restore_marks(user: User, marks: Mapping[int, Mapping[str, Any]]) -> int:
    """Store marks by posting id, unless there is a later one; returns the number of stored marks."""
    present = {
        mark.posting_id: mark
        for mark in Mark.objects.filter(user=user, posting_id__in=marks).order_by("posting_id").select_for_update()
    }
    fresh, older = [], []
    for posting_id in sorted(marks):
        values, mark = marks[posting_id], present.get(posting_id)
        if mark is None:
            fresh.append(Mark(user=user, posting_id=posting_id, **values))
        elif mark.changed_at < values["changed_at"]:
            for name, value in values.items():
                setattr(mark, name, value)
            older.append(mark)
    # Concurrent new marks are later, too, and stay.
    Mark.objects.bulk_create(fresh, ignore_conflicts=True, batch_size=1_000)
    if older:
        names = sorted({name for values in marks.values() for name in values})
        Mark.objects.bulk_update(older, names, batch_size=1_000)
    return len(fresh) + len(older)


Own = TypeVar("Own", Note, Reading, Playback)
_MAX_COUNT: dict[type[Model], int] = {Note: MAX_NOTES, Reading: MAX_REMEMBERED, Playback: MAX_REMEMBERED}  # of a user


@transaction.atomic
def restore_rows(model: type[Own], user: User, rows: Mapping[int, Mapping[str, Any]]) -> int:
    """Store notes, readings or playbacks by posting id, unless present; returns the number of new rows."""
    User.objects.select_for_update().get(pk=user.pk)  # two concurrent imports could exceed the limit
    there = model.objects.filter(user=user)
    known = set(there.filter(posting__in=rows).values_list("posting_id", flat=True))
    room = max(_MAX_COUNT[model] - there.count(), 0)
    fresh = [model(user=user, posting_id=id, **rows[id]) for id in sorted(rows.keys() - known)][:room]
    model.objects.bulk_create(fresh, ignore_conflicts=True, batch_size=1_000)
    return len(fresh)


@transaction.atomic
def restore_tags(user: User, tagged: Sequence[tuple[str, int | None, datetime]]) -> int:
    """Tag postings with name, posting id (None: only create the tag) and time; returns the number of new taggings.

    Raises NotPossible for an invalid name or too many tags.
    """
    rows = [(checked_tag(name), posting_id, at) for name, posting_id, at in tagged]
    names = sorted({name for name, _, _ in rows})
    known = set(queries.tags_of(user).values_list("name", flat=True))
    if len(known.union(names)) > MAX_TAGS:
        raise NotPossible(_("You can have at most %(number)s tags.") % {"number": MAX_TAGS})
    Tag.objects.bulk_create([Tag(user=user, name=name) for name in names], ignore_conflicts=True)
    ids = dict(queries.tags_of(user).filter(name__in=names).values_list("name", "pk"))
    wanted = {(ids[name], posting_id): at for name, posting_id, at in rows if posting_id is not None}
    there = Tagging.objects.filter(tag__user=user, tag_id__in=ids.values()).filter(
        posting_id__in={posting_id for _, posting_id in wanted}
    )
    new = sorted(wanted.keys() - set(there.values_list("tag_id", "posting_id")))
    Tagging.objects.bulk_create(
        [
            Tagging(tag_id=tag_id, posting_id=posting_id, tagged_at=wanted[tag_id, posting_id])
            for tag_id, posting_id in new
        ],
        ignore_conflicts=True,
        batch_size=1_000,
    )
    return len(new)
