"""Conditions on documents, evaluated on whole blocks.

Most conditions are decided by arrays: postings of terms, sources, times. Phrases need the documents' sequences, which
are costly to read. So a block is first divided into documents that surely match, surely do not, or may; only the last
are read.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from apps.search.algorithms.index.inversion import Attributes, Document

Flags = NDArray[np.bool_]
IntArray = NDArray[np.integer]
MAX_TABLE = 2**22  # sources; a user may search for any number


def joined(parts: Sequence[Attributes]) -> Attributes:
    """Concatenate attributes of adjacent blocks."""
    if len(parts) == 1:
        return parts[0]
    return Attributes(*(np.concatenate(column) for column in zip(*parts, strict=True)))


class PostingSource(Protocol):
    """The interface of a block for conditions."""

    size: int

    @property
    def attributes(self) -> Attributes: ...

    def source_ids(self) -> IntArray:
        """The source of each document, as in its attributes, but cheaper."""
        ...

    def holding(self, term: int) -> IntArray:
        """Offsets of the documents with a term, ascending."""
        ...

    def read(self, offsets: IntArray) -> list[Document]:
        """Documents of the block, none of them dead."""
        ...


class Condition:
    """Decided by arrays, unless a subclass says otherwise."""

    def terms(self) -> Iterator[int]:
        """The terms whose postings it needs."""
        yield from ()

    def bounds(self, block: PostingSource) -> tuple[Flags, Flags]:
        """Flags of documents that surely match, and of those that may, a superset.

        The caller may change the arrays; where everything is decided they may be the same object.
        """
        raise NotImplementedError

    @property
    def is_known(self) -> bool:
        """Whether the attributes of a document decide it, so that a few documents cost little."""
        return False

    def among(self, block: PostingSource, offsets: IntArray) -> Flags:
        """Flags of a few documents, where it `is_known`."""
        raise NotImplementedError

    def holds(self, document: Document, at: int, surely: Callable[["Condition"], Flags]) -> bool:
        """Whether the document at this offset matches; `surely` returns the sure flags of a part."""
        return bool(surely(self)[at])


@dataclass(frozen=True)
class DocumentSet(Condition):
    """The document has one of the terms; never without terms."""

    any_of: tuple[int, ...]

    def terms(self) -> Iterator[int]:
        yield from self.any_of

    def bounds(self, block: PostingSource) -> tuple[Flags, Flags]:
        flags = np.zeros(block.size, np.bool_)
        for term in self.any_of:
            flags[block.holding(term)] = True
        return flags, flags


@dataclass(frozen=True)
class Stands(Condition):
    """A phrase of items, stop words negative, in the document or in its title alone."""

    items: tuple[int, ...]
    in_title: bool = False

    def terms(self) -> Iterator[int]:
        yield from map(abs, self.items)

    def bounds(self, block: PostingSource) -> tuple[Flags, Flags]:
        rarest, *others = sorted((block.holding(term) for term in set(self.terms())), key=len)
        flags = _flags(block.size, rarest)
        for held in others if rarest.size else ():
            flags &= _flags(block.size, held)
        # Every item is a term, also a character of a script without spaces: a single one needs no verification.
        is_decided = len(self.items) == 1 and not self.in_title
        return (flags, flags) if is_decided else (np.zeros(block.size, np.bool_), flags)

    def holds(self, document: Document, at: int, surely: Callable[[Condition], Flags]) -> bool:
        sequence = document.title if self.in_title else document.sequence
        return follows(sequence, np.array(self.items))


@dataclass(frozen=True)
class Named(Condition):
    """A phrase in one of the document's names, with alternatives for its last word."""

    first: tuple[int, ...]
    last: tuple[int, ...]

    def terms(self) -> Iterator[int]:
        yield from self.first
        yield from self.last

    def bounds(self, block: PostingSource) -> tuple[Flags, Flags]:
        parts = [DocumentSet((term,)) for term in self.first]
        flags = All((*parts, DocumentSet(self.last))).bounds(block)[1]
        return (np.zeros(block.size, np.bool_), flags) if self.first else (flags, flags)

    def holds(self, document: Document, at: int, surely: Callable[[Condition], Flags]) -> bool:
        return any(follows(document.names, np.array([*self.first, last])) for last in self.last)


