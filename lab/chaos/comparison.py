"""What differs between the tables of a portal whose parts died and those of the serial run."""

from dataclasses import asdict, dataclass, field
from datetime import datetime

import psycopg

from apps.alerts.models import Message
from apps.database.statements import fetch
from apps.postings.models import Posting
from lab.chaos.derived import tables
from lab.chaos.derived.workers import serially
from lab.chaos.differences import differences
from lab.chaos.index.checking import Check, check

SHOWN = 5  # examples of each kind
# Names of rows, and when it was that they came: everything else of a posting is compared.
_OF_THE_RUN = {"id", "retrieved_at"}
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

# How often each hit was told of.
_TOLD = """
SELECT hit.id, count(message.id) FROM alerts_hit hit
LEFT JOIN alerts_message message ON hit.id = ANY(message.hits) AND message.state = 'sent' GROUP BY 1
"""


@dataclass
class Findings:
    """Rows that were compared, by table, and what is wrong with them."""

    rows: dict[str, int] = field(default_factory=dict)
    missing: dict[str, int] = field(default_factory=dict)
    added: dict[str, int] = field(default_factory=dict)
    different: dict[str, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    @property
    def differing(self) -> int:
        return sum(sum(kind.values()) for kind in (self.missing, self.added, self.different))


def compare_with_serial(address: str) -> Findings:
    """Compare postings and hits with those in the database of the serial run."""
    found = Findings()
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
    return found


def compare_derived(found: Findings, now: datetime) -> None:
    """Work out anew what follows from postings, serially, and compare.

    Threads of this process have to be over, as it is forked.
    """
    for _ in serially(now):  # nothing is left, but to add up what was written in several parts
        pass
    rows = tables.remember()
    tables.empty()
    tables.note(tables.posting_ids())
    for _ in serially(now):
        pass
    differing = tables.differing()
    tables.forget()
    for name, count in rows.items():
        number, examples = differing.get(name, (0, []))
        found.rows[name], found.different[name] = count, number
        found.faults += [f"{name}: {example}" for example in examples]


def check_index(found: Findings) -> None:
    """Every posting is found by search once, as it is."""
    looked_at = Check()
    for _ in check(looked_at):
        pass
    found.rows["documents of search"], found.different["documents of search"] = (
        looked_at.documents,
        len(looked_at.faults),
    )
    found.faults += looked_at.faults


def check_told(found: Findings) -> None:
    """Everybody was told of every hit once."""
    told = dict(fetch(_TOLD))
    found.rows["hits told of"] = len(told)
    found.missing["hits told of"] = sum(not count for count in told.values())
    found.added["hits told of"] = sum(count > 1 for count in told.values())


def left_to_do() -> str:
    """How many changes nobody has worked on, and how many messages nobody has sent; empty if there are none."""
    left = {
        "changes for search": fetch("SELECT count(*) FROM search_outboxrow")[0][0],
        "changes for alerts": fetch("SELECT count(*) FROM alerts_outboxrow")[0][0],
        "changes for trends, stories and summaries": tables.waiting(),
        "messages": Message.objects.filter(state__in=["waiting", "failed"]).count(),
    }
    return ", ".join(f"{count} {name}" for name, count in left.items() if count)
