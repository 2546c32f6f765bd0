"""What is done to the parts of a portal, in an order that a seed decides."""

import random
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lab.chaos.topology import WORKERS, Stage
from lab.chaos.watch import Watch

SHORTEST, LONGEST = 2.0, 4.0  # s that a part is frozen
UNNOTICED = 40.0  # s that a host is cut off: longer than it takes to notice
LONG_ENOUGH = 7.0  # s that a leading beat is frozen: longer than it is waited for


@dataclass(frozen=True)
class Fault:
    name: str
    carry_out: Callable[["Hands"], str]  # the part that suffered it


@dataclass
class Hands:
    """What faults are done with."""

    stage: Stage
    watch: Watch
    chance: random.Random
    when_leader_gone: Callable[[str, Callable[[], None]], None]  # measures who takes over, and then does something

    def kill(self, name: str) -> str:
        part = self.stage.parts[name]
        part.kill()
        part.start()
        part.await_ready()
        return name

    def freeze(self, name: str) -> str:
        part = self.stage.parts[name]
        part.freeze()
        time.sleep(self.chance.uniform(SHORTEST, LONGEST))
        part.thaw()
        return name


def _a_worker(hands: Hands) -> str:
    return hands.chance.choice(WORKERS)


def _restart_worker(hands: Hands) -> str:
    part = hands.stage.parts[_a_worker(hands)]
    part.end()
    part.start()
    return part.name


def _kill_leader(hands: Hands) -> str:
    leader = hands.watch.leader()
    part = hands.stage.parts[leader]
    part.kill()
    hands.when_leader_gone(leader, part.start)
    return leader


def _freeze_leader(hands: Hands) -> str:
    leader = hands.watch.leader()
    part = hands.stage.parts[leader]
    part.freeze()
    until = time.monotonic() + LONG_ENOUGH
    hands.when_leader_gone(leader, lambda: time.sleep(max(0.0, until - time.monotonic())))
    part.thaw()
    return leader


def _wipe_broker(hands: Hands) -> str:
    """All messages are gone; with Valkey the cache, too."""
    part = hands.stage.parts["broker"]
    part.kill()
    shutil.rmtree(hands.stage.messages)
    part.start()
    part.await_ready()
    return part.name


def _kill_postgres(hands: Hands) -> str:
    """Its first process; the others notice, and it recovers from its log."""
    part = hands.stage.parts["postgres"]
    part.kill_first()
    part.start()
    part.await_ready()
    return part.name


def _cut_off(hands: Hands) -> str:
    """For longer than both sides take to notice."""
    worker, hosts = _a_worker(hands), hands.stage.hosts
    assert hosts is not None
    hosts.cut_off(worker)
    time.sleep(UNNOTICED)
    hosts.heal(worker)
    return worker


FAULTS = (
    Fault("kill a worker", lambda hands: hands.kill(_a_worker(hands))),
    Fault("kill the leading beat", _kill_leader),
    Fault("kill the broker", lambda hands: hands.kill("broker")),
    Fault("freeze the leading beat", _freeze_leader),
    Fault("kill Postgres", _kill_postgres),
    Fault("freeze a worker", lambda hands: hands.freeze(_a_worker(hands))),
    Fault("kill the web", lambda hands: hands.kill("web")),
    Fault("lose all messages", _wipe_broker),
    Fault("freeze Postgres", lambda hands: hands.freeze("postgres")),
    Fault("freeze the broker", lambda hands: hands.freeze("broker")),
    Fault("restart a worker", _restart_worker),
    Fault("freeze the web", lambda hands: hands.freeze("web")),
)
CUT_OFF = Fault("cut off a host", _cut_off)


def drawn(count: int, chance: random.Random, *, with_hosts: bool, only: str = "") -> Iterator[Fault]:
    """So many faults; each kind comes once before any comes again. Where there are hosts, one is cut off first.

    With `only`, all are of the kind of that name.
    """
    kinds = [fault for fault in FAULTS if only in ("", fault.name)]
    deck: list[Fault] = []
    for _ in range(count):
        if not deck:
            deck = chance.sample(kinds, len(kinds)) + [CUT_OFF] * (with_hosts and not only)
        yield deck.pop()
