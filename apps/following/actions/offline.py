"""Applies marks that devices made while they were offline, in one idempotent transaction."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Literal, cast, get_args
from uuid import UUID

from django.db import transaction

from apps.accounts.models import User
from apps.following import queries
from apps.following.algorithms.merging import Merged, Register, Write, merged
from apps.following.formats.offline import Field, QueuedChange
from apps.following.models import Mark, OfflineChange

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
