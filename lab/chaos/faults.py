"""Faults injected into the processes of a portal, in an order draw_faults from a seed."""

import random
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from lab.chaos.disks import NEARLY_FULL, Ballast, may_mount
from lab.chaos.topology import BEATS, RETRIEVING, WORKERS, Topology
from lab.chaos.watch import Watch, wait_for

MIN_FREEZE_SECONDS, MAX_FREEZE_SECONDS = 2.0, 4.0
PARTITION_SECONDS = 40.0  # longer than both sides need to detect it
AWAY_SECONDS = 40.0  # longer than every time-out of a server's clients
WRONG_CLOCK_SECONDS = 20.0  # of work with it
FAKE_TIME = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)  # of Debian's package faketime
LEADER_FREEZE_SECONDS = 7.0  # longer than the standby waits for its leader


@dataclass(frozen=True)
class Fault:
    name: str
    inject: Callable[["FaultContext"], str]  # returns the name of the process
    alert: str = ""  # that an operator gets while it lasts


@dataclass
class FaultContext:
    """The system under test, as faults see it."""

    topology: Topology
    watch: Watch
    chance: random.Random
    when_leader_gone: Callable[[str, Callable[[], None]], None]  # measures the takeover, then calls
    lasting: float | None = None  # s that faults last which last at all; None: the usual time of their kind
    await_alert: Callable[[], object] | None = None  # returns when the alert of the present fault fires

    def leader(self) -> str:
        """The leading beat; on a busy machine it may just have lost that to the other one."""
        wait_for(lambda: "" if self.watch.leader() else "a beat that leads", "a leader to harm")
        return self.watch.leader() or self.leader()

    def last(self, seconds: float) -> None:
        """Let a fault last so long, or until its alert fires."""
        if self.await_alert is None:
            time.sleep(self.lasting or seconds)
        else:
            self.await_alert()

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


def _keep_away(context: FaultContext, name: str) -> str:
    """As if the machine of a server was down for long; workers and beat have to reconnect by themselves."""
    process = context.topology.processes[name]
    process.kill()
    context.last(AWAY_SECONDS)
    process.start()
    process.await_ready()
    return name


def _keep_frozen(context: FaultContext, names: Sequence[str]) -> str:
    """As if a machine hung: what its processes do afterwards must match no claim."""
    for name in names:
        context.topology.processes[name].freeze()
    context.last(AWAY_SECONDS)
    for name in names:
        context.topology.processes[name].thaw()
    return ", ".join(names)


def _set_clock_wrong(context: FaultContext, name: str) -> str:
    """A program whose machine's clock is an hour ahead must plan and store with the database's time."""
    process = context.topology.processes[name]
    sound, wrong = process.program, {"LD_PRELOAD": str(FAKE_TIME), "FAKETIME": "+1h", "DONT_FAKE_MONOTONIC": "1"}
    process.end()
    module = sound.command.index("-m") + 1
    command = [*sound.command[:module], "lab.chaos.sleeping", *sound.command[module:]]
    environment = {**(sound.environment or {}), **wrong, "NO_FAKE_STAT": "1"}
    process.program = sound._replace(command=command, environment=environment)
    began = datetime.now(UTC)
    process.start()
    missing = f"{name} with a wrong clock"
    wait_for(lambda: "" if name in context.watch.active_programs(began) else missing, "a program to start")
    context.last(WRONG_CLOCK_SECONDS)
    process.end()
    process.program = sound
    process.start()
    return name


def _kill_postgres(context: FaultContext) -> str:
    """Kill the postmaster; its children exit, and Postgres recovers from its log."""
    process = context.topology.processes["postgres"]
    process.kill_first()
    process.start()
    process.await_ready()
    return process.name


def _fill_disk(context: FaultContext) -> str:
    """Postgres and the broker can write nothing; what they have promised must be there when there is room again."""
    with Ballast(context.topology.endpoints.var) as ballast:
        ballast.leave(NEARLY_FULL)
        if context.await_alert is not None:
            context.await_alert()
        ballast.fill(context.lasting or AWAY_SECONDS)
    return "all"


def _cut_off(context: FaultContext) -> str:
    worker, hosts = _a_worker(context), context.topology.hosts
    assert hosts is not None
    hosts.cut_off(worker)
    context.last(PARTITION_SECONDS)
    hosts.heal(worker)
    return worker


def _cut_off_retrieval(context: FaultContext) -> str:
    """As if the cable to a data centre was cut: servers, site and beats stay together, without a retrieval worker."""
    hosts = context.topology.hosts
    assert hosts is not None
    for worker in RETRIEVING:
        hosts.cut_off(worker)
    context.last(PARTITION_SECONDS)
    for worker in RETRIEVING:
        hosts.heal(worker)
    return ", ".join(RETRIEVING)


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
ON_SMALL_DISK = Fault("fill the disk", _fill_disk, "DiskFull")
# Injected only by name, as they take long or need a program or a privilege, and when alerts are awaited.
BY_NAME = (
    Fault("keep the broker away", lambda context: _keep_away(context, "broker"), "RetrievalsOverdue"),
    Fault("keep Postgres away", lambda context: _keep_away(context, "postgres"), "PortalUnreachable"),
    Fault("keep both beats frozen", lambda context: _keep_frozen(context, BEATS), "RetrievalsOverdue"),
    Fault("keep all retrieval workers frozen", lambda context: _keep_frozen(context, RETRIEVING), "NoRetrievalWorker"),
    *(
        [
            Fault("set a clock wrong", lambda context: _set_clock_wrong(context, _a_worker(context))),
            Fault("set the site's clock wrong", lambda context: _set_clock_wrong(context, "web"), "ClockWrong"),
        ]
        if FAKE_TIME
        else []
    ),
    *([ON_SMALL_DISK] if may_mount() else []),
)
CUT_OFF = Fault("cut off a host", _cut_off)
CUT_OFF_RETRIEVAL = Fault("cut off all retrieval workers", _cut_off_retrieval, "NoRetrievalWorker")


def draw_faults(
    count: int, chance: random.Random, *, with_hosts: bool, only: str = "", with_alerts: bool = False
) -> Iterator[Fault]:
    """Draw faults; each kind comes once before any comes again, and with hosts, cutting one off comes first.

    With `only`, all faults are of that kind; `with_alerts`, of those that an operator gets an alert of.
    """
    kinds = list(FAULTS)
    if only or with_alerts:
        of_hosts = [CUT_OFF_RETRIEVAL] if with_hosts else []
        kinds = [fault for fault in (*FAULTS, *BY_NAME, *of_hosts) if (fault.name == only if only else fault.alert)]
    deck: list[Fault] = []
    for _ in range(count):
        if not deck:
            deck = chance.sample(kinds, len(kinds)) + [CUT_OFF] * (with_hosts and not (only or with_alerts))
        yield deck.pop()
