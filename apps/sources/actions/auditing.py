"""What was decided of sources, by whom and why: written in the transaction that does it, and never changed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from apps.sources.models import AuditEntry, Source

AUDITED = ("weight", "state", "listed", "always_retrieved", "category", "language", "url")
MAX_LENGTH = 300  # characters of a value


@dataclass(frozen=True, slots=True)
class By:
    """Who decides something, where, and why."""

    place: str  # the page or command, for people
    actor_id: int | None = None  # nobody: the portal itself
    why: str = ""
    batch: UUID | None = None  # what was decided at once


PROGRAM = By("the portal itself")


@dataclass(frozen=True, slots=True)
class Noted:
    """One decision: of a source, or of the portal where there is none."""

    what: AuditEntry.What
    before: str
    after: str
    source_id: int | None = None
    name: str = ""  # of what it is of, as it was called


def note(decisions: Iterable[Noted], by: By) -> None:
    """Write decisions down; whoever calls is in the transaction that carries them out. One statement."""
    AuditEntry.objects.bulk_create(
        [
            AuditEntry(
                actor_id=by.actor_id,
                place=by.place[:60],
                why=by.why[:MAX_LENGTH],
                batch=by.batch,
                source_id=each.source_id,
                name=each.name[:MAX_LENGTH],
                what=each.what,
                before=each.before[:MAX_LENGTH],
                after=each.after[:MAX_LENGTH],
            )
            for each in decisions
        ],
        batch_size=1_000,
    )


def note_opened(source: Source, posting_id: int, by: By) -> None:
    """Record that staff opened an article of a private source: by its number, for others read the record."""
    note([Noted(AuditEntry.What.OPENED, "", written(posting_id), source.pk, name_of(source))], by)


def written(value: object) -> str:
    """A value as the record has it.

    >>> written(2.0), written(0.25), written(True), written("paused"), written(None)
    ('2', '0.25', 'yes', 'paused', '')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def changes(source_id: int, name: str, before: Mapping[str, object], after: Mapping[str, object]) -> list[Noted]:
    """What of a source differs, as far as it is recorded."""
    return [
        Noted(AuditEntry.What(column), written(before[column]), written(after[column]), source_id, name)
        for column in AUDITED
        if column in before and column in after and before[column] != after[column]
    ]


def name_of(source: Source) -> str:
    return str(source)
