"""Follows, marks, tags and notes that come from another portal, or from merged sources and postings."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Model
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.database.statements import execute
from apps.following import queries
from apps.following.actions.errors import NotPossible
from apps.following.actions.follows import create_folder, folder_at
from apps.following.actions.marks import MAX_NOTE_LENGTH, MAX_NOTES, MAX_REMEMBERED, MAX_TAGS, checked_tag, tag_for_all
from apps.following.models import Folder, Follow, Mark, MarkedAll, Note, Playback, Reading, Share, Tagging
from apps.following.queries.states import NEW

# Two merged postings have different ids: marks replace `read_through` wherever the remaining one would give another
# result.
_PAIRED = """
WITH paired AS (
    SELECT mine.user_id, kept.id AS kept_id, coalesce(NOT mark.read, false) AS is_kept_unread,
        mark.read IS NULL AND own.published_at >= mine.unread_from AND own.id <= mine.read_through AS is_read,
        mark.read IS NULL AND own.published_at >= mine.unread_from AND own.id > mine.read_through AS is_unread,
        kept.published_at >= least(mine.unread_from, other.unread_from)
            AND kept.id > least(mine.read_through, other.read_through) AS will_be_unread
    FROM unnest(%(merged)s::bigint[], %(kept)s::bigint[]) pair (merged_id, kept_id)
    JOIN postings_posting kept ON kept.id = kept_id
    JOIN postings_posting own ON own.id IN (merged_id, kept_id)
    JOIN following_follow mine ON mine.source_id = own.source_id
    LEFT JOIN following_follow other
        ON other.user_id = mine.user_id AND other.source_id = ANY(%(sources)s) AND other.id <> mine.id
    LEFT JOIN following_mark mark ON mark.user_id = mine.user_id AND mark.posting_id = own.id
), changed AS (
    SELECT user_id, kept_id, bool_or(is_read) AS is_read FROM paired GROUP BY user_id, kept_id
    HAVING CASE WHEN bool_or(is_read) THEN bool_or(will_be_unread OR is_kept_unread)
        ELSE bool_or(is_unread AND NOT will_be_unread) END
)
"""
_MARK_PAIRS = f"""{_PAIRED}
INSERT INTO following_mark (user_id, posting_id, read, changed_at)
SELECT user_id, kept_id, is_read, %(now)s FROM changed ORDER BY kept_id, user_id
ON CONFLICT (user_id, posting_id) DO UPDATE SET
    read = CASE WHEN excluded.read THEN true ELSE coalesce(following_mark.read, false) END
"""
_UNITE_MARKS = """
INSERT INTO following_mark (user_id, posting_id, read, starred_at, changed_at)
SELECT mark.user_id, pair.kept_id, mark.read, mark.starred_at, mark.changed_at
FROM unnest(%(merged)s::bigint[], %(kept)s::bigint[]) pair(merged_id, kept_id)
JOIN following_mark mark ON mark.posting_id = pair.merged_id ORDER BY pair.kept_id
ON CONFLICT (user_id, posting_id) DO UPDATE SET
    read = CASE WHEN following_mark.read OR excluded.read THEN true
        ELSE coalesce(following_mark.read, excluded.read) END,
    starred_at = least(following_mark.starred_at, excluded.starred_at),
    changed_at = greatest(following_mark.changed_at, excluded.changed_at)
"""
_FORGET_UNDO = "UPDATE following_mark SET marked_all = NULL WHERE posting_id = ANY(%(kept)s) AND marked_all IS NOT NULL"
# A merged follow has the earlier beginning and the lower `read_through`: what was read by either must stay read.
_KEEP_READ = f"""
INSERT INTO following_mark (user_id, posting_id, read, changed_at)
SELECT follow.user_id, posting.id, true, %(now)s
FROM following_follow follow
JOIN following_follow other ON other.user_id = follow.user_id AND other.id <> follow.id
    AND (other.unread_from < follow.unread_from OR other.read_through < follow.read_through)
JOIN postings_posting posting ON posting.source_id = follow.source_id
    AND posting.published_at >= least(follow.unread_from, other.unread_from)
    AND posting.id > least(follow.read_through, other.read_through)
    AND NOT ({NEW})
WHERE follow.source_id = ANY(%(sources)s) AND other.source_id = ANY(%(sources)s)
    AND posting.id <> ALL(%(merged)s::bigint[]) AND posting.id <> ALL(%(kept)s::bigint[]) ORDER BY posting.id