class _Known(Condition):
    """A condition on attributes alone."""

    @property
    def is_known(self) -> bool:
        return True

    def flags(self, known: Attributes) -> Flags:
        raise NotImplementedError

    def bounds(self, block: PostingSource) -> tuple[Flags, Flags]:
        flags = self.flags(block.attributes)
        return flags, flags

    def among(self, block: PostingSource, offsets: IntArray) -> Flags:
        return self.flags(block.attributes.of(offsets))


@dataclass(frozen=True)
class Sources(_Known):
    ids: frozenset[int]

    @cached_property
    def _is_wanted(self) -> Flags | None:
        """By source, False at the end for all that are larger; None where that would take much memory."""
        if max(self.ids, default=0) > MAX_TABLE:
            return None
        flags = np.zeros(max(self.ids, default=0) + 2, np.bool_)
        flags[list(self.ids)] = True
        return flags

    def bounds(self, block: PostingSource) -> tuple[Flags, Flags]:
        flags = self._of(block.source_ids())
        return flags, flags

    def among(self, block: PostingSource, offsets: IntArray) -> Flags:
        return self._of(block.source_ids()[offsets])

    def _of(self, sources: IntArray) -> Flags:
        is_wanted = self._is_wanted
        return np.isin(sources, list(self.ids)) if is_wanted is None else is_wanted.take(sources, mode="clip")


@dataclass(frozen=True)
class Postings(_Known):
    ids: frozenset[int]

    def flags(self, known: Attributes) -> Flags:
        return np.isin(known.posting_ids, np.fromiter(self.ids, np.int64, len(self.ids)))


@dataclass(frozen=True)
class Languages(_Known):
    codes: frozenset[str]

    def flags(self, known: Attributes) -> Flags:
        return np.isin(known.languages, np.array(sorted(self.codes), "S3"))


@dataclass(frozen=True)
class Published(_Known):
    """At `since` or later, before `until`; microseconds since 1970."""

    since: int | None = None
    until: int | None = None

    def flags(self, known: Attributes) -> Flags:
        flags = np.ones(known.published.size, np.bool_)
        if self.since is not None:
            flags &= known.published >= self.since
        if self.until is not None:
            flags &= known.published < self.until
        return flags


@dataclass(frozen=True)
class New(_Known):
    """From one of these sources, at the source's time or later, with an id above the source's."""

    since: tuple[tuple[int, int, int], ...]  # source, microseconds since 1970, posting

    def flags(self, known: Attributes) -> Flags:
        if not self.since:
            return np.zeros(known.published.size, np.bool_)
        ids, moments, numbers = np.array(sorted(self.since), np.int64).T
        at = np.minimum(np.searchsorted(ids, known.source_ids), ids.size - 1)
        is_new = (known.published >= moments[at]) & (known.posting_ids > numbers[at])
        return np.asarray((ids[at] == known.source_ids) & is_new, np.bool_)


@dataclass(frozen=True)
class Before(_Known):
    """After a place in an order by publication, the newest first: older, or as old with a smaller id."""

    published: int
    posting_id: int

    def flags(self, known: Attributes) -> Flags:
        is_tie = (known.published == self.published) & (known.posting_ids < self.posting_id)
        return np.asarray((known.published < self.published) | is_tie, np.bool_)


@dataclass(frozen=True)
class Not(Condition):
    part: Condition

    @property
    def is_known(self) -> bool:
        return self.part.is_known

    def among(self, block: PostingSource, offsets: IntArray) -> Flags:
        return ~self.part.among(block, offsets)

    def terms(self) -> Iterator[int]:
        yield from self.part.terms()

    def bounds(self, block: PostingSource) -> tuple[Flags, Flags]:
        sure, possible = self.part.bounds(block)
        return ~possible, ~sure

    def holds(self, document: Document, at: int, surely: Callable[[Condition], Flags]) -> bool:
        return not self.part.holds(document, at, surely)


