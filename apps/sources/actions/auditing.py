"""The audit log: who decided what about a source and why, written in the transaction of the change."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from apps.sources.models import AuditEntry, Source

AUDITED = ("weight", "state", "listed", "always_retrieved", "category", "language", "url")
MAX_LENGTH = 300  # characters of a value


@dataclass(frozen=True, slots=True)
class By:
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
