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
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from typing import NamedTuple, Self
from zlib import crc32

from apps.postings.algorithms.words.scripts import SPACELESS

HALF_LIFE = 32  # postings in which a count halves
FORGOTTEN = 2 * HALF_LIFE  # postings without a segment after which it is none of the source's any more
ENOUGH = 2.4  # decayed count from which a segment is boilerplate: three postings within ten
NAMES_SHARE = 0.25  # of postings, from which a segment is boilerplate whose names differ, such as "By Jane Doe"
EDGE_SHARE = 0.5  # of postings, from which they begin or end with the same words
EDGE_COUNT = 3.4  # decayed count for the same
SOURCES = 3  # that have learned a segment, from which it is boilerplate in all sources

MAX_SEGMENTS = 48  # of longer texts the first 12 and the last 36 count, and their short lines
SHORT_LINE = 12  # words
MAX_TEMPLATE = 14  # words of a segment in which names may differ
EDGE_WORDS = (2, 3, 4, 6, 8)
MAX_DATELINE = 60  # characters
MAX_NAME = 5  # words

SEEN_ONCE = 256  # segments remembered
COUNTED = 64  # segments
RECENT = 16  # postings whose words are remembered
CONTEXT_WORDS = 40
CONTEXT_BITS = 512
SAME_MATTER = 0.35  # share of added words that an earlier posting has, beyond what chance explains
MAX_SAMPLE = 120  # characters of a segment shown to people
MIN_TITLE = 8  # characters

_TITLE, _ADDRESS, _NAME = "\x02", "\x03", "\x04"
_MASKED = re.compile(f"[{_TITLE}{_ADDRESS}]+")
_LINE = re.compile(r"[^\n]+")
_END = re.compile(r"(?:[.!?…][\"'”’)\]»]*\s+(?![a-z])|[。！？][”’」』）]*)")
_ABBREVIATION = re.compile(r"(?:^|[\s(\"“])(?:[A-Z][a-z]{0,3}|(?:\w\.)+\w|[A-Z]{1,4})\.[\"'”’)\]»]*\s+$")
_DATELINE = re.compile(rf"[^\n.!?:]{{2,{MAX_DATELINE}}}?(?:\([^()\n]+\))?\s*[-–—]+\s")
_ADDRESSES = re.compile(r"(?:https?://|www\.)\S+|(?<![\w.+-])[\w.+-]{1,64}@[\w-]+\.\w+|(?<!\w)/?[ur]/[\w-]+")
_TOKEN = re.compile(rf"[{_TITLE}{_ADDRESS}{_NAME}]+|\d[\d.,:/]*|[^\W\d_]+(?:['’][^\W\d_]+)?")
_SPACELESS = re.compile(f"[{SPACELESS}]")
_SET_OFF = re.compile(r"[^\s\w'’,]")
_WORD = re.compile(rf"[^\W\d_{SPACELESS}]{{4,}}|(?=[{SPACELESS}])\w(?=(\w))")


class _Segment(NamedTuple):
    start: int
    end: int
    text: str  # addresses and the title masked
    is_line: bool
    is_dateline: bool
    keys: tuple[tuple[int, str], ...] = ()  # each with its kind


@dataclass(slots=True)
class _Count:
    weight: float
    posting: int  # number of the last posting that had it
    matters: list[int]  # the last ones
    kind: str  # "" for a whole segment, "names" for one whose names differ, "head" or "tail"
    at: float = 0.0  # seconds: when it was last seen
    sample: str = ""