@dataclass(frozen=True)
class _Compound(Condition):
    parts: tuple[Condition, ...] = ()

    def terms(self) -> Iterator[int]:
        for part in self.parts:
            yield from part.terms()

    @property
    def is_known(self) -> bool:
        return all(part.is_known for part in self.parts)


@dataclass(frozen=True)
class All(_Compound):
    """All parts match; always without parts."""

    def among(self, block: PostingSource, offsets: IntArray) -> Flags:
        each = (part.among(block, offsets) for part in self.parts)
        flags: Flags = np.logical_and.reduce([np.ones(offsets.size, np.bool_), *each])
        return flags

    def bounds(self, block: PostingSource) -> tuple[Flags, Flags]:
        if not self.parts:
            return np.ones(block.size, np.bool_), np.ones(block.size, np.bool_)
        sure, possible = self.parts[0].bounds(block)
        for part in self.parts[1:]:
            if not possible.any():
                break
            parts_sure, parts_possible = part.bounds(block)
            is_decided = sure is possible and parts_sure is parts_possible
            possible = possible & parts_possible
            sure = possible if is_decided else sure & parts_sure
        return sure, possible

    def holds(self, document: Document, at: int, surely: Callable[[Condition], Flags]) -> bool:
        return all(part.holds(document, at, surely) for part in self.parts)


@dataclass(frozen=True)
class Any(_Compound):
    """One of the parts matches; never without parts."""

    def among(self, block: PostingSource, offsets: IntArray) -> Flags:
        each = (part.among(block, offsets) for part in self.parts)
        flags: Flags = np.logical_or.reduce([np.zeros(offsets.size, np.bool_), *each])
        return flags

    def bounds(self, block: PostingSource) -> tuple[Flags, Flags]:
        sure, possible = np.zeros(block.size, np.bool_), np.zeros(block.size, np.bool_)
        for part in self.parts:
            parts_sure, parts_possible = part.bounds(block)
            sure, possible = sure | parts_sure, possible | parts_possible
        return sure, possible

    def holds(self, document: Document, at: int, surely: Callable[[Condition], Flags]) -> bool:
        return any(part.holds(document, at, surely) for part in self.parts)


ALWAYS = All()


@dataclass
class Trial:
    """A condition on one block, decided by arrays, or by reading each undecided document once."""

    condition: Condition
    block: PostingSource
    sure: Flags
    possible: Flags
    _decided: dict[Condition, Flags] = field(default_factory=dict)

    def decide(self, offsets: IntArray) -> Flags:
        """Whether each of the live documents at these offsets matches."""
        unsure = offsets[self.possible[offsets] & ~self.sure[offsets]]
        for offset, document in zip(unsure.tolist(), self.block.read(unsure) if unsure.size else (), strict=True):
            self.sure[offset] = self.possible[offset] = self.condition.holds(document, offset, self._surely)
        return self.sure[offsets]

    def _surely(self, part: Condition) -> Flags:
        if part not in self._decided:
            self._decided[part] = part.bounds(self.block)[0]
        return self._decided[part]


def trial(condition: Condition, block: PostingSource, alive: Flags | None) -> Trial:
    """A condition on the live documents of a block; None if all are alive."""
    sure, possible = condition.bounds(block)
    if alive is not None:
        is_decided = sure is possible
        possible = possible & alive
        sure = possible if is_decided else sure & alive
    return Trial(condition, block, sure, possible)


def _flags(size: int, offsets: IntArray) -> Flags:
    flags = np.zeros(size, np.bool_)
    flags[offsets] = True
    return flags


def follows(sequence: IntArray, items: IntArray) -> bool:
    """Whether the items are adjacent in the sequence, in this order.

    >>> follows(np.array([3, 1, 2, 1]), np.array([2, 1])), follows(np.array([1, 3, 2]), np.array([1, 2]))
    (True, False)
    """
    starts = sequence.size - items.size + 1
    if starts <= 0:
        return False
    found = np.ones(starts, np.bool_)
    for number, item in enumerate(items.tolist()):
        found &= sequence[number : number + starts] == item
    return bool(found.any())
