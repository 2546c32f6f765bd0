"""One person's devices do everything at once and are killed, while feeds publish: counts must be those of the rules."""

import multiprocessing
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from multiprocessing.process import BaseProcess
from multiprocessing.sharedctypes import Synchronized

from django.db import IntegrityError, connection, connections, transaction

from apps.accounts.models import User
from apps.following import actions, queries
from apps.following.actions.counting import join_changes, store_counts
from apps.following.models import Follow, MarkedAll
from apps.following.queries import Scope
from apps.following.queries.counts import Unread
from apps.postings.actions import Document, store
from apps.postings.models import Posting
from apps.sources.formats.feed import ParsedEntry
from apps.sources.models import Source

FEEDS = 8
ARTICLES = 40  # different texts: feeds that publish the same one have copies of it
WORDS = "river bank water night rain cellar town mayor train school bridge harbour field winter market station"

Act = Callable[[User, random.Random], object]


def now() -> datetime:
    return datetime.now(UTC)


# --- what happens -----------------------------------------------------------------------------------------------------
def publish(user: User, chance: random.Random) -> None:
    article, source = chance.randrange(ARTICLES), chance.choice(_sources())
    text = " ".join(random.Random(article).choices(WORDS.split(), k=60))
    entry = ParsedEntry(
        guid=str(chance.random()), title=f"Article {article}", content=f"<p>{text}</p>", published=now()
    )
    store([Document(source.pk, [entry], "", "", "en", now())])


def mark(user: User, chance: random.Random) -> None:
    ids = list(Posting.objects.order_by("-pk").values_list("pk", flat=True)[:200])
    if ids:
        actions.marks.mark_read(
            user, chance.sample(ids, min(len(ids), chance.choice([1, 1, 1, 5]))), read=chance.random() < 0.7, now=now()
        )


def mark_all(user: User, chance: random.Random) -> None:
    scope = chance.choice([Scope("all"), Scope("source", chance.choice(_sources()).pk)])
    before = now() - timedelta(seconds=chance.uniform(0, 20)) if chance.random() < 0.5 else None
    actions.marking.mark_all_read(user, scope, shown_at=now(), now=now(), before=before)


def undo(user: User, chance: random.Random) -> None:
    if marked := list(MarkedAll.objects.filter(user=user).values_list("pk", flat=True)):
        actions.marking.undo_mark_all(user, chance.choice(marked), now=now())


def follow(user: User, chance: random.Random) -> None:
    source = chance.choice(_sources())
    if chance.random() < 0.5:
        actions.follows.unfollow(user, source.pk)
    actions.follows.follow(user, [source.pk], now=now())


def expire(user: User, chance: random.Random) -> None:
    Posting.objects.filter(pk=Posting.objects.order_by("?").values("pk")[:1]).delete()


def see(user: User, chance: random.Random) -> None:
    store_counts(user)


def compact(user: User, chance: random.Random) -> None:
    if chance.random() < 0.5:
        join_changes()
    else:
        actions.marking.advance_all(now=now())


ACTS: dict[Act, int] = {publish: 25, mark: 30, mark_all: 5, undo: 3, follow: 3, expire: 3, see: 25, compact: 2}


def _sources() -> list[Source]:
    return list(Source.objects.order_by("pk"))


# --- what must hold ---------------------------------------------------------------------------------------------------
def wrong_counts(user: User) -> int:
    """The number of feeds, and of totals, whose counts differ from what the states of single postings say."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        followed = set(Follow.objects.filter(user=user).values_list("source_id", flat=True))
        articles: defaultdict[int, set[int]] = defaultdict(set)
        postings = Counter[int]()
        for posting in queries.unread(Posting.objects.filter(source_id__in=followed), user):
            articles[posting.source_id].add(-posting.pk if posting.first_copy is None else posting.first_copy)
            postings[posting.source_id] += 1
        counted = {follow.source_id: found for follow, found in queries.counted_sources(user)}
        exact = queries.unread_counts(user)
    wrong = sum(counted[pk].count != len(articles[pk]) for pk in followed | counted.keys())
    whole = Unread.of_all(counted.values()).count
    return wrong + (whole != len(set().union(*articles.values()))) + (exact != dict(postings))


# --- the devices ------------------------------------------------------------------------------------------------------
class Devices:
    """Processes that act for one person, each killed now and then, and replaced."""

    def __init__(self, user: User, *, count: int, operations: int, seed: int) -> None:
        self.user, self.operations, self.seed = user, operations, seed
        self.context = multiprocessing.get_context("fork")
        self.done: Synchronized[int] = self.context.Value("i", 0)
        self.errors: Synchronized[int] = self.context.Value("i", 0)
        self.count, self.started = count, 0
        self.running: list[BaseProcess] = []

    def start(self) -> None:
        connections.close_all()  # none is shared with a child
        while len(self.running) < self.count:
            self.started += 1
            self.running.append(self.context.Process(target=self._act, args=(self.seed + self.started,)))
            self.running[-1].start()

    def kill_one(self, chance: random.Random) -> None:
        victim = self.running.pop(chance.randrange(len(self.running)))
        victim.kill()
        victim.join()
        self.start()

    def stop(self) -> None:
        for process in self.running:
            process.join()

    def _act(self, seed: int) -> None:
        chance = random.Random(seed)
        while self.done.value < self.operations:
            [act] = chance.choices(list(ACTS), list(ACTS.values()))
            try:
                act(self.user, chance)
            except IntegrityError:
                pass  # a posting has expired before it was marked
            except Exception:
                with self.errors.get_lock():
                    self.errors.value += 1
                raise
            with self.done.get_lock():
                self.done.value += 1


def run(user: User, *, devices: int, operations: int, kills: int, seed: int) -> dict[str, int]:
    """Let devices act until so many operations are done; compare the counts again and again."""
    chance = random.Random(seed)
    acting = Devices(user, count=devices, operations=operations, seed=seed)
    acting.start()
    wrong = checks = killed = 0
    while acting.done.value < operations and not acting.errors.value:
        time.sleep(0.05)
        wrong, checks = wrong + wrong_counts(user), checks + 1
        if killed < kills * acting.done.value / operations:
            killed += 1
            acting.kill_one(chance)
    acting.stop()
    return {
        "operations": acting.done.value,
        "devices": devices,
        "killed": killed,
        "checks": checks + 1,
        "errors": acting.errors.value,
        "wrong_counts": wrong + wrong_counts(user),
    }
