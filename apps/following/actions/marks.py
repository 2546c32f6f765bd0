"""Marks, tags and notes of single postings, the history, and postings shared by a secret address."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from secrets import token_urlsafe
from typing import Any, Literal, cast, get_args
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.database.statements import execute, fetch
from apps.following import queries
from apps.following.actions.errors import NotPossible
from apps.following.algorithms.merging import Merged, Register, Write, merged
from apps.following.formats.offline import Field, QueuedChange
from apps.following.models import Mark, Note, OfflineChange, Playback, Reading, Share, Tag, Tagging
from apps.following.queries.copies import MARKED_COPIES
from apps.postings.models import Posting

# One at a time per user, as in `marking`, whose transactions have several statements: the two could deadlock.
_MARK = f"""
WITH person AS MATERIALIZED (SELECT FROM accounts_user WHERE id = %(user)s FOR NO KEY UPDATE)
INSERT INTO following_mark (user_id, posting_id, read, changed_at, read_changed_at)
SELECT %(user)s, id, %(read)s, %(now)s, %(now)s
FROM person, (SELECT unnest(%(ids)s::bigint[]) AS id UNION ({MARKED_COPIES})) marked ORDER BY id
ON CONFLICT (user_id, posting_id) DO UPDATE SET read = excluded.read, marked_all = NULL,
    hidden = following_mark.hidden AND excluded.read,
    changed_at = excluded.changed_at, read_changed_at = excluded.read_changed_at
RETURNING posting_id
"""

MAX_REMEMBERED = 2_000  # postings per user
MAX_RECORDING_SECONDS = 7 * 86_400.0

# One statement, because it runs whenever a posting is opened. Its DELETE sees the table as before the INSERT, so it
# considers the other postings alone and keeps as many as the new ones leave room for.
_REMEMBER = """
WITH remembered AS (
    INSERT INTO following_reading (user_id, posting_id, read_at)
    SELECT %(user)s, posting_id, %(now)s FROM unnest(%(postings)s::bigint[]) AS posting_id
    ON CONFLICT (user_id, posting_id) DO UPDATE SET read_at = excluded.read_at
)
DELETE FROM following_reading
WHERE user_id = %(user)s AND posting_id <> ALL (%(postings)s::bigint[]) AND read_at < (
    SELECT read_at FROM (
        SELECT %(now)s::timestamptz AS read_at UNION ALL
        SELECT read_at FROM following_reading WHERE user_id = %(user)s AND posting_id <> ALL (%(postings)s::bigint[])
    ) AS latest ORDER BY read_at DESC OFFSET %(room)s LIMIT 1)
RETURNING posting_id
"""

MAX_TAGS = 500  # per user
MAX_TAG_LENGTH = 50  # characters

MAX_NOTES = 10_000  # per user
MAX_NOTE_LENGTH = 10_000  # characters
MAX_SHARES = 1_000  # per user


def mark_read(user: User, posting_ids: Iterable[int], *, read: bool, now: datetime) -> None:
    """Mark postings and their copies in feeds that the user follows; those that come later follow the copies."""
    if ids := sorted(set(posting_ids)):
        fetch(_MARK, {"user": user.pk, "ids": ids, "read": read, "now": now}, generic=True)


def star(user: User, posting_id: int, *, starred: bool, now: datetime) -> list[int]:
    """Star a posting, or unstar it; returns what changed.

    Where lists show one row per article, it has the stars of all copies: taking it off takes off all.
    """
    ids = [posting_id]
    if not starred and queries.folds(user):
        copies = Posting.objects.filter(pk=posting_id, first_copy__isnull=False).values("first_copy")
        ids += queries.stars_of(user).filter(posting__first_copy__in=copies).values_list("posting_id", flat=True)
    mark_for_all([(user.pk, id) for id in ids], now=now, starred_at=now if starred else None)
    return ids


_CHANGED_AT = {"read": "read_changed_at", "starred_at": "star_changed_at"}


@transaction.atomic
def mark_for_all(pairs: Collection[tuple[int, int]], *, now: datetime, **values: Any) -> None:
    """Mark postings for many users at once; pairs contain the ids of user and posting."""
    values |= {changed_at: now for field, changed_at in _CHANGED_AT.items() if field in values}
    if "read" in values:
        values["marked_all"] = None  # the undo of a list no longer changes these postings
        people = User.objects.filter(pk__in={user_id for user_id, _ in pairs}).order_by("pk")
        list(people.select_for_update(no_key=True).values_list("pk"))  # as in `_MARK`
    # In one order, so that two concurrent statements wait instead of deadlocking.
    Mark.objects.bulk_create(
        [
            Mark(user_id=user_id, posting_id=posting_id, changed_at=now, **values)
            for user_id, posting_id in sorted(set(pairs))
        ],
        update_conflicts=True,
        unique_fields=["user", "posting"],
        update_fields=[*values, "changed_at"],
    )


def unhide(user: User, posting_ids: Collection[int]) -> None:
    """Show postings in lists again that a rule has hidden; they stay read."""
    Mark.objects.filter(user=user, posting_id__in=posting_ids, hidden=True).update(hidden=False)


# --- history and playback positions -----------------------------------------------------------------------------------
def remember_read(user: User, posting_ids: Iterable[int], *, now: datetime) -> None:
    """Add postings to the top of the user's history, and delete the oldest entries above the limit."""
    ids = sorted(set(posting_ids))
    if ids:
        room = max(MAX_REMEMBERED - len(ids), 0)
        fetch(_REMEMBER, {"user": user.pk, "postings": ids, "now": now, "room": room}, generic=True)


