"""Summarizes a record: how often, how politely and with which conditions the client sent requests."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from lab.worlds.addresses import Kind
from lab.worlds.lines import Line, Published, RecordError, Request, Start

DAY = 86400.0  # seconds

FULL = frozenset({200, 226})  # responses with postings
REDIRECTS = frozenset({301, 302})
VALID = frozenset({200, 226, 304})  # responses whose validators the client should send next time


@dataclass(slots=True)
class Conditions:
    """How often conditional headers had a value that the client had received."""

    good: int = 0  # of the latest response that had one
    stale: int = 0  # of an earlier response
    bogus: int = 0  # never sent to it


@dataclass(slots=True)
class Summary:
    """Counts over a whole record. Days and minutes are recorded time unless called real."""

    speed: float = 1.0
    port: int = 0
    days: float = 0.0
    sources: int = 0  # whose feed was requested
    published: int = 0
    requests: int = 0  # for feeds
    other_requests: int = 0  # for pages, pictures, robots.txt
    requests_per_source_and_day: float = 0.0
    smallest_gap_minutes: float | None = None
    smallest_gap_source: int | None = None
    statuses: dict[str, int] = field(default_factory=dict)
    conditional_share_after_first: float | None = None
    unreasonable: int = 0  # without a condition although the client had validators
    if_none_match: Conditions = field(default_factory=Conditions)
    if_modified_since: Conditions = field(default_factory=Conditions)
    unwelcome: dict[str, int] = field(default_factory=dict)
    agents: dict[str, int] = field(default_factory=dict)
    max_connections: int = 0  # open to one host at once
    requests_over_several_connections: int = 0
    bytes: int = 0


@dataclass(slots=True)
class _SourceRequests:
    """The requests of the client to one source.

    A request that follows a redirect belongs to the one before. The first request for an address, such as
    after a permanent redirect, may be unconditional.
    """

    latest: float | None = None  # real time of the latest request that followed no redirect
    redirected: bool = False  # by the latest response
    paths: set[str] = field(default_factory=set)  # requested without following a redirect
    etags: list[str] = field(default_factory=list)  # as received, the last one is current
    dates: list[str] = field(default_factory=list)


def summarise(lines: Iterable[Line]) -> Summary:
    """Count over the lines of a record, which begin with its start.

    Raises RecordError if they begin with something else.

    >>> feed = dict(source=1, kind="feed", method="GET", path="/feed")
    >>> summary = summarise([
    ...     Start(origin=0.0, end=86400.0, start=0.0, speed=60.0, port=8700, setup={}),
    ...     Request(at=10.0, status=200, etag='"a"', **feed),
    ...     Request(at=70.0, status=304, etag='"a"', if_none_match='"a"', **feed),
    ... ])
    >>> summary.smallest_gap_minutes, summary.conditional_share_after_first, summary.if_none_match.good
    (60.0, 1.0, 1)
    """
    iterator = iter(lines)
    start = next(iterator, None)
    if not isinstance(start, Start):
        raise RecordError("the record does not begin with its start")
    counting = _Counting(start)
    for line in iterator:
        if isinstance(line, Published):
            counting.summary.published += 1
        elif isinstance(line, Request):
            counting.add(line)
    return counting.finish()


class _Counting:
    def __init__(self, start: Start) -> None:
        self.summary = Summary(speed=start.speed, port=start.port)
        self._start = start
        self._latest = start.start
        self._sources: dict[int, _SourceRequests] = defaultdict(_SourceRequests)
        self._counters: dict[str, Counter[str]] = defaultdict(Counter)
        self._repeated = 0
        self._conditional = 0

    def add(self, request: Request) -> None:
        summary = self.summary
        self._latest = max(self._latest, request.at)
        self._counters["unwelcome"].update(request.unwelcome)
        self._counters["agents"][request.agent] += 1
        summary.bytes += request.size
        summary.max_connections = max(summary.max_connections, request.connections)
        summary.requests_over_several_connections += request.connections > 1
        if request.kind != Kind.FEED or request.source is None:
            summary.other_requests += 1
            return
        summary.requests += 1
        self._counters["statuses"][str(request.status) if request.whole else f"{request.status} broken off"] += 1
        requests = self._sources[request.source]
        if not requests.redirected:
            self._add_first(request, request.source, requests)
        requests.redirected = request.status in REDIRECTS
        _judge(summary.if_none_match, request.if_none_match, requests.etags)
        _judge(summary.if_modified_since, request.if_modified_since, requests.dates)
        _remember(requests, request)

    def _add_first(self, request: Request, source: int, requests: _SourceRequests) -> None:
        if requests.latest is not None:
            gap = (request.at - requests.latest) * self._start.speed / 60
            smallest = self.summary.smallest_gap_minutes
            if smallest is None or gap < smallest:
                self.summary.smallest_gap_minutes, self.summary.smallest_gap_source = gap, source
        if request.path in requests.paths:
            self._repeated += 1
            self._conditional += request.conditional
            offered = any(given and given[-1] for given in (requests.etags, requests.dates))
            self.summary.unreasonable += offered and not request.conditional
        requests.latest = request.at
        requests.paths.add(request.path)

    def finish(self) -> Summary:
        summary = self.summary
        summary.days = (self._latest - self._start.start) * self._start.speed / DAY
        summary.sources = len(self._sources)
        if summary.sources and summary.days > 0:
            summary.requests_per_source_and_day = summary.requests / summary.sources / summary.days
        if self._repeated:
            summary.conditional_share_after_first = self._conditional / self._repeated
        summary.statuses = dict(self._counters["statuses"])
        summary.unwelcome = dict(self._counters["unwelcome"])
        summary.agents = dict(self._counters["agents"].most_common(20))
        return summary


def _judge(conditions: Conditions, sent: str | None, given: list[str]) -> None:
    if sent is None:
        return
    if given and sent == given[-1]:
        conditions.good += 1
    elif sent in given:
        conditions.stale += 1
    else:
        conditions.bogus += 1


def _remember(requests: _SourceRequests, request: Request) -> None:
    """Record the validators that the client has received; those of truncated responses do not count.

    A full response sets both, even to nothing; a 304 changes only those it has.
    """
    if request.status not in VALID or not request.whole:
        return
    for given, validator in ((requests.etags, request.etag), (requests.dates, request.modified)):
        if (validator or request.status in FULL) and given[-1:] != [validator]:
            given.append(validator)
