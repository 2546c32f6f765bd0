"""Index postings again: all of them, those missed by the outbox, or into an empty index."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from apps.database.advisory_locks import take
from apps.database.outbox import consume_rows
from apps.database.statements import execute, fetch_rows
from apps.jobs import actions as jobs
from apps.jobs.models import Job
from apps.search.actions.dictionary import warm
from apps.search.actions.locks import MAINTAINING, WRITING
from apps.search.actions.segment_building import kill
from apps.search.actions.writing import AnalysedPosting, DocumentBatch, Version, pairs
from apps.search.queries.spans import KIND, in_span

READ_BATCH = 250  # postings

# Postings that differ from their documents, and documents of deleted postings.
UNSEEN = """
FROM postings_posting posting
FULL JOIN (SELECT * FROM search_document WHERE NOT dead) document ON document.posting_id = posting.id
WHERE (posting.text_hash, posting.source_id, posting.published_at)
    IS DISTINCT FROM (document.text_hash, document.source_id, document.published_at)
"""
_MISSED = f"""
INSERT INTO search_outboxrow (posting_id, rebuild)
SELECT coalesce(posting.id, document.posting_id), false {UNSEEN} ORDER BY posting.published_at, posting.id
"""


def begin(*, from_nothing: bool = False, requested_by: str) -> int:
    """Start a job that indexes all postings again, or resume an unfinished one; returns its id.

    Search uses the present index meanwhile; `from_nothing` empties it first, so postings are not found until read.
    """
    if from_nothing:
        return _begin_from_nothing(requested_by)
    job, _ = jobs.create(KIND, requested_by=requested_by)
    jobs.resume(job.pk)
    return job.pk


@transaction.atomic
def _begin_from_nothing(requested_by: str) -> int:
    clear()
    for job_id in Job.objects.filter(kind=KIND, state__in=Job.UNFINISHED).values_list("pk", flat=True):
        jobs.cancel(job_id)  # its splits use numbers of deleted documents
    return jobs.create(KIND, requested_by=requested_by)[0].pk


@transaction.atomic
def note_missed() -> int:
    """Add outbox rows for all postings that differ from the index; returns how many.

    Triggers miss none, except where they were bypassed, as by a partial restore of a backup.
    """
    take(WRITING)
    return execute(_MISSED)


def clear() -> None:
    """Empty the index and its outbox. Call it in a transaction."""
    take(MAINTAINING)
    take(WRITING)
    execute("SET LOCAL statement_timeout = 0")
    # TRUNCATE would show an empty table to older snapshots, too.
    for table in ("row", "generation", "document", "loss", "term", "outboxrow", "head"):
        execute(f"DELETE FROM search_{table}")
    # A new head invalidates caches, as numbers of documents start again.
    execute("INSERT INTO search_head (next_document) VALUES (0)")


# --- spans, by any number of workers at a time ------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class SpanReading:
    """The analysed postings of a span, to be written."""

    batch: DocumentBatch
    documents: dict[int, int | None]  # of each posting, the document to delete
    gone: dict[int, int]  # of each deleted posting, likewise


def analyse_span(span: Mapping[str, Any], beat: Callable[[], None]) -> SpanReading:
    """Analyse all postings of a span: most of the work, without a lock."""
    reading = SpanReading(DocumentBatch(), {}, {})
    inside = in_span(span)
    for at in range(0, len(inside), READ_BATCH):
        rows = inside[at : at + READ_BATCH]
        found = pairs([posting_id for _, posting_id in rows])
        beat()
        for number, posting_id in rows:
            posting, known = found[posting_id]
            if posting is None and number is not None:
                reading.gone[posting_id] = number
            elif posting is not None and (known and known.number) == number:  # otherwise it was just consumed
                reading.batch.add(posting)
                reading.documents[posting_id] = number
        beat()
    warm(reading.batch.words)
    return reading


_NOW = """
SELECT wanted.id, posting.text_hash, posting.source_id, posting.published_at, number
FROM unnest(%s::bigint[]) wanted (id) LEFT JOIN postings_posting posting ON posting.id = wanted.id
LEFT JOIN search_document document ON document.posting_id = wanted.id AND NOT dead
"""


@transaction.atomic
def replace_span(reading: SpanReading) -> dict[str, int]:
    """Replace the documents of a span; returns how many. Postings that changed meanwhile are left to `consume`."""
    take(WRITING)
    found: dict[int, tuple[Version | tuple[None, None, None], int | None]] = {
        row.id: ((row.text_hash, row.source_id, row.published_at), row.number)
        for row in fetch_rows(_NOW, [[*reading.documents, *reading.gone]])
    }

    def is_as_it_was(analysed: AnalysedPosting) -> bool:
        return found[analysed.posting_id] == (analysed.version, reading.documents[analysed.posting_id])

    same = [analysed for analysed in reading.batch.all if is_as_it_was(analysed)]
    gone = [number for id, number in reading.gone.items() if found[id] == ((None, None, None), number)]
    replaced = [number for analysed in same if (number := reading.documents[analysed.posting_id]) is not None]
    kill([*replaced, *gone])
    reading.batch.write(same)
    return {"postings": len(same), "changed meanwhile": len(reading.batch.all) - len(same)}


CONSUMED_AT_ONCE = 2_048  # outbox rows in one transaction


def consume(limit: int = CONSUMED_AT_ONCE, *, wait: bool = True) -> int | None:
    """Consume up to `limit` outbox rows; returns how many, None if `wait` is off and another worker holds the lock.

    Documents are searchable once this is committed. They are numbered in the order of commits, as writers hold a lock:
    a reader that sees a document sees all of smaller numbers.
    """
    return consume_rows("search_outboxrow", _index, lock=WRITING, limit=limit, wait=wait, order="rebuild, id")


def _index(changes: list[Any]) -> None:
    posting_ids = list(dict.fromkeys(change.posting_id for change in changes))
    to_rebuild = {change.posting_id for change in changes if change.rebuild}
    found = pairs(posting_ids)
    ended, batch = [], DocumentBatch()
    for posting_id in posting_ids:
        posting, document = found[posting_id]
        if posting and document and document.version == posting.version and posting_id not in to_rebuild:
            continue
        if document:
            ended.append(document.number)
        if posting:
            batch.add(posting)
    kill(ended)
    batch.write(batch.all)
