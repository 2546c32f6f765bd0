"""To look at postings again: at all of them, at those that were somehow missed, or from nothing."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction

from apps.database.advisory_locks import take
from apps.database.statements import fetch_rows
from apps.jobs import actions as jobs
from apps.jobs.models import Job
from apps.search.actions.deletions import kill
from apps.search.actions.dictionary import get_ready
from apps.search.actions.locks import MAINTAINING, WRITING
from apps.search.actions.writing import Sayings, Version, Written, pairs
from apps.search.models import OutboxRow
from apps.search.queries.checking import UNSEEN
from apps.search.queries.spans import KIND, in_span

READ_AT_ONCE = 250  # postings

# In the order of their documents, so that newer ones stay newer; after them, what has none.
_ALL = """
INSERT INTO search_outboxrow (posting_id, anew)
SELECT coalesce(posting.id, document.posting_id), true
FROM postings_posting posting
FULL JOIN (SELECT number, posting_id FROM search_document WHERE NOT dead) document ON document.posting_id = posting.id
ORDER BY document.number NULLS LAST, posting.published_at, posting.id
"""
_MISSED = f"""
INSERT INTO search_outboxrow (posting_id, anew)
SELECT coalesce(posting.id, document.posting_id), false {UNSEEN} ORDER BY posting.published_at, posting.id
"""


def begin(*, from_nothing: bool = False, asked_by: str) -> int:
    """Have all postings read again by a job; its number. One that was begun before and not finished goes on instead.

    Search goes on meanwhile, with what was read before; from nothing, postings are not found until they are read.
    """
    if from_nothing:
        return _begin_from_nothing(asked_by)
    job, _ = jobs.create(KIND, asked_by=asked_by)
    jobs.resume(job.pk)
    return job.pk


@transaction.atomic
def _begin_from_nothing(asked_by: str) -> int:
    _forget()
    for job_id in Job.objects.filter(kind=KIND, state__in=Job.UNFINISHED).values_list("pk", flat=True):
        jobs.cancel(job_id)  # it was cut by numbers of documents that are gone
    return jobs.create(KIND, asked_by=asked_by)[0].pk


@transaction.atomic
def note_missed() -> int:
    """Let `pull` look at all postings whose text search does not know, or that are gone; how many they are.

    Nothing is ever missed but by what keeps the database from noting it, such as a backup that was put back in parts.
    """
    take(WRITING)
    with connection.cursor() as cursor:
        cursor.execute(_MISSED)
        return int(cursor.rowcount)


@transaction.atomic
def empty() -> int:
    """Forget the whole index and let `pull` read every posting; how many are waiting. Until then they are not found."""
    _forget()
    with connection.cursor() as cursor:
        cursor.execute(_ALL)
    return OutboxRow.objects.count()


def _forget() -> None:
    take(MAINTAINING)
    take(WRITING)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        # Not by TRUNCATE, which shows an empty table even to those who began to read before it.
        for table in ("row", "generation", "document", "loss", "term", "outboxrow", "head"):
            cursor.execute(f"DELETE FROM search_{table}")
        # Another head, though the numbers of documents begin again: nobody may take for them what they remember.
        cursor.execute("INSERT INTO search_head (next_document) VALUES (0)")


# --- a span of postings, by any number of workers at a time -----------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Again:
    """A span of postings as it was read: nothing of it is written yet."""

    sayings: Sayings
    documents: dict[int, int | None]  # of each posting that is there, the number of the document that ends
    gone: dict[int, int]  # of each that is not, likewise


def read_again(span: Mapping[str, Any], beat: Callable[[], None]) -> Again:
    """Read all postings of a span, which takes by far the longest, and needs no lock."""
    again = Again(Sayings(), {}, {})
    inside = in_span(span)
    for at in range(0, len(inside), READ_AT_ONCE):
        rows = inside[at : at + READ_AT_ONCE]
        found = pairs([posting_id for _, posting_id in rows])
        beat()
        for number, posting_id in rows:
            posting, known = found[posting_id]
            if posting is None and number is not None:
                again.gone[posting_id] = number
            elif posting is not None and (known and known.number) == number:  # or else it was just read by `pull`
                again.sayings.add(posting)
                again.documents[posting_id] = number
        beat()
    get_ready(again.sayings.words)
    return again


_NOW = """
SELECT wanted.id, posting.text_hash, posting.source_id, posting.published_at, number
FROM unnest(%s::bigint[]) wanted (id) LEFT JOIN postings_posting posting ON posting.id = wanted.id
LEFT JOIN search_document document ON document.posting_id = wanted.id AND NOT dead
"""


@transaction.atomic
def write_again(again: Again) -> dict[str, int]:
    """Put new documents in the place of those that were read; how many. What has changed since is left to `pull`."""
    take(WRITING)
    found: dict[int, tuple[Version | tuple[None, None, None], int | None]] = {
        row.id: ((row.text_hash, row.source_id, row.published_at), row.number)
        for row in fetch_rows(_NOW, [[*again.documents, *again.gone]])
    }

    def is_as_it_was(said: Written) -> bool:
        return found[said.posting_id] == (said.version, again.documents[said.posting_id])

    same = [said for said in again.sayings.all if is_as_it_was(said)]
    gone = [number for id, number in again.gone.items() if found[id] == ((None, None, None), number)]
    replaced = [number for said in same if (number := again.documents[said.posting_id]) is not None]
    kill([*replaced, *gone])
    again.sayings.write(same)
    return {"postings": len(same), "changed meanwhile": len(again.sayings.all) - len(same)}