def clear_history(user: User) -> int:
    """Delete the history; returns the number of entries. The postings stay read."""
    return Reading.objects.filter(user=user).delete()[0]


def save_position(user: User, posting_id: int, address: str, seconds: float, *, now: datetime) -> None:
    """Store the position; the last device wins."""
    Playback.objects.update_or_create(
        user=user,
        posting_id=posting_id,
        defaults={"address": address, "seconds": min(max(seconds, 0.0), MAX_RECORDING_SECONDS), "changed_at": now},
    )


def forget_position(user: User, posting_id: int) -> None:
    Playback.objects.filter(user=user, posting_id=posting_id).delete()


# --- tags -------------------------------------------------------------------------------------------------------------
@transaction.atomic
def tag(user: User, posting_ids: Iterable[int], name: str, now: datetime) -> None:
    """Add a tag to postings. Raises NotPossible for an invalid name or too many tags."""
    name = checked_tag(name)
    User.objects.select_for_update().get(pk=user.pk)  # two concurrent tags could exceed the limit
    tags = Tag.objects.filter(user=user)
    if not tags.filter(name__iexact=name).exists() and tags.count() >= MAX_TAGS:
        raise NotPossible(_("You can have at most %(number)s tags.") % {"number": MAX_TAGS})
    tag_for_all([(user.pk, name, posting_id, now) for posting_id in posting_ids])


def untag(user: User, posting_ids: Iterable[int], name: str) -> None:
    Tagging.objects.filter(tag__user=user, tag__name__iexact=_tidy(name), posting_id__in=list(posting_ids)).delete()


# In one order, so that two concurrent statements wait instead of deadlocking.
_ADD_TAGS = """
INSERT INTO following_tag (user_id, name)
SELECT DISTINCT ON (user_id, lower(name)) user_id, name
FROM unnest(%(users)s::bigint[], %(names)s::text[]) wanted (user_id, name) ORDER BY user_id, lower(name), name
ON CONFLICT DO NOTHING
"""
_TAG = """
INSERT INTO following_tagging (tag_id, posting_id, tagged_at)
SELECT tag.id, posting_id, at
FROM unnest(%(users)s::bigint[], %(names)s::text[], %(postings)s::bigint[], %(at)s::timestamptz[])
    wanted (user_id, name, posting_id, at)
JOIN following_tag tag ON tag.user_id = wanted.user_id AND lower(tag.name) = lower(wanted.name)
WHERE posting_id IS NOT NULL ORDER BY tag.id, posting_id, at
ON CONFLICT DO NOTHING
"""


@transaction.atomic
def tag_for_all(tagged: Collection[tuple[int, str, int | None, datetime]]) -> int:
    """Tag postings for many users at once; returns the number of new taggings.

    Tuples contain user id, checked name, posting id (None: only create the tag) and time. Names that differ only in
    case are those of one tag.
    """
    users, names, postings, at = (list(column) for column in zip(*tagged, strict=True)) if tagged else ([],) * 4
    execute(_ADD_TAGS, {"users": users, "names": names})
    return execute(_TAG, {"users": users, "names": names, "postings": postings, "at": at})


