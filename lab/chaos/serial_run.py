"""The serial run: one process stores and matches each served posting once, source by source."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

from apps.alerts import actions as alerts
from apps.postings import actions as postings
from apps.sources import formats
from lab.chaos import workload
from lab.evaluations.replays.verification import collect
from lab.worlds import queries
from lab.worlds.addresses import Addresses
from lab.worlds.faults import Fault
from lab.worlds.feed import Feed
from lab.worlds.record import read_record
from lab.worlds.rendering import format_of, render
from lab.worlds.server import addresses_of
from lab.worlds.timeline import Timeline

MAX_POSTINGS = 100  # per document


def run(record: Path) -> None:
    """Store all postings that a record reports as served and as obtainable, and match them with the saved searches."""
    witnessed = collect(read_record(record))
    start = witnessed.start
    timeline = Timeline(start.origin, start.start, start.speed)
    addresses = addresses_of(timeline, start.port)
    feeds = workload.feeds_of(start.setup).feeds
    faults = workload.faults_of(feeds, start.setup)
    # In the order of the other run, so that both have the same ids.
    workload.add_users()
    workload.add_sources(feeds, addresses)
    ids = {number: source_id for source_id, number in queries.replayed_sources(start.port).items()}
    served: dict[int, list[int]] = defaultdict(list)
    for source, posting in sorted(witnessed.served - witnessed.unobtainable):
        served[source].append(posting)
    for feed in feeds:
        for first, count in _ranges(served[feed.number]):
            _store(feed, first, count, ids[feed.number], timeline, addresses, faults.get(feed.number))
    while alerts.matching.match(now=datetime.now(UTC)):
        pass


def _store(
    feed: Feed, first: int, count: int, source_id: int, timeline: Timeline, addresses: Addresses, fault: Fault | None
) -> None:
    body = render(feed, first, count, timeline, addresses)
    charset = "iso-8859-1" if fault is Fault.WRONG_CHARSET else "utf-8"
    address = addresses.feed(feed.number)
    read = formats.parse(body, content_type=f"{format_of(feed.number)}; charset={charset}", url=address)
    document = postings.Document(source_id, read.entries, address, read.link, read.language, datetime.now(UTC))
    postings.store([document])


def _ranges(positions: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Ascending positions as ranges [first, count) without gaps, none of them long.

    >>> list(_ranges([0, 1, 2, 5]))
    [(0, 3), (5, 6)]
    """
    for _, group in groupby(enumerate(positions), lambda pair: (pair[1] - pair[0], pair[0] // MAX_POSTINGS)):
        run = [position for _, position in group]
        yield run[0], run[-1] + 1
