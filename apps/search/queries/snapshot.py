"""A consistent snapshot of the index."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
from django.db import OperationalError, connection
from django.utils.translation import gettext as _
from numpy.typing import NDArray
from psycopg.errors import QueryCanceled

from apps.database.statements import fetch, fetch_rows, rows_of
from apps.postings.algorithms.words import analyse
from apps.postings.queries.boilerplate import strippers
from apps.search.algorithms.index import inversion
from apps.search.algorithms.index.conditions import ALWAYS, Condition
from apps.search.algorithms.index.inversion import Attributes, Chunk, Document, spans
from apps.search.algorithms.index.newest import Found, newest
from apps.search.algorithms.index.worth import Worth
from apps.search.algorithms.models.index import IntArray, Sequences, Vectors
from apps.search.queries import limits, stored
from apps.search.queries.blocks import NOTHING, GenerationBlock, MemoryBlock, Reader, joinable
from apps.search.queries.stored import Origins, Segment
from apps.search.queries.terms import Terms

_NO_ITEMS = np.empty(0, np.int32)
NO_DOCUMENT = Document(_NO_ITEMS, 0, _NO_ITEMS, _NO_ITEMS)


class TooCostly(Exception):
    """A search that ran into the statement timeout; the message is for the user."""


@contextmanager
def snapshot() -> "Iterator[Snapshot]":
    """The present index until the end of the block, unaffected by concurrent changes; raises TooCostly."""
    try:
        with consistent_snapshot(stored.HEAD) as heads:
            yield Snapshot(stored.state(heads))
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise TooCostly(_("This search took too long: make it more specific.")) from error
        raise


class Snapshot:
    """Made by `snapshot`. The `Index` of ranking, lists by time, and the mapping of documents to postings."""

    def __init__(
        self,
        state: stored.State,
        condition: Condition = ALWAYS,
        worth: Worth | None = None,
        own_terms: frozenset[int] = frozenset(),
    ) -> None:
        self.state = state
        self.condition = condition
        self.worth = worth
        self.own_terms = own_terms
        self.is_partial = False  # whether the oldest documents were left out
        self.origins: dict[tuple[int, int], Origins] = {}  # of the blocks of all passes, by first document and size
        self._terms = Terms(state.head, state.revision)
        self._runs: dict[bool, list[list[Segment]]] = {}  # see `joinable`, by whether a search may stop

    def restricted(
        self, condition: Condition, worth: Worth | None = None, own_terms: Collection[int] = ()
    ) -> "Snapshot":
        """The same snapshot, in which only documents that meet the condition are found, with scores scaled by `worth`.

        Other documents still count in frequencies. Behind too many postings of the query's own terms there are none.
        """
        other = Snapshot(self.state, condition, worth, frozenset(own_terms))
        other._terms, other._runs = self._terms, self._runs
        other.__dict__["chunks"] = self.chunks
        return other

    # --- Index --------------------------------------------------------------------------------------------------------
    @cached_property
    def documents(self) -> int:
        alive = sum(generation.size - generation.dead_count for generation in self.state.generations)
        return alive + sum(int(chunk.alive.sum()) for chunk in self.chunks)

    @cached_property
    def average_length(self) -> float:
        tokens = sum(generation.tokens for generation in self.state.generations)
        tokens += sum(int(chunk.inversion.lengths.sum()) for chunk in self.chunks)
        return tokens / max(self.documents, 1)

    def numbers(self, terms: Sequence[str]) -> IntArray:
        return self._terms.numbers(terms)

    def names(self, numbers: IntArray) -> list[str]:
        return self._terms.names(numbers)

    def document_frequencies(self, numbers: IntArray) -> IntArray:
        counts = self._terms.segment_frequencies(numbers)
        for chunk in self.chunks:
            counts += chunk.frequencies(numbers)
        return counts

    def blocks(self, numbers: IntArray = NOTHING) -> Iterator[GenerationBlock | MemoryBlock]:
        """The blocks, the newest first, ready to return the rows of these terms."""
        wanted = numbers.tolist()
        required = sorted(set(self.condition.terms()))
        # Without terms a search by time ends in the newest generation, which should not be a part of a large block.
        generations = self.state.generations
        may_stop = not wanted or self.worth is not None
        if may_stop not in self._runs:
            self._runs[may_stop] = joinable(generations, may_stop=may_stop)
        runs = self._runs[may_stop][::-1] if wanted or required else [[each] for each in reversed(generations)]
        reader, conditions = Reader(runs, wanted), Reader(runs, required)
        memory: list[GenerationBlock | MemoryBlock] = [MemoryBlock(self, self.chunks, wanted)] if self.chunks else []
        own_terms = np.array(sorted(self.own_terms), np.int64)
        is_limited = self.document_frequencies(own_terms).sum() > limits.MAX_POSTINGS
        room = limits.MAX_POSTINGS
        for block in memory + [GenerationBlock(self, run, wanted, reader, conditions) for run in runs]:
            if room <= 0:
                self.is_partial = True
                break
            yield block
            if is_limited:
                room -= block.admitted(self.own_terms)

    def vectors(self, documents: IntArray) -> Vectors:
        """Without addresses and what a source repeats in its postings: related terms would come from it."""
        known = unrelated_terms(documents.tolist())
        counts = {number: self._numbered(terms) for number, (_, terms) in known.items() if terms}
        pairs = zip(documents.tolist(), self.read(documents), strict=True)
        sources = [known[number][0] if number in known else 0 for number in documents.tolist()]
        return inversion.vectors([document.without(counts.get(number, {})) for number, document in pairs], sources)

    def _numbered(self, terms: Counter[str]) -> dict[int, int]:
        return dict(zip(self.numbers(list(terms)).tolist(), terms.values(), strict=True))

    def sequences(self, documents: IntArray) -> Sequences:
        return inversion.sequences(self.read(documents))

    # --- documents ----------------------------------------------------------------------------------------------------
    def newest(self, count: int) -> list[Found]:
        """The documents published last that meet the condition."""
        return newest(self.blocks(), count)

    def read(self, documents: IntArray) -> list[Document]:
        """The documents in their order, empty ones in place of deleted ones."""
        numbers = documents.tolist()
        found = stored.documents(self.state.head, set(numbers))
        return [found.get(number, NO_DOCUMENT) for number in numbers]

    def attributes(self, documents: NDArray[np.int64]) -> Attributes:
        """Attributes of documents, in their order."""
        if self.state.memory_start > stored.READ_AT_ONCE:
            return stored.attributes_of(documents)
        numbers = np.zeros((3, documents.size), np.int64)
        languages = np.zeros(documents.size, "S3")
        order = np.argsort(documents)
        ascending = documents[order]
        for block in self.blocks():
            start, end = ascending.searchsorted((block.first, block.first + block.size)).tolist()
            if start < end:
                at, known = order[start:end], block.attributes
                offsets = documents[at] - block.first
                numbers[:, at] = known.posting_ids[offsets], known.source_ids[offsets], known.published[offsets]
                languages[at] = known.languages[offsets]
        return Attributes(numbers[0], numbers[1], numbers[2], languages)

    def documents_of(self, posting_ids: Collection[int]) -> NDArray[np.int64]:
        """The documents of the indexed ones of the postings, unordered."""
        rows = fetch(
            "SELECT number FROM search_document WHERE posting_id = ANY(%s) AND NOT dead", [sorted(set(posting_ids))]
        )
        return np.array([number for (number,) in rows], np.int64)

    @cached_property
    def chunks(self) -> list[Chunk]:
        """The in-memory segment."""
        state = self.state
        return stored.chunks(state.head, spans(state.memory_start, state.next_document), state.dead)


# --- words that say nothing of an article -----------------------------------------------------------------------------
_POSTINGS = """
SELECT number, document.language, posting.source_id, posting.title, posting.text
FROM search_document document JOIN postings_posting posting ON posting.id = posting_id WHERE number = ANY(%s)
"""
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+|\b[\w-]+(?:\.[\w-]+)*\.[a-z]{2,4}/\S*")


def unrelated_terms(documents: Collection[int]) -> dict[int, tuple[int, Counter[str]]]:
    """The source of each document, and how often each term is boilerplate or a part of an address in it."""
    rows = fetch_rows(_POSTINGS, [list(documents)])
    known = strippers({row.source_id for row in rows})
    found: dict[int, tuple[int, Counter[str]]] = {}
    for row in rows:
        repeated = known.repeated(row.source_id, row.text, row.title)
        words = [word for word in row.text.split() if "/" in word or "www." in word]  # few, and the pattern is slow
        text = " ".join([repeated, *_ADDRESS.findall(" ".join(words))])
        found[row.number] = row.source_id, Counter(analyse(text, row.language).terms)
    return found


# --- transactions -----------------------------------------------------------------------------------------------------
MAX_STATEMENT = "10s"
_BEGIN = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = '{MAX_STATEMENT}'; "


@contextmanager
def consistent_snapshot(first: str) -> Iterator[list[Any]]:
    """A read-only transaction with the snapshot of its first statement, which has no values and whose rows are yielded.

    Inside another transaction it has the isolation of that.
    """
    connection.ensure_connection()
    if connection.in_atomic_block or not connection.get_autocommit():
        yield fetch_rows(first)
        return
    try:
        yield _begun(first)
    finally:
        try:
            # Not a rollback, after which psycopg drops its prepared statements.
            connection.commit()
        except Exception:
            connection.close()  # it is lost, or in an unknown state
            raise


def _begun(first: str) -> list[Any]:
    """Begin the transaction and run the statement in one round trip, where Django and psycopg need three."""
    connection.connection.prepare_threshold = None  # several statements at once cannot be prepared
    with connection.cursor() as cursor:
        cursor.execute(_BEGIN + first)
        while cursor.nextset():
            pass
        return rows_of(cursor)