ON CONFLICT (user_id, posting_id) DO UPDATE SET read = coalesce(following_mark.read, true)
"""
_JOIN_FOLLOWS = """
UPDATE following_follow kept SET unread_from = least(kept.unread_from, merged.unread_from),
    read_through = least(kept.read_through, merged.read_through),
    followed_at = least(kept.followed_at, merged.followed_at),
    title = CASE WHEN kept.title = '' THEN merged.title ELSE kept.title END
FROM following_follow merged
WHERE kept.user_id = merged.user_id AND kept.source_id = %(to)s AND merged.source_id = %(from)s
"""
_JOIN_FOLDERS = """
INSERT INTO following_follow_folders (follow_id, folder_id)
SELECT kept.id, filed.folder_id
FROM following_follow merged
JOIN following_follow kept ON kept.user_id = merged.user_id AND kept.source_id = %(to)s
JOIN following_follow_folders filed ON filed.follow_id = merged.id
WHERE merged.source_id = %(from)s ON CONFLICT DO NOTHING
"""


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
    known = {name.lower() for name in queries.tags_of(user).values_list("name", flat=True)}
    if len(known.union(name.lower() for name, _, _ in rows)) > MAX_TAGS:
        raise NotPossible(_("You can have at most %(number)s tags.") % {"number": MAX_TAGS})
    return tag_for_all([(user.pk, *row) for row in rows])


@transaction.atomic
def move_follows(from_id: int, to_id: int, *, same: Sequence[tuple[int, int]], now: datetime) -> int:
    """Replace follows of one source by follows of another one, and merge the marks on `same` postings.

    `same` contains pairs of postings of the first and the second source; the others must not have been moved yet. Read,
    starred and unread states stay, but marking lists read can no longer be undone. Returns the number of new follows.
    """
    names: dict[str, Any] = {
        "from": from_id,
        "to": to_id,
        "sources": [from_id, to_id],
        "merged": [pair[0] for pair in same],
        "kept": [pair[1] for pair in same],
        "now": now,
    }
    follows = Follow.objects.filter(source_id__in=[from_id, to_id])
    list(follows.order_by("pk").select_for_update().values_list("pk"))  # in the order of mark_all_read
    MarkedAll.objects.filter(user__in=follows.values("user")).delete()
    for statement in (_MARK_PAIRS, _UNITE_MARKS, _FORGET_UNDO, _KEEP_READ, _JOIN_FOLLOWS, _JOIN_FOLDERS):
        execute(statement, names)
    already = list(Follow.objects.filter(source_id=to_id).values_list("user_id", flat=True))
    Follow.objects.filter(source_id=from_id, user__in=already).delete()
    return Follow.objects.filter(source_id=from_id).update(source_id=to_id)


# --- merged postings --------------------------------------------------------------------------------------------------
_MOVE_OWN = """
UPDATE {table} own SET posting_id = pair.kept_id
FROM unnest(%s::bigint[], %s::bigint[]) pair(merged_id, kept_id)
WHERE own.posting_id = pair.merged_id AND NOT EXISTS (
    SELECT FROM {table} other WHERE other.{owner} = own.{owner} AND other.posting_id = pair.kept_id)
"""
_MOVE_HIGHLIGHTS = """
UPDATE following_highlight own SET posting_id = pair.kept_id
FROM unnest(%s::bigint[], %s::bigint[]) pair(merged_id, kept_id) WHERE own.posting_id = pair.merged_id
"""
_UNITE_NOTES = """
UPDATE following_note kept SET text = left(kept.text || E'\n\n' || merged.text, %s),
    changed_at = greatest(kept.changed_at, merged.changed_at)
FROM unnest(%s::bigint[], %s::bigint[]) pair(merged_id, kept_id)
JOIN following_note merged ON merged.posting_id = pair.merged_id
WHERE kept.posting_id = pair.kept_id AND kept.user_id = merged.user_id
"""


@transaction.atomic
def move_own(same: Sequence[tuple[int, int]]) -> None:
    """Move tags, notes, highlights, playback, history and shares from merged postings to those that remain.

    Two notes of a user are joined; of everything else the remaining posting's is kept. `same` contains pairs of the
    merged and the remaining posting, each posting in one pair only.
    """
    pairs = [[pair[0] for pair in same], [pair[1] for pair in same]]
    execute(_UNITE_NOTES, [MAX_NOTE_LENGTH, *pairs])
    execute(_MOVE_HIGHLIGHTS, pairs)
    for model, owner in ((Tagging, "tag_id"), *((own, "user_id") for own in (Note, Reading, Playback, Share))):
        execute(_MOVE_OWN.format(table=model._meta.db_table, owner=owner), pairs)
