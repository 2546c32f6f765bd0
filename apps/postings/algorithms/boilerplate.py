"""Boilerplate: what a source repeats in its postings, such as footers, credits, bylines, share lines and tickers.

A text falls into segments: lines, their sentences, and a dateline at its beginning. Segments are compared by keys in
which numbers, addresses and the posting's own title are one, so that "Points: 12" and "Points: 3" are the same, and so
are "The post A appeared first on Site" and "The post B appeared first on Site". A segment that returns in postings
about different matters is boilerplate. It counts once for a matter: copies and updates of a report repeat real
sentences. A posting is about the same matter as an earlier one if the words of what it adds are found there.

Counts halve every 32 postings, so a source that changes its template is learned again, and state has a few kB.
"""

import json
import re
import zlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple, Self

from apps.postings.algorithms.segments import MASKED, Segment, containment, edges, segments_of, words_of

HALF_LIFE = 32  # postings in which a count halves
FORGOTTEN = 2 * HALF_LIFE  # postings without a segment after which it is no longer boilerplate of the source
ENOUGH = 2.4  # decayed count from which a segment is boilerplate: three postings within ten
NAMES_SHARE = 0.25  # of postings, from which a segment is boilerplate whose names differ, such as "By Jane Doe"
EDGE_SHARE = 0.5  # of postings, from which they begin or end with the same words
EDGE_COUNT = 3.4  # decayed count from which that holds
SOURCES = 3  # that have learned a segment, from which it is boilerplate in all sources

SEEN_ONCE = 256  # segments remembered
COUNTED = 64  # segments
RECENT = 16  # postings whose words are remembered
SAME_MATTER = 0.35  # share of added words found in an earlier posting, beyond chance
MAX_SAMPLE = 120  # characters of a segment shown to people


@dataclass(slots=True)
class _Count:
    weight: float
    posting: int  # number of the last posting that had it
    matters: list[int]  # the last ones
    kind: str  # "" for a whole segment, "names" for one whose names differ, "head" or "tail"
    at: float = 0.0  # seconds: when it was last seen
    sample: str = ""


class Learned(NamedTuple):
    """A segment that a source repeats, for people."""

    sample: str
    share: float  # of recent postings
    at: float  # seconds: when it was last seen

    @property
    def seen_at(self) -> datetime:
        return datetime.fromtimestamp(self.at, UTC)