@dataclass(frozen=True, slots=True)
class Learned:
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
    >>> source.strip("Nobody was hurt. Sign up to our newsletter.")
    'Nobody was hurt.'
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
            Needed: tells postings apart whose text is nothing but boilerplate, and counts as one word in the text.
        """
        segments = _segments(text, title)
        keyed = {key: (kind, segment.text) for segment in segments for key, kind in segment.keys}
        left = [segment for segment in segments if not self._is_known(segment)]
        matter, is_new = self._matter(_words(title, (segment.text for segment in left), text))
        unlearned = [segment for segment in segments if not self._covers(segment)]
        self._remember(matter, _words(title, (segment.text for segment in unlearned), text))
        if is_new:
            self.postings += 1
            self.total = self.total * 0.5 ** (1 / HALF_LIFE) + 1
        keyed |= {key: (kind, segment.text) for key, kind, segment in _edges(unlearned)}
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
            Keys of segments that several sources repeat, see `common_keys`.
        """
        spans = self.spans(text, title, common)
        return _without(text, spans) if spans else text

    def spans(self, text: str, title: str = "", common: Collection[int] = frozenset()) -> list[tuple[int, int]]:
        """Where the text has what the source repeats: start and end of each part, in no order."""
        if not common and not self._counts:
            return []
        segments = _segments(text, title)
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
        """The inverse of `serialize`, but for rounding."""
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

    def _is_known(self, segment: _Segment) -> bool:
        return any(key in self._counts or key in self._once for key, _ in segment.keys)

    def _covers(self, segment: _Segment, common: Collection[int] = frozenset()) -> bool:
        for key, kind in segment.keys:
            count = self._counts.get(key)
            if (count is not None and self._is_learned(count)) or (not kind and key in common):
                return True
        return False

    def _edge_spans(self, segments: list[_Segment]) -> list[tuple[int, int]]:
        """The longest phrases at the beginning and the end that the source repeats."""
        found: dict[str, tuple[int, int]] = {}
        for key, kind, segment in _edges(segments):
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
        best, nearest = max((_containment(words, context), matter) for matter, context in self._recent)
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
        count.at, count.sample = at, _MASKED.sub("…", " ".join(text.split()))[:MAX_SAMPLE]

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


def common_keys(keys: Iterable[Iterable[int]]) -> frozenset[int]:
    """Keys that at least three of the sources have learned, as of programs that write the pages of many."""
    counts = Counter(key for each in keys for key in set(each))
    return frozenset(key for key, count in counts.items() if count >= SOURCES)


# --- segments


def _segments(text: str, title: str) -> list[_Segment]:
    """The segments that count; addresses and the title are masked by as many characters as they have."""
    masked = _masked(text, title)
    found = [segment for line in _LINE.finditer(masked) for segment in _of_line(masked, line.start(), line.end())]
    if found and (dateline := _DATELINE.match(masked, found[0].start, found[0].end)):
        first = found[0]
        cut = dateline.end()
        found[0] = _Segment(first.start, cut, masked[first.start : cut], False, True)
        found.insert(1, _Segment(cut, first.end, masked[cut : first.end], first.is_line, False))
    if len(found) > MAX_SEGMENTS:
        quarter = MAX_SEGMENTS // 4
        middle = [each for each in found[quarter : quarter - MAX_SEGMENTS] if each.is_line and _is_short(each.text)]
        found = [*found[:quarter], *middle, *found[quarter - MAX_SEGMENTS :]]
    return [segment._replace(keys=tuple(_keys(segment))) for segment in found]


def _masked(text: str, title: str) -> str:
    if len(title) >= MIN_TITLE:
        text = text.replace(title, _TITLE * len(title))
    return _ADDRESSES.sub(lambda match: _ADDRESS * len(match[0]), text)


def _is_short(text: str) -> bool:
    return len(text) < SHORT_LINE * 8 and text.count(" ") < SHORT_LINE


def _of_line(text: str, start: int, end: int) -> Iterator[_Segment]:
    begun = start
    for match in _END.finditer(text, start, end):
        if match.end() < end and not _ABBREVIATION.search(text, max(begun, match.end() - 12), match.end()):
            yield _Segment(begun, match.end(), text[begun : match.end()], False, False)
            begun = match.end()
    if text[begun:end].strip():
        yield _Segment(begun, end, text[begun:end], begun == start, False)


