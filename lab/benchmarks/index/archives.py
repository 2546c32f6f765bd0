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
from apps.retrieval.http import guard
from apps.retrieval.models import Schedule
from apps.retrieval.scheduler.beat import MESSAGE_SIZE
from apps.retrieval.scheduler.claims import Claim
from apps.retrieval.worker.engine import Engine
from apps.search import actions
from apps.search.algorithms.index.conditions import Before
from apps.search.models import Generation
from apps.search.queries import snapshot
from apps.sources.actions import NewSource, add_sources
from lab.worlds.answers import Options
from lab.worlds.feed import Feed, Text
from lab.worlds.lines import Request
from lab.worlds.server import Memory, Replay, serving
from lab.worlds.synthetic import compose
from lab.worlds.vocabulary import ENGLISH

WINDOW = 100  # items that a feed shows; so many are new in each round
LISTED_AT_ONCE = 2_000  # postings of a page when all are looked through


def compose_texts(count: int, *, seed: int) -> list[Text]:
    return [compose(seed, 1, number, 86_400.0 * (number // 100), ENGLISH) for number in range(count)]


def make_feeds(texts: Sequence[Text], sources: int, *, begin: float) -> list[Feed]:
    """The texts dealt out to sources one by one, each source's a second apart."""
    feeds = []
    for number in range(sources):
        dealt = texts[number::sources]
        instants = [begin + second for second in range(1, len(dealt) + 1)]
        feeds.append(Feed(number + 1, f"Feed {number + 1}", "en", "Made up", instants, dealt))
    return feeds


def forget_all() -> None:
    """Delete everything; numbers go on, so that nothing that is remembered is taken for something else."""
    with connection.cursor() as cursor:
        cursor.execute(
            "TRUNCATE sources_source, search_outboxrow, search_document, search_generation, search_head, search_loss,"
            " search_row, search_term CASCADE"
        )


@dataclass
class Growth:
    """What it took to store and index all items."""

    retrieving: float = 0.0  # s, storing included
    indexing: float = 0.0
    maintaining: float = 0.0  # sealing and merging
    per_item: list[float] = field(default_factory=list)  # s of retrieving and indexing, of each message
    after_generation: list[bool] = field(default_factory=list)  # of each message: a generation was made just before

    @property
    def seconds(self) -> float:
        return self.retrieving + self.indexing + self.maintaining


@dataclass(frozen=True, slots=True)
class Archive:
    """A server with feeds, and the portal's own engine that asks it."""

    replay: Replay
    memory: Memory
    engine: Engine
    source_ids: list[int]
    clock: "_Clock"

    def grow(self, items: int, tell: Callable[[int], None]) -> Growth:
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
                made = actions.maintain() > 0
                growth.maintaining += time.perf_counter() - indexed
                stored += added
                tell(stored)
        return growth

    def visit_again(self) -> Counter[int]:
        """Ask every source once more; how many answers of each status there were."""
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
    """Serve the texts as feeds of so many sources, and adopt these. Nothing is published before `grow`."""
    begin = time.time() - 10 * 86_400
    clock, memory, engine = _Clock(begin), Memory(), Engine()
    feeds = make_feeds(texts, sources, begin=begin)
    try:
        with (
            serving(feeds, clock=clock, options=Options(window=WINDOW), record=memory) as replay,
            guard.lease(replay.addresses.open_host),
        ):
            rows = [NewSource(url=replay.feed_url(feed.number), always_retrieved=True, min_gap=0) for feed in feeds]
            ids = add_sources(rows)
            adopt_sources(now=datetime.now(UTC))
            yield Archive(replay, memory, engine, ids, clock)
    finally:
        engine.stop()


def _pull() -> int:
    added = 0
    while (pulled := actions.consume()) and pulled.changes:
        added += pulled.added
    return added


def all_are_listed() -> bool:
    """Whether the newest-first list, gone through page by page, has every posting, in order."""
    expected = list(Posting.objects.order_by("-published_at", "-pk").values_list("pk", flat=True))
    listed: list[int] = []
    with snapshot() as index:
        page = index.newest(LISTED_AT_ONCE)
        while page:
            listed += [found.posting_id for found in page]
            page = index.such(Before(page[-1].published, page[-1].posting_id)).newest(LISTED_AT_ONCE)
    return listed == expected


def count_generations() -> int:
    return Generation.objects.count()