@dataclass(slots=True)
class SourceBoilerplate:
    """What one source repeats.

    Examples
    --------
    >>> source = SourceBoilerplate()
    >>> for title in ("Storm floods Lisbon", "Bank raises rates", "Derby ends in draw"):
    ...     source.observe("It was a long night. Sign up to our newsletter.", 0.0, title)
    >>> source.strip("All were safe. Sign up to our newsletter.")
    'All were safe.'
    """

    postings: int = 0
    total: float = 0.0  # postings of different matters, decayed
    _counts: dict[int, _Count] = field(default_factory=dict)
    _once: dict[int, int] = field(default_factory=dict)  # the matter of segments seen once, the oldest first
    _recent: list[tuple[int, int]] = field(default_factory=list)  # matter and words of postings

    def observe(self, text: str, at: float, title: str = "") -> None:
        """Learn from a posting, in the order of arrival.

        Parameters
        ----------
        text : str
            Without markup; lines count.
        at : float
            Seconds since 1970, shown to people as the time when a segment was last seen.
        title : str
            Needed: distinguishes postings whose text is nothing but boilerplate, and counts as one word in the text.
        """
        segments = segments_of(text, title)
        keyed = {key: (kind, segment.text) for segment in segments for key, kind in segment.keys}
        left = [segment for segment in segments if not self._is_known(segment)]
        matter, is_new = self._matter(words_of(title, (segment.text for segment in left), text))
        unlearned = [segment for segment in segments if not self._covers(segment)]
        self._remember(matter, words_of(title, (segment.text for segment in unlearned), text))
        if is_new:
            self.postings += 1
            self.total = self.total * 0.5 ** (1 / HALF_LIFE) + 1
        keyed |= {key: (kind, segment.text) for key, kind, segment in edges(unlearned)}
        for key, (kind, masked) in keyed.items():
            self._count(key, kind, matter, at, masked)
        self._bound()

    def strip(self, text: str, title: str = "", common: Collection[int] = frozenset()) -> str:
        """The text without what the source repeats.

        Parameters
        ----------
        text, title : str
            As for `observe`.
        common : collection of int
            Keys of segments that at least SOURCES sources repeat, as of programs that write the pages of many.
        """
        spans = self.spans(text, title, common)
        return _without(text, spans) if spans else text

    def spans(self, text: str, title: str = "", common: Collection[int] = frozenset()) -> list[tuple[int, int]]:
        """Where the text has what the source repeats: start and end of each part, in no order."""
        if not common and not self._counts:
            return []
        segments = segments_of(text, title)
        gone = [segment for segment in segments if self._covers(segment, common)]
        left = [segment for segment in segments if segment not in gone]
        return [(segment.start, segment.end) for segment in gone] + self._edge_spans(left)

    def learned(self) -> list[Learned]:
        """The segments that the source repeats, the most frequent first."""
        found: dict[str, Learned] = {}  # by sample: a segment may be known by its template, too
        for count in sorted(filter(self._is_learned, self._counts.values()), key=self._weight):
            found[count.sample] = Learned(count.sample, min(1.0, self._weight(count) / max(self.total, 1.0)), count.at)
        return sorted(found.values(), key=lambda each: (-each.share, each.sample))

    def keys(self) -> list[int]:
        """Keys of whole segments that the source repeats, to find what is common to several sources."""
        return sorted(key for key, count in self._counts.items() if not count.kind and self._is_learned(count))

    def serialize(self) -> bytes:
        counts = [
            [key, round(each.weight, 3), each.posting, each.matters, each.kind, round(each.at), each.sample]
            for key, each in self._counts.items()
        ]
        state = [self.postings, round(self.total, 3), counts, list(self._once.items()), self._recent]
        return zlib.compress(json.dumps(state, ensure_ascii=False, separators=(",", ":")).encode())

    @classmethod
    def parse(cls, data: bytes) -> Self:
        """The inverse of `serialize`, apart from rounding."""
        postings, total, counts, once, recent = json.loads(zlib.decompress(data))
        return cls(
            postings,
            total,
            {key: _Count(*values) for key, *values in counts},
            dict(once),
            [(matter, words) for matter, words in recent],
        )

    # --- what is known

    def _weight(self, count: _Count) -> float:
        return count.weight * float(0.5 ** ((self.postings - count.posting) / HALF_LIFE))

    def _is_learned(self, count: _Count) -> bool:
        if self.postings - count.posting > FORGOTTEN:
            return False
        weight = self._weight(count)
        match count.kind:
            case "":
                return weight >= ENOUGH
            case "names":
                return weight >= max(ENOUGH, NAMES_SHARE * self.total)
            case _:
                return weight >= max(EDGE_COUNT, EDGE_SHARE * self.total)

    def _is_known(self, segment: Segment) -> bool:
        return any(key in self._counts or key in self._once for key, _ in segment.keys)

    def _covers(self, segment: Segment, common: Collection[int] = frozenset()) -> bool:
        for key, kind in segment.keys:
            count = self._counts.get(key)
            if (count is not None and self._is_learned(count)) or (not kind and key in common):
                return True
        return False

    def _edge_spans(self, segments: list[Segment]) -> list[tuple[int, int]]:
        """The longest repeated phrases at the beginning and at the end."""
        found: dict[str, tuple[int, int]] = {}
        for key, kind, segment in edges(segments):
            count = self._counts.get(key)
            if count is not None and self._is_learned(count):
                found[kind] = (segment.start, segment.end)
        return list(found.values())

    # --- learning

    def _matter(self, words: int) -> tuple[int, bool]:
        """The number of the matter that added words are about, and whether it is a new one."""
        new = max((matter for matter, _ in self._recent), default=0) + 1
        if not self._recent:
            return new, True
        best, nearest = max((containment(words, context), matter) for matter, context in self._recent)
        return (nearest, False) if best >= SAME_MATTER else (new, True)

    def _remember(self, matter: int, words: int) -> None:
        self._recent = [*self._recent, (matter, words)][-RECENT:]

    def _count(self, key: int, kind: str, matter: int, at: float, text: str) -> None:
        count = self._counts.get(key)
        if count is None:
            first = self._once.pop(key, None)
            if first is None or first == matter:
                self._once[key] = matter
                return
            count = self._counts[key] = _Count(1.0, self.postings - 1, [first], kind)
        if matter not in count.matters:
            count.weight, count.posting = self._weight(count) + 1, self.postings
            count.matters = [*count.matters, matter][-RECENT // 4 :]
        count.at, count.sample = at, MASKED.sub("…", " ".join(text.split()))[:MAX_SAMPLE]

    def _bound(self) -> None:
        for key in list(self._once)[: max(0, len(self._once) - SEEN_ONCE)]:
            del self._once[key]
        while len(self._counts) > COUNTED:
            del self._counts[min(self._counts, key=lambda key: self._weight(self._counts[key]))]


class Strippers(NamedTuple):
    """What many sources repeat."""

    sources: Mapping[int, SourceBoilerplate]
    common: Collection[int] = frozenset()  # keys of segments that several sources repeat

    def strip(self, source_id: int, text: str, title: str = "") -> str:
        """The text of a source's posting without boilerplate."""
        return self.sources.get(source_id, _NOTHING).strip(text, title, self.common)

    def repeated(self, source_id: int, text: str, title: str = "") -> str:
        """The boilerplate in the text of a source's posting."""
        spans = self.sources.get(source_id, _NOTHING).spans(text, title, self.common)
        return "\n".join(text[start:end] for start, end in sorted(spans))


_NOTHING = SourceBoilerplate()


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    pieces, position = [], 0
    for start, end in sorted(spans):
        if start >= position:
            pieces.append(text[position:start])
        position = max(position, end)
    pieces.append(text[position:])
    kept = "\n".join(line.strip() for line in "".join(pieces).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", kept).strip()