def _keys(segment: _Segment) -> Iterator[tuple[int, str]]:
    """The key of a segment, and that of its template if it may have names that differ."""
    tokens = _tokens(segment.text)
    if not tokens or (len(tokens) == 1 and not segment.is_line and not _SPACELESS.match(tokens[0])):
        return
    yield _key("", tokens), ""
    if len(tokens) <= MAX_TEMPLATE:
        template = _template(segment)
        fixed = [token for token in template if token[0] not in f"{_TITLE}{_ADDRESS}{_NAME}0"]
        if fixed and len(fixed) < len(template) and _NAME in template:
            yield _key("names", template), "names"


def _tokens(text: str) -> list[str]:
    found = _TOKEN.findall(text.casefold())
    return ["0" if token[0].isdigit() else token[:1] if token[0] < " " else token for token in found]


def _template(segment: _Segment) -> list[str]:
    """Its tokens, runs of up to five capitalised words as one; its first word is no name, unless a dateline's."""
    bracket = segment.text.find("(") if segment.is_dateline else len(segment.text)
    found: list[str] = []
    run = 0
    for number, match in enumerate(_TOKEN.finditer(segment.text)):
        is_name = match[0][0].isupper() and (segment.is_dateline or number > 0) and match.start() < bracket
        run = run + 1 if is_name else 0
        if not is_name:
            found += _tokens(match[0])
        elif run % MAX_NAME == 1:
            found.append(_NAME)
    return found


def _edges(segments: list[_Segment]) -> Iterator[tuple[int, str, _Segment]]:
    """The first and the last words of a text, the longest last."""
    if not segments:
        return
    first, last = segments[0], segments[-1]
    heads = list(islice(_TOKEN.finditer(first.text), EDGE_WORDS[-1] + 1))
    tails = list(_TOKEN.finditer(last.text))
    for size in EDGE_WORDS:
        # Only what a mark sets off: sentences that begin with the same words would lose them.
        if len(heads) > size and _SET_OFF.search(first.text, heads[size - 1].end(), heads[size].start()):
            cut = heads[size].start()
            yield _edge("head", _Segment(first.start, first.start + cut, first.text[:cut], False, False))
        if len(tails) > size:
            cut = tails[-size].start()
            yield _edge("tail", _Segment(last.start + cut, last.end, last.text[cut:], False, False))


def _edge(kind: str, phrase: _Segment) -> tuple[int, str, _Segment]:
    return _key(kind, _tokens(phrase.text)), kind, phrase


def _key(kind: str, tokens: list[str]) -> int:
    return crc32(f"{kind}\n{' '.join(tokens)}".encode("utf-8", "surrogatepass"))


def _words(title: str, texts: Iterable[str], raw: str) -> int:
    """A set of bits for the first words of a title and of texts; for the addresses in `raw` if there are no words."""
    found: list[str] = [match[0] + (match[1] or "") for match in _WORD.finditer(title.casefold())]
    for text in texts:
        if len(found) >= 2 * CONTEXT_WORDS:
            break
        found += [match[0] + (match[1] or "") for match in _WORD.finditer(text.casefold())]
    bits = 0
    for word in list(dict.fromkeys(found or _ADDRESSES.findall(raw)))[:CONTEXT_WORDS]:
        bits |= 1 << crc32(word.encode("utf-8", "surrogatepass")) % CONTEXT_BITS
    return bits


def _containment(words: int, context: int) -> float:
    """The share of words that a context has, beyond what chance explains; 1 for no words."""
    if not words:
        return 1.0
    count, held = words.bit_count(), (words & context).bit_count()
    if held < min(2, count):
        return 0.0  # of a few words, one is found by chance
    filled = context.bit_count() / CONTEXT_BITS
    return (held / count - filled) / max(1 - filled, 0.01)


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    pieces, position = [], 0
    for start, end in sorted(spans):
        if start >= position:
            pieces.append(text[position:start])
        position = max(position, end)
    pieces.append(text[position:])
    kept = "\n".join(line.strip() for line in "".join(pieces).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", kept).strip()
