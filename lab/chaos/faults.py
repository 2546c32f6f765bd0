"""Faults injected into the processes of a portal, in an order draw_faults from a seed."""

import random
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from lab.chaos.topology import WORKERS, Topology
from lab.chaos.watch import Watch, wait_for

MIN_FREEZE_SECONDS, MAX_FREEZE_SECONDS = 2.0, 4.0
PARTITION_SECONDS = 40.0  # longer than both sides need to detect it
BROKER_AWAY_SECONDS = 40.0  # longer than every time-out of its clients
WRONG_CLOCK_SECONDS = 20.0  # of work with it
FAKE_TIME = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)  # of Debian's package faketime
LEADER_FREEZE_SECONDS = 7.0  # longer than the standby waits for its leader


@dataclass(frozen=True)
class Fault:
    name: str
    inject: Callable[["FaultContext"], str]  # the part that injected it


@dataclass
class FaultContext:
    """The system under test, as faults see it."""

    topology: Topology
    watch: Watch
    chance: random.Random
    when_leader_gone: Callable[[str, Callable[[], None]], None]  # measures the takeover, then calls

    def leader(self) -> str:
        """The leading beat; on a busy machine it may just have lost that to the other one."""
        wait_for(lambda: "" if self.watch.leader() else "a beat that leads", "a leader to harm")
        return self.watch.leader() or self.leader()

    def kill(self, name: str) -> str:
        process = self.topology.processes[name]
        process.kill()
        process.start()
        process.await_ready()
        return name

    def freeze(self, name: str) -> str:
        process = self.topology.processes[name]
        process.freeze()
        time.sleep(self.chance.uniform(MIN_FREEZE_SECONDS, MAX_FREEZE_SECONDS))
        process.thaw()
        return name


def _a_worker(context: FaultContext) -> str:
    return context.chance.choice(WORKERS)


def _restart_worker(context: FaultContext) -> str:
    process = context.topology.processes[_a_worker(context)]
    process.end()
    process.start()
    return process.name


def _kill_leader(context: FaultContext) -> str:
    leader = context.leader()
    process = context.topology.processes[leader]
    process.kill()
    context.when_leader_gone(leader, process.start)
    return leader


def _freeze_leader(context: FaultContext) -> str:
    leader = context.leader()
    process = context.topology.processes[leader]
    process.freeze()
    until = time.monotonic() + LEADER_FREEZE_SECONDS
    context.when_leader_gone(leader, lambda: time.sleep(max(0.0, until - time.monotonic())))
    process.thaw()
    return leader


def _wipe_broker(context: FaultContext) -> str:
    """All messages are lost; with Valkey, so is the cache."""
    process = context.topology.processes["broker"]
    process.kill()
    shutil.rmtree(context.topology.messages)
    process.start()
    process.await_ready()
    return process.name


def _keep_broker_away(context: FaultContext) -> str:
    """As if the broker's machine was down for long; workers and beat have to reconnect by themselves."""
    process = context.topology.processes["broker"]
    process.kill()
    time.sleep(BROKER_AWAY_SECONDS)
    process.start()
    process.await_ready()
    return process.name


def _set_clock_wrong(context: FaultContext) -> str:
    """A worker whose machine's clock is an hour ahead must plan and store with the database's time."""
    process = context.topology.processes[_a_worker(context)]
    sound, wrong = process.program, {"LD_PRELOAD": str(FAKE_TIME), "FAKETIME": "+1h", "DONT_FAKE_MONOTONIC": "1"}
    process.end()
    process.program = replace(sound, environment={**(sound.environment or {}), **wrong})
    began = datetime.now(UTC)
    process.start()
    missing = f"{process.name} with a wrong clock"
    wait_for(lambda: "" if process.name in context.watch.active_programs(began) else missing, "a worker to start")
    time.sleep(WRONG_CLOCK_SECONDS)
    process.end()
    process.program = sound
    process.start()
    return process.name


def _kill_postgres(context: FaultContext) -> str:
    """Kill the postmaster; its children exit, and Postgres recovers from its log."""
    process = context.topology.processes["postgres"]
    process.kill_first()
    process.start()
    process.await_ready()
    return process.name


def _cut_off(context: FaultContext) -> str:
    worker, hosts = _a_worker(context), context.topology.hosts
    assert hosts is not None
    hosts.cut_off(worker)
    time.sleep(PARTITION_SECONDS)
    hosts.heal(worker)
    return worker


FAULTS = (
    Fault("kill a worker", lambda context: context.kill(_a_worker(context))),
    Fault("kill the leading beat", _kill_leader),
    Fault("kill the broker", lambda context: context.kill("broker")),
    Fault("freeze the leading beat", _freeze_leader),
    Fault("kill Postgres", _kill_postgres),
    Fault("freeze a worker", lambda context: context.freeze(_a_worker(context))),
    Fault("kill the web", lambda context: context.kill("web")),
    Fault("lose all messages", _wipe_broker),
    Fault("freeze Postgres", lambda context: context.freeze("postgres")),
    Fault("freeze the broker", lambda context: context.freeze("broker")),
    Fault("restart a worker", _restart_worker),
    Fault("freeze the web", lambda context: context.freeze("web")),
)
# Injected only by name: one takes long, and the other needs a library of the system.
BY_NAME = (
    Fault("keep the broker away", _keep_broker_away),
    *([Fault("set a clock wrong", _set_clock_wrong)] if FAKE_TIME else []),
)
CUT_OFF = Fault("cut off a host", _cut_off)


def draw_faults(count: int, chance: random.Random, *, with_hosts: bool, only: str = "") -> Iterator[Fault]:
    """Draw faults; each kind comes once before any comes again, and with hosts, cutting one off comes first.

    With `only`, all faults are of that kind.
    """
    kinds = [fault for fault in (*FAULTS, *BY_NAME) if fault.name == only] if only else list(FAULTS)
    deck: list[Fault] = []
    for _ in range(count):
        if not deck:
            deck = chance.sample(kinds, len(kinds)) + [CUT_OFF] * (with_hosts and not only)
        yield deck.pop()