def checked_tag(name: str) -> str:
    """A tag's name as it is stored. Raises NotPossible if it is empty or too long."""
    name = _tidy(name)
    if not name:
        raise NotPossible(_("A tag needs a name."))
    if len(name) > MAX_TAG_LENGTH:
        raise NotPossible(_("A tag's name can have at most %(number)s characters.") % {"number": MAX_TAG_LENGTH})
    return name


def _tidy(name: str) -> str:
    return " ".join(name.replace("\0", "").split())


@transaction.atomic
def rename_tag(user: User, tag_id: int, name: str) -> bool:
    """Rename a tag of the user; False if it does not exist. Raises NotPossible if the name is invalid or taken."""
    name = checked_tag(name)
    User.objects.select_for_update().get(pk=user.pk)  # a new tag could take the name in between
    if Tag.objects.filter(user=user, name__iexact=name).exclude(pk=tag_id).exists():
        raise NotPossible(_("A tag named “%(name)s” already exists; you can merge the two.") % {"name": name})
    return Tag.objects.filter(user=user, pk=tag_id).update(name=name) > 0


@transaction.atomic
def merge_tags(user: User, tag_id: int, into_id: int) -> bool:
    """Move the postings of one tag to another and delete it; False if these are not two tags of the user."""
    theirs = Tag.objects.select_for_update().filter(user=user, pk__in=[tag_id, into_id]).order_by("pk")
    if len(theirs) < 2:
        return False
    moved = Tagging.objects.filter(tag_id=tag_id).order_by("posting_id")
    Tagging.objects.bulk_create(
        [Tagging(tag_id=into_id, posting_id=old.posting_id, tagged_at=old.tagged_at) for old in moved],
        ignore_conflicts=True,
        batch_size=1_000,
    )
    Tag.objects.filter(pk=tag_id).delete()
    return True


def delete_tag(user: User, tag_id: int) -> bool:
    """Delete a tag with its taggings; False if it does not exist."""
    return Tag.objects.filter(user=user, pk=tag_id).delete()[0] > 0


# --- notes and shares -------------------------------------------------------------------------------------------------
@transaction.atomic
def write_note(user: User, posting_id: int, text: str, *, now: datetime) -> bool:
    """Store or replace a user's note; an empty one is deleted, and False returned. Raises NotPossible above a limit."""
    text = checked_note(text)
    if not text:
        delete_note(user, posting_id)
        return False
    User.objects.select_for_update().get(pk=user.pk)  # two concurrent notes could exceed the limit
    notes = Note.objects.filter(user=user)
    if not notes.filter(posting_id=posting_id).exists() and notes.count() >= MAX_NOTES:
        raise NotPossible(_("You can have at most %(most)s notes.") % {"most": f"{MAX_NOTES:,}"})
    Note.objects.update_or_create(user=user, posting_id=posting_id, defaults={"text": text, "changed_at": now})
    return True


def checked_note(text: str) -> str:
    """A note as it is stored; raises NotPossible if it is too long."""
    text = text.replace("\0", "").replace("\r\n", "\n").strip()
    if len(text) > MAX_NOTE_LENGTH:
        raise NotPossible(
            _("A note can have at most %(most)s characters; this one has %(count)s.")
            % {"most": f"{MAX_NOTE_LENGTH:,}", "count": f"{len(text):,}"}
        )
    return text


def delete_note(user: User, posting_id: int) -> bool:
    return Note.objects.filter(user=user, posting_id=posting_id).delete()[0] > 0


@transaction.atomic
def share(user: User, posting_id: int, *, now: datetime) -> Share:
    """Create the secret address of a posting, or return the existing one. Raises NotPossible for too many shares."""
    User.objects.select_for_update().get(pk=user.pk)  # two concurrent shares could exceed the limit
    shares = Share.objects.filter(user=user)
    present = shares.filter(posting_id=posting_id).first()
    if present is not None:
        return present
    if shares.count() >= MAX_SHARES:
        raise NotPossible(_("You can share at most %(most)s articles.") % {"most": f"{MAX_SHARES:,}"})
    return Share.objects.create(user=user, posting_id=posting_id, secret=token_urlsafe(24), shared_at=now)


def unshare(user: User, posting_id: int) -> bool:
    """Delete the secret address; sharing again creates another one."""
    return Share.objects.filter(user=user, posting_id=posting_id).delete()[0] > 0


