"""What must hold for a document to be found, tried on whole blocks of documents at a time.

Most conditions are decided by arrays: which documents hold a term, who published them and when. Whether words stand
next to each other is only known from the documents' sequences, which are costly to read. So a block is first divided
into documents for which a condition surely holds, surely does not, or may hold; only the last are read.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from apps.search.algorithms.index.inversion import Document

Flags = NDArray[np.bool_]
IntArray = NDArray[np.integer]


@dataclass(frozen=True, slots=True)
class Attributes:
    """What is known of the documents of a block, one value each."""

    posting_ids: NDArray[np.int64]
    source_ids: NDArray[np.int64]
    published: NDArray[np.int64]  # microseconds since 1970
    languages: NDArray[np.bytes_]


def joined(parts: Sequence[Attributes]) -> Attributes:
    """Attributes of documents that follow each other as one."""
    if len(parts) == 1:
        return parts[0]
    return Attributes(
        np.concatenate([part.posting_ids for part in parts]),
        np.concatenate([part.source_ids for part in parts]),
        np.concatenate([part.published for part in parts]),
        np.concatenate([part.languages for part in parts]),
    )


class PostingSource(Protocol):
    """A block, as conditions see it."""

    size: int

    def attributes(self) -> Attributes: ...

    def holding(self, term: int) -> IntArray:
        """Offsets of the documents that hold a term, ascending."""
        ...

    def read(self, offsets: IntArray) -> list[Document]:
        """Documents of the block, none of them dead."""
        ...


class Condition(Protocol):
    def terms(self) -> Iterator[int]:
        """Those whose postings it asks for."""
        ...

    def bounds(self, block: PostingSource) -> tuple[Flags, Flags]:
        """For which documents it surely holds, and for which it may; the first are among the second.

        The arrays are the caller's own; where it is all decided they may be the same one.
        """
        ...

    def holds(self, document: Document, at: int, surely: Callable[["Condition"], Flags]) -> bool:
        """Whether it holds for the document at this offset; `surely` gives what arrays alone say of a part."""
        ...


@dataclass(frozen=True)
class DocumentSet:
    """One of the terms is in the document. Of no terms: never."""

    any_of: tuple[int, ...]

    def terms(self) -> Iterator[int]:
        yield from self.any_of

    def bounds(self, block: PostingSource) -> tuple[Flags, Flags]:
        flags = np.zeros(block.size, np.bool_)
        for term in self.any_of:
            flags[block.holding(term)] = True
        return flags, flags

    def holds(self, document: Document, at: int, surely: Callable[[Condition], Flags]) -> bool:
        return bool(surely(self)[at])


@dataclass(frozen=True)
class Stands:
    """Items of a sequence, stop words negative, follow each other in the document, or in its title alone."""

    items: tuple[int, ...]
    in_title: bool = False

    def terms(self) -> Iterator[int]:
        yield from map(abs, self.items)

    def bounds(self, block: PostingSource) -> tuple[Flags, Flags]:
        rarest, *others = sorted((block.holding(term) for term in set(self.terms())), key=len)
        flags = _flags(block.size, rarest)
        for held in others if rarest.size else ():
            flags &= _flags(block.size, held)
        # A character of a script without spaces is a term of its own, and so is every word: one item is just there.
        is_decided = len(self.items) == 1 and not self.in_title
        return (flags, flags) if is_decided else (np.zeros(block.size, np.bool_), flags)

    def holds(self, document: Document, at: int, surely: Callable[[Condition], Flags]) -> bool:
        sequence = document.sequence[: document.title_length] if self.in_title else document.sequence
        return follows(sequence, np.array(self.items))


@dataclass(frozen=True)
class Named:
    """The words stand next to each other in one of the document's names, in place of the last any of several."""

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


@dataclass(frozen=True)
class _Known:
    """Decided by the attributes of documents alone."""

    def terms(self) -> Iterator[int]:
        yield from ()

    def flags(self, known: Attributes) -> Flags:
        raise NotImplementedError

    def bounds(self, block: PostingSource) -> tuple[Flags, Flags]:
        flags = self.flags(block.attributes())
        return flags, flags

    def holds(self, document: Document, at: int, surely: Callable[[Condition], Flags]) -> bool:
        return bool(surely(self)[at])


@dataclass(frozen=True)
class Sources(_Known):
    ids: frozenset[int]

    def flags(self, known: Attributes) -> Flags:
        return np.isin(known.source_ids, np.fromiter(self.ids, np.int64, len(self.ids)))


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
    """By one of these sources, at the source's own moment or later, with a number above the source's own."""

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
    """Behind a place in a list ordered by publication, the newest first: older, or as old and of a smaller number."""

    published: int
    posting_id: int

    def flags(self, known: Attributes) -> Flags:
        is_tie = (known.published == self.published) & (known.posting_ids < self.posting_id)
        return np.asarray((known.published < self.published) | is_tie, np.bool_)


@dataclass(frozen=True)
class Not:
    part: Condition

    def terms(self) -> Iterator[int]:
        yield from self.part.terms()

    def bounds(self, block: PostingSource) -> tuple[Flags, Flags]:
        sure, possible = self.part.bounds(block)
        return ~possible, ~sure

    def holds(self, document: Document, at: int, surely: Callable[[Condition], Flags]) -> bool:
        return not self.part.holds(document, at, surely)


@dataclass(frozen=True)
class All:
    """All parts hold. Of no parts: always."""

    parts: tuple[Condition, ...] = ()

    def terms(self) -> Iterator[int]:
        for part in self.parts:
            yield from part.terms()

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
class Any:
    """One of the parts holds. Of no parts: never."""

    parts: tuple[Condition, ...] = ()

    def terms(self) -> Iterator[int]:
        for part in self.parts:
            yield from part.terms()

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
    """A condition on one block: decided by arrays where they can, by reading where they cannot, and that once."""

    condition: Condition
    block: PostingSource
    sure: Flags
    possible: Flags
    _decided: dict[Condition, Flags] = field(default_factory=dict)

    def decide(self, offsets: IntArray) -> Flags:
        """Whether it holds for each of the documents at these offsets, which must not be dead."""
        unsure = offsets[self.possible[offsets] & ~self.sure[offsets]]
        for offset, document in zip(unsure.tolist(), self.block.read(unsure) if unsure.size else (), strict=True):
            answer = self.condition.holds(document, offset, self._surely)
            self.sure[offset] = self.possible[offset] = answer
        return self.sure[offsets]

    def _surely(self, part: Condition) -> Flags:
        if part not in self._decided:
            self._decided[part] = part.bounds(self.block)[0]
        return self._decided[part]


def trial(condition: Condition, block: PostingSource, alive: Flags | None) -> Trial:
    """A condition on a block, of whose documents only those alive are found; None where all are."""
    sure, possible = condition.bounds(block)
    if alive is not None:
        sure, possible = sure & alive, possible & alive
    return Trial(condition, block, sure, possible)


def _flags(size: int, offsets: IntArray) -> Flags:
    flags = np.zeros(size, np.bool_)
    flags[offsets] = True
    return flags


def follows(sequence: IntArray, items: IntArray) -> bool:
    """Whether the items stand next to each other in the sequence, in this order.

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
