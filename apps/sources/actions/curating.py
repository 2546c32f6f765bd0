"""One decision on many sources at once."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple
from uuid import UUID, uuid4

from django.db import transaction

from apps.sources.models import AuditEntry, Retention, Source

AUDITED = ("weight", "state", "listed", "always_retrieved", "category", "language", "url", "expiry_days")
MAX_LENGTH = 300  # characters of a value


class By(NamedTuple):
    """Author, place and reason of a decision."""

    place: str  # the page or command, for people
    actor_id: int | None = None  # None: the portal itself
    why: str = ""
    batch: UUID | None = None  # of one decision on many sources


PROGRAM = By("the portal itself")


def decision(
    what: AuditEntry.What, before: str, after: str, source_id: int | None = None, name: str = ""
) -> AuditEntry:
    """One decision about a source, with its name at that time, or, without one, about the portal; not yet logged."""
    before, after, name = (value[:MAX_LENGTH] for value in (before, after, name))
    return AuditEntry(what=what, before=before, after=after, source_id=source_id, name=name)


def note(decisions: Iterable[AuditEntry], by: By) -> None:
    """Log decisions, within the transaction that carries them out. One statement."""
    entries = list(decisions)
    for entry in entries:
        entry.actor_id, entry.batch = by.actor_id, by.batch
        entry.place, entry.why = by.place[:60], by.why[:MAX_LENGTH]
    AuditEntry.objects.bulk_create(entries, batch_size=1_000)


def note_opened(source: Source, posting_id: int, by: By) -> None:
    """Log that staff opened an article of a private source: by its id, since others read the log."""
    note([decision(AuditEntry.What.OPENED, "", written(posting_id), source.pk, str(source))], by)


def written(value: object) -> str:
    """A value as it is logged.

    >>> written(2.0), written(0.25), written(True), written("paused"), written(None)
    ('2', '0.25', 'yes', 'paused', '')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def changes(source_id: int, name: str, before: Mapping[str, object], after: Mapping[str, object]) -> list[AuditEntry]:
    """The changes of audited columns of a source."""
    return [
        decision(AuditEntry.What(column), written(before[column]), written(after[column]), source_id, name)
        for column in AUDITED
        if column in before and column in after and before[column] != after[column]
    ]


MAX_AT_ONCE = 5_000  # sources; more would hold their rows for too long
MAX_DELETED = 200  # with their postings
MIN_WEIGHT, MAX_WEIGHT = 0.0, 1_000.0


class TooMany(ValueError):
    """More sources than may be changed at once; the message states the limit."""


class Curation(NamedTuple):
    """New values of sources; None leaves a column unchanged."""

    category: str | None = None
    language: str | None = None
    listed: bool | None = None
    weight: float | None = None
    expiry_days: int | None = None  # 0: forever; negative: those of the category
    state: Source.State | None = None  # paused: applies to active sources only; active: to all others

    @property
    def is_nothing(self) -> bool:
        return self == Curation()


@transaction.atomic
def curate(source_ids: Collection[int], curation: Curation, *, by: By) -> list[int]:
    """Apply the changes to all these sources; returns those that differ from before.

    Raises TooMany above MAX_AT_ONCE sources, and ValueError for an invalid weight.
    """
    _check(source_ids, curation)
    rows = list(
        Source.objects.filter(pk__in=source_ids, site=None)
        .order_by("pk")  # all writers lock in this order, against deadlocks
        .select_for_update(no_key=True)  # does not block inserts of postings
        .only("title", "url", "category", "language", "listed", "weight", "expiry_days", "state")
    )
    decisions: list[AuditEntry] = []
    changed: dict[tuple[str, object], list[int]] = defaultdict(list)  # ids by column and new value
    for source in rows:
        before, after = _difference(source, curation)
        decisions += changes(source.pk, str(source), before, after)
        for column in after.items():
            changed[column].append(source.pk)
    for (name, value), ids in changed.items():
        Source.objects.filter(pk__in=ids).update(**{name: value})
    note(decisions, by._replace(batch=by.batch or uuid4()))
    return list(dict.fromkeys(each.source_id for each in decisions if each.source_id is not None))


def _check(source_ids: Collection[int], curation: Curation) -> None:
    if len(source_ids) > MAX_AT_ONCE:
        raise TooMany(f"At most {MAX_AT_ONCE:,} feeds can be changed at once, not {len(source_ids):,}.")
    if curation.weight is not None and not MIN_WEIGHT <= curation.weight <= MAX_WEIGHT:  # also catches nan
        raise ValueError(f"A weight must be between {MIN_WEIGHT:g} and {MAX_WEIGHT:,.0f}, not {curation.weight:g}.")


def _difference(source: Source, curation: Curation) -> tuple[dict[str, object], dict[str, object]]:
    """The columns of a source that the curation changes, before and after."""
    given = {name: getattr(curation, name) for name in ("category", "language", "listed", "weight")}
    if curation.state != Source.State.PAUSED or source.state == Source.State.ACTIVE:
        given["state"] = curation.state and curation.state.value
    before = {name: getattr(source, name) for name in given}
    after = {name: value for name, value in given.items() if value is not None and value != before[name]}
    days = curation.expiry_days
    if days is not None and (kept := None if days < 0 else days) != source.expiry_days:
        before["expiry_days"], after["expiry_days"] = source.expiry_days, kept
    return {name: before[name] for name in after}, after


@transaction.atomic
def set_retention(category: str, days: int | None, *, by: By) -> None:
    """Keep articles of a category for some days, 0 forever; None removes the rule."""
    before = dict(Retention.objects.select_for_update().filter(category=category).values_list("category", "days"))
    if days is None:
        Retention.objects.filter(category=category).delete()
    else:
        Retention.objects.update_or_create(category=category, defaults={"days": days})
    if before.get(category) != days:
        name = category or "all other categories"
        note([decision(AuditEntry.What.RETENTION, written(before.get(category)), written(days), name=name)], by)


@transaction.atomic
def delete_sources(source_ids: Collection[int], *, by: By = PROGRAM) -> int:
    """Delete sources with their postings, follows and logs; returns their number. Raises TooMany above MAX_DELETED."""
    if len(source_ids) > MAX_DELETED:
        raise TooMany(f"At most {MAX_DELETED} feeds can be deleted at once, not {len(source_ids):,}.")
    # Not locked: workers lock the schedule first, which is deleted before its source.
    rows = list(Source.objects.filter(pk__in=source_ids).order_by("pk"))
    deleted = [decision(AuditEntry.What.DELETED, written(source.url), "", source.pk, str(source)) for source in rows]
    Source.objects.filter(pk__in=[source.pk for source in rows]).delete()
    note(deleted, by if len(rows) < 2 else by._replace(batch=by.batch or uuid4()))
    return len(rows)
