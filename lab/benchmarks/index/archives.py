"""An archive that grows by what feeds on loopback publish, through retrieval, storage and index."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from django.db import connection

from apps.postings.models import Posting
from apps.retrieval.actions import adopt_sources
from apps.retrieval.models import Schedule
from apps.retrieval.scheduler.beat import MESSAGE_SIZE
from apps.retrieval.scheduler.claims import Claim
from apps.retrieval.worker.engine import Engine
from apps.search import actions
from apps.search.algorithms.index.conditions import Before
from apps.search.models import Generation
from apps.search.queries import snapshot
from apps.sources.actions.editing import add_sources
from apps.sources.models import Source
from lab.worlds.feed import Feed, Text
from lab.worlds.leases import lease
from lab.worlds.lines import Request
from lab.worlds.responses import Options
from lab.worlds.server import Memory, Replay, serving
from lab.worlds.synthetic import compose
from lab.worlds.vocabulary import ENGLISH

WINDOW = 100  # items of a feed; all are new in each round
PAGE_SIZE = 2_000  # postings, when all are listed


def compose_texts(count: int, *, seed: int) -> list[Text]:
    return [compose(seed, 1, number, 86_400.0 * (number // 100), ENGLISH) for number in range(count)]


def make_feeds(texts: Sequence[Text], sources: int, *, begin: float) -> list[Feed]:
    """The texts dealt out to sources one by one, each source's a second apart."""
    feeds = []
    for number in range(sources):
        dealt = texts[number::sources]
        times = [begin + second for second in range(1, len(dealt) + 1)]
        feeds.append(Feed(number + 1, f"Feed {number + 1}", "en", "Made up", times, dealt))
    return feeds


def delete_all() -> None:
    """Delete everything; sequences go on, so that caches stay valid."""
    with connection.cursor() as cursor:
        cursor.execute(
            "TRUNCATE sources_source, search_outboxrow, search_document, search_generation, search_head, search_loss,"
            " search_row, search_term CASCADE"
        )


@dataclass
class Growth:
    """The cost of storing and indexing all items."""

    retrieving: float = 0.0  # s, storing included
    indexing: float = 0.0
    maintaining: float = 0.0  # building and merging segments
    per_item: list[float] = field(default_factory=list)  # s of retrieving and indexing, of each message
    after_generation: list[bool] = field(default_factory=list)  # of each message: a generation was made just before

    @property
    def seconds(self) -> float:
        return self.retrieving + self.indexing + self.maintaining


@dataclass(frozen=True, slots=True)
class Archive:
    """A server with feeds, and the portal's engine that fetches them."""

    replay: Replay
    memory: Memory
    engine: Engine
    source_ids: list[int]
    clock: "_Clock"

    def grow(self, items: int, report: Callable[[int], None]) -> Growth:
        """Publish and retrieve, round by round, until all items are stored and indexed."""
        growth, made, stored = Growth(), False, 0
        while stored < items:
            self.clock.now += WINDOW
            for claims in self._messages():
                begin = time.perf_counter()
                self.engine.retrieve(claims, worker="")
                retrieved = time.perf_counter()
                added = _pull()
                indexed = time.perf_counter()
                growth.retrieving += retrieved - begin
                growth.indexing += indexed - retrieved
                if added:
                    growth.per_item.append((indexed - begin) / added)
                    growth.after_generation.append(made)
                made = actions.segment_building.maintain() > 0
                growth.maintaining += time.perf_counter() - indexed
                stored += added
                report(stored)
        return growth

    def retrieve_again(self) -> Counter[int]:
        """Retrieve every source once more; return the number of responses by status."""
        before = len(self.memory.lines)
        for claims in self._messages():
            self.engine.retrieve(claims, worker="")
        return Counter(line.status for line in self.memory.lines[before:] if isinstance(line, Request))

    def _messages(self) -> Iterator[list[Claim]]:
        now = time.time()
        schedules = list(Schedule.objects.order_by("pk").values_list("pk", "sequence"))
        for start in range(0, len(schedules), MESSAGE_SIZE):
            yield [Claim(id, sequence, now, now) for id, sequence in schedules[start : start + MESSAGE_SIZE]]


@dataclass
class _Clock:
    now: float

    def __call__(self) -> datetime:
        return datetime.fromtimestamp(self.now, UTC)


@contextmanager
def archive(texts: Sequence[Text], sources: int) -> Iterator[Archive]:
    """Serve the texts as feeds of `sources` sources, and adopt these. Nothing is published before `grow`."""
    begin = time.time() - 10 * 86_400
    clock, memory, engine = _Clock(begin), Memory(), Engine()
    feeds = make_feeds(texts, sources, begin=begin)
    try:
        with (
            serving(feeds, clock=clock, options=Options(window=WINDOW), record=memory) as replay,
            lease(replay.addresses.open_host),
        ):
            rows = [Source(url=replay.feed_url(feed.number), always_retrieved=True, min_gap=0) for feed in feeds]
            ids = add_sources(rows)
            adopt_sources(now=datetime.now(UTC))
            yield Archive(replay, memory, engine, ids, clock)
    finally:
        engine.stop()


def _pull() -> int:
    added = 0
    while consumed := actions.reindexing.consume():
        added += consumed
    return added


def all_are_listed() -> bool:
    """Whether the newest-first list, page by page, has every posting in order."""
    expected = list(Posting.objects.order_by("-published_at", "-pk").values_list("pk", flat=True))
    listed: list[int] = []
    with snapshot() as index:
        page = index.newest(PAGE_SIZE)
        while page:
            listed += [found.posting_id for found in page]
            page = index.restricted(Before(page[-1].published, page[-1].posting_id)).newest(PAGE_SIZE)
    return listed == expected


def count_generations() -> int:
    return Generation.objects.count()
