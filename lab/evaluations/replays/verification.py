"""Compare what was served with what was stored: nothing lost, nothing doubled, and how late it came."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import fmean

import numpy as np

from lab.evaluations.replays.summary import VALID
from lab.worlds.addresses import Kind
from lab.worlds.lines import Line, Published, RecordError, Request, Start

EXAMPLES = 20  # of lost or doubled postings that are named

Key = tuple[int, int]  # source and position of a posting


@dataclass(frozen=True, slots=True)
class Stored:
    """A posting as the portal has it."""

    source: int  # number of the replayed source
    row: int  # the portal's own number of the source
    guid: str
    url: str
    retrieved: float  # real seconds since 1970


@dataclass(frozen=True, slots=True)
class Delays:
    """Minutes of recorded time from publication to storage, of postings published after the start."""

    count: int
    mean: float
    p50: float
    p95: float
    largest: float


@dataclass(slots=True)
class Verdict:
    """The result of the comparison; `lost` and `doubled` name up to EXAMPLES postings by link."""

    published: int = 0
    served: int = 0  # stood in a complete answer, or the client claimed by a condition to have it
    stored: int = 0  # of the published ones
    lost_count: int = 0  # served, but not stored
    doubled_count: int = 0  # stored more than once for the same source
    unknown_count: int = 0  # stored, but never published
    slipped_count: int = 0  # left the feed before it was served
    unobtainable_count: int = 0  # served and not stored, see Witnessed.unobtainable
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    delays: Delays | None = None

    @property
    def passed(self) -> bool:
        return not self.lost_count and not self.doubled_count


@dataclass(slots=True)
class Witnessed:
    """The postings of a record."""

    start: Start
    published: dict[Key, Published] = field(default_factory=dict)
    served: set[Key] = field(default_factory=set)
    claimed: set[Key] = field(default_factory=set)  # the client sent the tag of an edition that had them
    latest: dict[int, tuple[int, int]] = field(default_factory=dict)  # the edition that each source showed last
    tagged: set[int] = field(default_factory=set)  # sources whose editions have tags

    @property
    def unobtainable(self) -> set[Key]:
        """Served to a client that never claimed to hold them, as if it had died, and gone from the feed since.

        No client can store them. Without tags it is unknown what the client holds: such postings count as lost.
        """
        return {
            (source, posting)
            for source, posting in self.served - self.claimed
            if source in self.tagged and posting < self.latest[source][0]
        }


def collect(lines: Iterable[Line]) -> Witnessed:
    """Gather the published and the served postings from a record.

    A 304 counts as well: the client claimed to hold that edition, so it must have its postings.
    Truncated responses do not count. Raises RecordError if the record does not begin with its start.

    >>> start = Start(origin=0.0, end=9.0, start=0.0, speed=1.0, port=8700, setup={})
    >>> request = Request(at=2.0, source=1, kind="feed", method="GET", path="/feed", status=200, first=0, count=2)
    >>> sorted(collect([start, request]).served)
    [(1, 0), (1, 1)]
    """
    iterator = iter(lines)
    start = next(iterator, None)
    if not isinstance(start, Start):
        raise RecordError("the record does not begin with its start")
    witnessed = Witnessed(start)
    latest = witnessed.latest  # most answers repeat the one before
    editions: dict[tuple[int, str], tuple[int, int]] = {}  # those that were shown and not claimed, by their tags
    for line in iterator:
        if isinstance(line, Published):
            witnessed.published[line.source, line.posting] = line
        elif isinstance(line, Request) and line.source is not None:
            if claimed := editions.pop((line.source, line.if_none_match or ""), None):
                witnessed.claimed.update((line.source, posting) for posting in range(*claimed))
            source, shown = _source_served(line), (line.first, line.count)
            if source is not None and latest.get(source) != shown:
                latest[source] = shown
                witnessed.served.update((source, posting) for posting in range(*shown))
                if line.etag and line.status != 304:
                    witnessed.tagged.add(source)
                    editions[source, line.etag] = shown
    return witnessed


def compare(witnessed: Witnessed, stored: Iterable[Stored]) -> Verdict:
    """Judge what is stored. Rows are matched by guid, or by link where the feed shows no guid.

    >>> start = Start(origin=0.0, end=9.0, start=0.0, speed=60.0, port=8700, setup={"window": 50})
    >>> witnessed = Witnessed(start, {(1, 0): Published(10.0, 1, 0, "g", "l")}, {(1, 0)})
    >>> compare(witnessed, []).lost
    ['l']
    >>> compare(witnessed, [Stored(1, 1, "g", "l", 11.0)]).delays.mean
    1.0
    """
    matched, unknown = _match(witnessed, stored)
    unstored = witnessed.served - matched.keys()
    lost = sorted(unstored - witnessed.unobtainable)
    doubled = [key for key, rows in sorted(matched.items()) if len({row.row for row in rows}) < len(rows)]
    return Verdict(
        published=len(witnessed.published),
        served=len(witnessed.served),
        stored=len(matched),
        lost_count=len(lost),
        doubled_count=len(doubled),
        unknown_count=unknown,
        slipped_count=_count_slipped(witnessed),
        unobtainable_count=len(unstored) - len(lost),
        lost=[_link(witnessed, key) for key in lost[:EXAMPLES]],
        doubled=[_link(witnessed, key) for key in doubled[:EXAMPLES]],
        delays=_measure_delays(witnessed, matched),
    )


def _source_served(request: Request) -> int | None:
    complete = request.kind == Kind.FEED and request.whole and request.status in VALID
    return request.source if complete else None


def _match(witnessed: Witnessed, stored: Iterable[Stored]) -> tuple[dict[Key, list[Stored]], int]:
    by_identity: dict[tuple[int, str], Key] = {}
    for key, posting in witnessed.published.items():
        by_identity[posting.source, posting.guid or posting.link] = key
    matched: dict[Key, list[Stored]] = defaultdict(list)
    unknown = 0
    for row in stored:
        found = by_identity.get((row.source, row.guid)) or by_identity.get((row.source, row.url))
        if found is None:
            unknown += 1
        else:
            matched[found].append(row)
    return dict(matched), unknown


def _count_slipped(witnessed: Witnessed) -> int:
    """Postings that left the feed before any response contained them."""
    window = int(witnessed.start.setup.get("window") or 0)
    counts: dict[int, int] = defaultdict(int)
    for source, posting in witnessed.published:
        counts[source] = max(counts[source], posting + 1)
    fetched = {source for source, _ in witnessed.served}
    return sum(
        posting.at >= witnessed.start.start and source in fetched and position < counts[source] - window
        for (source, position), posting in witnessed.published.items()
        if (source, position) not in witnessed.served
    )


def _measure_delays(witnessed: Witnessed, matched: dict[Key, list[Stored]]) -> Delays | None:
    start = witnessed.start
    minutes = [
        (min(row.retrieved for row in rows) - witnessed.published[key].at) * start.speed / 60
        for key, rows in matched.items()
        if witnessed.published[key].at >= start.start
    ]
    if not minutes:
        return None
    p50, p95 = np.percentile(minutes, [50, 95])
    return Delays(len(minutes), fmean(minutes), float(p50), float(p95), max(minutes))


def _link(witnessed: Witnessed, key: Key) -> str:
    posting = witnessed.published.get(key)
    return posting.link if posting else f"source {key[0]}, posting {key[1]}"
