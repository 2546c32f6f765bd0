"""Index postings again: all of them, those missed by the outbox, or into an empty index."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from apps.database.advisory_locks import take
from apps.database.outbox import consume_rows
from apps.database.statements import copy_rows, execute, fetch_as, fetch_rows
from apps.jobs import actions as jobs
from apps.jobs.models import Job
from apps.search.actions.dictionary import learn_spelling, numbers_of, warm
from apps.search.actions.head import reserve
from apps.search.actions.locks import MAINTAINING, WRITING
from apps.search.actions.segment_building import mark_deleted
from apps.search.algorithms.index.lexicon import Entry, Lexicon, packed
from apps.search.algorithms.index.reading import read
from apps.search.queries.spans import KIND, in_span

Version = tuple[bytes, int, datetime]  # of a posting: hash of its words, source, publication


@dataclass(frozen=True, slots=True)
class Posting:
    id: int
    text_hash: bytes
    source_id: int
    published_at: datetime
    language: str
    author: str
    categories: list[str]
    title: str
    text: str

    @property
    def version(self) -> Version:
        return self.text_hash, self.source_id, self.published_at


@dataclass(frozen=True, slots=True)
class Known:
    """The live document of a posting."""

    number: int
    version: Version  # of the posting when it was indexed


_PAIRS = """
SELECT wanted.id AS wanted_id, posting.id, posting.text_hash, posting.source_id, posting.published_at,
    coalesce(nullif(posting.language, ''), source.language) AS language, author, categories, posting.title, text,
    number, document.text_hash AS known_text_hash, document.source_id AS known_source_id,
    document.published_at AS known_published_at
FROM unnest(%s::bigint[]) wanted (id)
LEFT JOIN (postings_posting posting JOIN sources_source source ON source.id = posting.source_id)
    ON posting.id = wanted.id
LEFT JOIN search_document document ON document.posting_id = wanted.id AND NOT dead
"""


def pairs(posting_ids: Sequence[int]) -> dict[int, tuple[Posting | None, Known | None]]:
    """Each posting with its live document; None where one of them does not exist."""
    return dict(fetch_as(_pair, _PAIRS, [posting_ids]))


def _pair(
    *,
    wanted_id: int,
    number: int | None,
    known_text_hash: bytes,
    known_source_id: int,
    known_published_at: datetime,
    **columns: Any,
) -> tuple[int, tuple[Posting | None, Known | None]]:
    posting = None if columns["id"] is None else Posting(**columns)
    known = None if number is None else Known(number, (known_text_hash, known_source_id, known_published_at))
    return wanted_id, (posting, known)


@dataclass(frozen=True, slots=True)
class AnalysedPosting:
    posting_id: int
    version: Version
    entry: Entry


# Documents with which a new archive learns its spelling, as the regular time may be hours away.
LEARNED_AT = (1_000, 2_000, 4_000, 8_000)


class DocumentBatch:
    """Analysed postings, ready to be written."""

    def __init__(self) -> None:
        self._lexicon = Lexicon()
        self.all: list[AnalysedPosting] = []

    def add(self, posting: Posting) -> None:
        reading = read(
            posting.title,
            posting.text,
            language=posting.language,
            author=posting.author,
            categories=posting.categories,
        )
        self.all.append(AnalysedPosting(posting.id, posting.version, self._lexicon.enter(reading)))

    @property
    def words(self) -> list[str]:
        return self._lexicon.words

    def write(self, wanted: Iterable[AnalysedPosting]) -> None:
        """Write some of them in this order. The caller holds the writers' lock."""
        chosen = list(wanted)
        if not chosen:
            return
        head, first = reserve(len(chosen))
        if any(first < size <= first + len(chosen) for size in LEARNED_AT):
            transaction.on_commit(learn_spelling)
        numbers = self._lexicon.numbered(numbers_of(self.words, head))
        rows = (
            (number, each.posting_id, *each.version, entry.language, entry.title_length, False, *packed(entry, numbers))
            for number, each in enumerate(chosen, first)
            for entry in [each.entry]
        )
        copy_rows(_COPY, _TYPES, rows)


_COPY = """
COPY search_document (number, posting_id, text_hash, source_id, published_at, language, title_length, dead,
    sequence, pairs, names) FROM STDIN (FORMAT BINARY)
"""
_TYPES = ["int4", "int8", "bytea", "int8", "timestamptz", "varchar", "int4", "bool", "bytea", "bytea", "bytea"]


READ_BATCH = 250  # postings

# Postings that differ from their documents, and documents of deleted postings.
UNSEEN = """
FROM (SELECT * FROM postings_posting WHERE id > %(after)s AND id <= %(until)s) posting
FULL JOIN (
    SELECT * FROM search_document WHERE NOT dead AND posting_id > %(after)s AND posting_id <= %(until)s
) document ON document.posting_id = posting.id
WHERE (posting.text_hash, posting.source_id, posting.published_at)
    IS DISTINCT FROM (document.text_hash, document.source_id, document.published_at)
"""
COMPARED_AT_ONCE = 50_000  # ids
_MISSED = f"""
INSERT INTO search_outboxrow (posting_id, rebuild)
SELECT coalesce(posting.id, document.posting_id), false {UNSEEN} ORDER BY posting.published_at, posting.id
"""
_LAST = """
SELECT greatest((SELECT max(id) FROM postings_posting), (SELECT max(posting_id) FROM search_document WHERE NOT dead))
    AS id
"""


def begin(*, from_nothing: bool = False, requested_by: str) -> int:
    """Start a job that indexes all postings again, or resume an unfinished one; returns its id.

    Search uses the present index meanwhile; `from_nothing` empties it first, so postings are not found until read.
    """
    if from_nothing:
        return _begin_from_nothing(requested_by)
    job, _ = jobs.claiming.create(KIND, requested_by=requested_by)
    jobs.claiming.resume(job.pk)
    return job.pk


@transaction.atomic
def _begin_from_nothing(requested_by: str) -> int:
    clear()
    for job_id in Job.objects.filter(kind=KIND, state__in=Job.UNFINISHED).values_list("pk", flat=True):
        jobs.claiming.cancel(job_id)  # its splits use numbers of deleted documents
    return jobs.claiming.create(KIND, requested_by=requested_by)[0].pk


def note_missed() -> int:
    """Add outbox rows for all postings that differ from the index; returns how many.

    Triggers miss none, except where they were bypassed, as by a partial restore of a backup. Short transactions and no
    lock: a posting that is just being indexed may be noted, and is then found to be the same.
    """
    [last] = fetch_rows(_LAST)
    steps = range(0, last.id or 0, COMPARED_AT_ONCE)
    return sum(execute(_MISSED, {"after": step, "until": step + COMPARED_AT_ONCE}) for step in steps)


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
    gone: dict[int, int]  # of each deleted posting, the document to delete


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
            elif posting is not None and (known and known.number) == number:  # otherwise it has just been consumed
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
    mark_deleted([*replaced, *gone])
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
    mark_deleted(ended)
    batch.write(batch.all)
