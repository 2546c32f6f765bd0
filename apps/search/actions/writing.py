"""New documents of postings: analysed without a lock, written under the writers' lock."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from apps.database.statements import copy_rows, fetch_as
from apps.search.actions.dictionary import numbers_of
from apps.search.actions.head import reserve
from apps.search.algorithms.index.lexicon import Entry, Lexicon, packed
from apps.search.algorithms.index.reading import read

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
