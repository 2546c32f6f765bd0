"""Search reads what it has not seen: new postings, edits, deletions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection, transaction

from apps.database.locks import take
from apps.database.statements import fetch
from apps.postings.algorithms.words import STOP_MARK
from apps.search.actions.dictionary import numbers_of
from apps.search.actions.dying import kill
from apps.search.actions.head import reserve
from apps.search.actions.locks import WRITING
from apps.search.algorithms.index.packing import pack_numbers
from apps.search.algorithms.index.reading import Reading, read

PULLED_AT_ONCE = 2_048  # changes in one transaction


@dataclass(frozen=True, slots=True)
class Pulled:
    """What one pull did."""

    looked_at: int = 0  # changes
    added: int = 0  # documents; an edit adds one and ends one
    ended: int = 0


@dataclass(frozen=True, slots=True)
class _Posting:
    id: int
    text_hash: bytes
    source_id: int
    published_at: datetime
    language: str
    author: str
    categories: list[str]
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class _Known:
    """A document of a posting, alive."""

    number: int
    posting_id: int
    text_hash: bytes
    source_id: int
    published_at: datetime

    def is_of(self, posting: _Posting) -> bool:
        return (self.text_hash, self.source_id, self.published_at) == (
            posting.text_hash,
            posting.source_id,
            posting.published_at,
        )


@transaction.atomic
def pull(limit: int = PULLED_AT_ONCE, *, wait: bool = True) -> Pulled | None:
    """Take up to `limit` changes and bring the index up to date with them; None if somebody else is at it.

    What it wrote is found as soon as this is committed. Documents are numbered in the order of commits, since one
    writer follows the other: whoever sees a document sees all of smaller numbers.
    """
    if not take(WRITING, wait=wait):
        return None
    changes = fetch("SELECT id, posting_id, anew FROM search_change ORDER BY anew, id LIMIT %s", [limit])
    if not changes:
        return Pulled()
    posting_ids = list(dict.fromkeys(posting_id for _, posting_id, _ in changes))
    anew = {posting_id for _, posting_id, again in changes if again}
    pairs = _pairs(posting_ids)
    ended, added = [], []
    for posting_id in posting_ids:
        posting, document = pairs[posting_id]
        if posting and document and document.is_of(posting) and posting_id not in anew:
            continue
        if document:
            ended.append(document.number)
        if posting:
            added.append(posting)
    kill(ended)
    _add(added)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM search_change WHERE id = ANY(%s)", [[id for id, _, _ in changes]])
    return Pulled(len(changes), len(added), len(ended))


_PAIRS = """
SELECT wanted.id, posting.id, posting.text_hash, posting.source_id, posting.published_at,
    coalesce(nullif(posting.language, ''), source.language), author, categories, posting.title, text,
    number, document.posting_id, document.text_hash, document.source_id, document.published_at
FROM unnest(%s::bigint[]) wanted (id)
LEFT JOIN (postings_posting posting JOIN sources_source source ON source.id = posting.source_id)
    ON posting.id = wanted.id
LEFT JOIN search_document document ON document.posting_id = wanted.id AND NOT dead
"""


def _pairs(posting_ids: Sequence[int]) -> dict[int, tuple[_Posting | None, _Known | None]]:
    """Each posting and what is known of it; None where one or the other is not there."""
    return {
        row[0]: (
            _Posting(*row[1:10]) if row[1] is not None else None,
            _Known(*row[10:]) if row[10] is not None else None,
        )
        for row in fetch(_PAIRS, [posting_ids])
    }


def _add(postings: Sequence[_Posting]) -> None:
    if not postings:
        return
    readings = [
        read(
            posting.title,
            posting.text,
            language=posting.language,
            author=posting.author,
            categories=posting.categories,
        )
        for posting in postings
    ]
    head, first = reserve(len(postings))
    number_of = numbers_of({item for reading in readings for item in reading.items()}, head)
    with connection.cursor() as cursor, cursor.copy(_COPY) as copy:
        copy.set_types(_TYPES)
        for number, (posting, reading) in enumerate(zip(postings, readings, strict=True), first):
            copy.write_row(
                (
                    number,
                    posting.id,
                    posting.text_hash,
                    posting.source_id,
                    posting.published_at,
                    reading.language,
                    reading.title_length,
                    False,
                    *_packed(reading, number_of),
                )
            )


_COPY = """
COPY search_document (number, posting_id, text_hash, source_id, published_at, language, title_length, dead,
    sequence, pairs, names) FROM STDIN (FORMAT BINARY)
"""
_TYPES = ["int4", "int8", "bytea", "int8", "timestamptz", "varchar", "int4", "bool", "bytea", "bytea", "bytea"]


def _packed(reading: Reading, number_of: Mapping[str, int]) -> Iterable[bytes]:
    yield pack_numbers([-number_of[item] if item[0] == STOP_MARK else number_of[item] for item in reading.sequence])
    yield pack_numbers([number_of[pair] for pair in reading.pairs])
    yield pack_numbers([number_of[word] if word else 0 for word in reading.names])