# --- marks made offline -----------------------------------------------------------------------------------------------
Outcome = Literal["applied", "superseded", "unknown"]

REMEMBERED_FOR = timedelta(days=60)  # longer than a device waits to retry
_COLUMNS = ["read", "marked_all", "starred_at", "changed_at", "read_changed_at", "star_changed_at"]
_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


@transaction.atomic
def apply_changes(user: User, changes: Sequence[QueuedChange], *, now: datetime) -> dict[UUID, Outcome]:
    """Apply a user's new changes where there is no later one; returns the outcomes of all by id. Nine queries.

    `made_at` is a time of our clock. The outcome is "superseded" if there is a later change, "unknown" if the user
    cannot read the posting, and that of the first time for a repeated change.
    """
    # A concurrent repetition waits here, and then finds the changes known.
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    OfflineChange.objects.filter(user=user, received_at__lt=now - REMEMBERED_FOR).delete()
    known = _outcomes(user, [change.id for change in changes])
    fresh = list({change.id: change for change in reversed(changes) if change.id not in known}.values())[::-1]
    readable = set(_readable(user, {change.posting_id for change in fresh}))
    possible = [change for change in fresh if change.posting_id in readable]
    done = _merge(user, readable, possible)
    outcomes: dict[UUID, Outcome] = {change.id: "unknown" for change in fresh}
    for change, is_latest in zip(possible, done.is_latest, strict=True):
        outcomes[change.id] = "applied" if is_latest else "superseded"
    OfflineChange.objects.bulk_create(
        [OfflineChange(user=user, change_id=id, outcome=outcome, received_at=now) for id, outcome in outcomes.items()]
    )
    return known | outcomes


def _outcomes(user: User, change_ids: Collection[UUID]) -> dict[UUID, Outcome]:
    rows = OfflineChange.objects.filter(user=user, change_id__in=change_ids).values_list("change_id", "outcome")
    return {change_id: cast(Outcome, outcome) for change_id, outcome in rows}


def _readable(user: User, posting_ids: Collection[int]) -> Sequence[int]:
    return list(queries.readable_by(user).filter(pk__in=posting_ids).values_list("pk", flat=True))


def _merge(user: User, posting_ids: Collection[int], changes: Sequence[QueuedChange]) -> Merged:
    # A missing mark cannot be locked, and another transaction could create it.
    Mark.objects.bulk_create(
        [Mark(user=user, posting_id=id, changed_at=_EPOCH) for id in sorted(posting_ids)], ignore_conflicts=True
    )
    locked = Mark.objects.filter(user=user, posting__in=posting_ids).order_by("posting_id").select_for_update()
    marks = {mark.posting_id: mark for mark in locked}
    known: dict[Register, datetime] = {
        (id, field): at for id, mark in marks.items() for field, at in _changed_at(mark).items() if at
    }
    for id, at in queries.marked_all_at(user, posting_ids).items():
        known[id, "read"] = max(at, known.get((id, "read"), at))
    done = merged(known, [Write((change.posting_id, change.field), change.value, change.made_at) for change in changes])
    touched = {id for id, _ in done.values}
    for id in touched:
        _write(marks[id], {field: done.values.get((id, field)) for field in get_args(Field)})
    Mark.objects.bulk_update([marks[id] for id in sorted(touched)], _COLUMNS)
    return done


def _changed_at(mark: Mark) -> dict[Field, datetime | None]:
    """When each field last changed; None if it never did."""
    latest = max(mark.read_changed_at or _EPOCH, mark.star_changed_at or _EPOCH)
    # A later `changed_at` without a field means marked read with a list: stars always have their field.
    is_read_since = mark.read is not None and mark.changed_at > latest
    return {
        "read": mark.changed_at if is_read_since else mark.read_changed_at,
        "starred": mark.star_changed_at or mark.starred_at,
    }


def _write(mark: Mark, changes: dict[Field, Write | None]) -> None:
    times = _changed_at(mark)
    read, star = changes["read"], changes["starred"]
    if read:
        mark.read, mark.marked_all = read.value, None
    if star:
        mark.starred_at = (mark.starred_at or star.made_at) if star.value else None
    mark.read_changed_at = read.made_at if read else times["read"]
    mark.star_changed_at = star.made_at if star else times["starred"]
    mark.changed_at = max(filter(None, (mark.read_changed_at, mark.star_changed_at)))
