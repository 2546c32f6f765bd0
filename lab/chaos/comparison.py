"""Differences between the tables of a portal under faults and those of the serial run."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

import psycopg

from apps.alerts.models import Message
from apps.database.statements import fetch, fetch_rows
from apps.postings.algorithms.duplicates import page_key, restored
from apps.postings.models import Posting
from lab.chaos import copies
from lab.chaos.derived import tables
from lab.chaos.derived.workers import serially
from lab.chaos.differences import differences
from lab.chaos.index.checking import Check, check

SHOWN = 5  # examples of each kind
# Ids and arrival times differ between runs, and so does what was known of repeated text when a posting arrived, on
# which its lead and its key depend. Everything else of a posting is compared; see `copies` for the keys.
_OF_THE_RUN = {"id", "retrieved_at", "lead", "fold_key", "first_copy"}
_COLUMNS = ", ".join(
    f"posting.{field.column}" for field in Posting._meta.concrete_fields if field.column not in _OF_THE_RUN
)
_NAME = "posting.source_id || ' ' || encode(posting.identity, 'hex')"
_POSTINGS = f"SELECT {_NAME}, md5(ROW({_COLUMNS})::text) FROM postings_posting posting"
_HITS = (
    f"SELECT saved_id || ' ' || {_NAME}, '' FROM alerts_hit JOIN postings_posting posting ON posting.id = posting_id"
)
_EDITIONS = (
    f"SELECT {_NAME} || ' ' || edition.id, edition.title FROM postings_edition edition"
    " JOIN postings_posting posting ON posting.id = posting_id"
)
COMPARED = {"postings": _POSTINGS, "hits of searches": _HITS, "editions": _EDITIONS}

# How often each hit was delivered.
_DELIVERIES = """
SELECT hit.id, count(message.id) FROM alerts_hit hit
LEFT JOIN alerts_message message ON hit.id = ANY(message.hits) AND message.state = 'sent' GROUP BY 1
"""


@dataclass
class Findings:
    """Compared rows by table, and their differences."""

    rows: dict[str, int] = field(default_factory=dict)
    missing: dict[str, int] = field(default_factory=dict)
    added: dict[str, int] = field(default_factory=dict)
    different: dict[str, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    folded_otherwise: int = 0  # postings folded with other ones than in the serial run, which is allowed

    @property
    def differing(self) -> int:
        return sum(sum(kind.values()) for kind in (self.missing, self.added, self.different))


def compare_with_serial(found: Findings, address: str) -> None:
    """Compare postings and hits with those in the database of the serial run."""
    with psycopg.connect(address, options="-c timezone=UTC") as serial:
        for name, statement in COMPARED.items():
            rows = fetch(statement)
            differing = differences(serial.execute(statement).fetchall(), rows)
            found.rows[name] = len(rows)
            found.missing[name] = len(differing.missing)
            found.added[name] = len(differing.added)
            found.different[name] = len(differing.different)
            for kind, names in asdict(differing).items():
                found.faults += [f"{name}: {row} is {kind}" for row in names[:SHOWN]]


def check_copies(found: Findings, address: str) -> None:
    """Check that postings are folded with copies alone, and with one where there are any, as in the serial run."""
    with psycopg.connect(address, options="-c timezone=UTC") as serial:
        expected = _folded(serial.execute(copies.ROWS).fetchall())
    present = _folded(fetch_rows(copies.ROWS))
    ours, theirs = copies.judge(present), copies.judge(expected)
    too_many = max(0, len(ours.alone) - len(theirs.alone))
    found.rows["copies"] = ours.copies
    found.missing["copies"] = len(ours.unknown) + too_many
    found.different["copies"] = len(ours.foreign)
    found.faults += [f"copies: those of {name} are not found" for name in ours.unknown[:SHOWN]]
    found.faults += [f"copies: {name} is folded with what is no copy" for name in ours.foreign[:SHOWN]]
    found.faults += [f"copies: {name} is folded with none" for name in ours.alone[: min(SHOWN, too_many)]]
    groups, serial_groups = copies.groups(present), copies.groups(expected)
    found.folded_otherwise = sum(groups[name] != serial_groups.get(name) for name in groups)


def _folded(rows: Iterable[tuple[Any, ...]]) -> list[copies.Folded]:
    return [
        copies.Folded(name, key, at, None if values is None else replace(restored(values, words), page=page_key(url)))
        for name, key, at, url, values, words in rows
    ]


def compare_derived(found: Findings, now: datetime) -> None:
    """Compute derived data from scratch, serially, and compare.

    This process forks, so none of its threads may be running.
    """
    for _ in serially(now):  # nothing waits; this merges partial rows
        pass
    rows = tables.save_digests()
    tables.empty()
    tables.enqueue(tables.posting_ids())
    for _ in serially(now):
        pass
    differing = tables.differing()
    tables.drop_digests()
    for name, count in rows.items():
        number, examples = differing.get(name, (0, []))
        found.rows[name], found.different[name] = count, number
        found.faults += [f"{name}: {example}" for example in examples]


def check_index(found: Findings) -> None:
    """Check that search finds every posting exactly once, in its current version."""
    checked = Check()
    for _ in check(checked):
        pass
    found.rows["documents of search"], found.different["documents of search"] = (
        checked.documents,
        len(checked.faults),
    )
    found.faults += checked.faults


def check_notifications(found: Findings) -> None:
    """Check that every hit was delivered exactly once."""
    deliveries = dict(fetch(_DELIVERIES))
    found.rows["hits deliveries of"] = len(deliveries)
    found.missing["hits deliveries of"] = sum(not count for count in deliveries.values())
    found.added["hits deliveries of"] = sum(count > 1 for count in deliveries.values())


def remaining_work() -> str:
    """Describe unprocessed changes and unsent messages; empty if there are none."""
    left = {
        "changes for search": fetch("SELECT count(*) FROM search_outboxrow")[0][0],
        "changes for alerts": fetch("SELECT count(*) FROM alerts_outboxrow")[0][0],
        "changes for trends, stories and summaries": tables.waiting(),
        "messages": Message.objects.filter(state__in=["waiting", "failed"]).count(),
    }
    return ", ".join(f"{count} {name}" for name, count in left.items() if count)
