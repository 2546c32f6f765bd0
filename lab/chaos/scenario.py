"""The scenario: a replay under injected faults, recomputation of derived data, and comparison with a serial run."""

import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from typing import NamedTuple, TypeVar

import psycopg
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.db.models import Max

from apps.database.statements import fetch
from apps.postings.models import Posting
from apps.retrieval.actions import request_check
from apps.retrieval.models import Retrieval, Schedule
from apps.retrieval.scheduler.claims import LEASE
from lab.benchmarks.lateness import Burst
from lab.chaos import comparison, workload
from lab.chaos.alerts import expire_back_off
from lab.chaos.derived import tables
from lab.chaos.endpoints import SERIAL
from lab.chaos.faults import Fault, FaultContext, draw_faults
from lab.chaos.monitoring import Monitor
from lab.chaos.rabbitmq import free_port
from lab.chaos.topology import BEATS, DERIVING, WORKERS, Topology
from lab.chaos.watch import STALLED_AFTER_SECONDS, Watch, wait_for
from lab.evaluations.replays.verification import Verdict, collect, compare
from lab.worlds import queries
from lab.worlds.addresses import DOMAIN
from lab.worlds.receivers import Call, receiving
from lab.worlds.record import RecordFile, read_record
from lab.worlds.responses import Options
from lab.worlds.server import Replay, serving
from lab.worlds.timeline import Timeline
from portal.launcher.embedded import StartError
from portal.launcher.startup import ROOT

LONGEST_ALERT = 900.0  # s: some conditions must hold for ten minutes before their alert fires
MAX_CALM_SECONDS = 1.0  # between the end of a fault and the next one
REPLAYED_SHARE = 2 / 3  # of the faults happen during the replay, the others while derived data is recomputed
REFUSED_SHARE = 0.3  # of the calls to webhooks
EVER = datetime(1970, 1, 1, tzinfo=UTC)

Say = Callable[[str], None]
Result = TypeVar("Result")


@dataclass(frozen=True)
class Wanted:
    seconds: float  # of the replay
    faults: int
    seed: int
    sources: int
    only: str = ""  # the name of the one kind of fault; empty: all kinds
    with_alerts: bool = False  # faults last until an operator gets their alert
    lasting: float | None = None  # s that faults last which last at all; None: the usual time of their kind


class Alert(NamedTuple):
    name: str = ""
    after: float = 0.0  # s since its fault
    remedy: str = ""


@dataclass(frozen=True)
class InjectedFault:
    """A fault and how the portal recovered from it."""

    name: str
    process: str
    at: float  # s since the start of the portal
    recovered_after: float  # s until every process worked again
    pause: float  # s, the longest time without a stored retrieval
    takeover: float | None  # s until another beat was the leader
    alert: Alert  # that an operator got, if awaited


@dataclass
class Outcome:
    injected: list[InjectedFault] = field(default_factory=list)
    verdict: Verdict = field(default_factory=Verdict)
    findings: comparison.Findings = field(default_factory=comparison.Findings)
    stranded: int = 0  # sources that no check is planned for
    retrievals: int = 0
    lateness: Burst = field(default_factory=lambda: Burst([], [], 0))  # s, of all retrievals
    revived: int = 0  # processes that exited because another one had died

    @property
    def passed(self) -> bool:
        return self.verdict.passed and not (self.findings.differing or self.findings.faults or self.stranded)


class Scenario:
    """A run from the start of the servers to the comparison of all rows."""

    def __init__(self, topology: Topology, wanted: Wanted, say: Say) -> None:
        self._topology, self._wanted, self._say = topology, wanted, say
        self._chance = random.Random(wanted.seed)
        self._webhook_chance = random.Random(wanted.seed)  # webhooks are called by several threads
        self._watch = Watch(topology.endpoints.database)
        self._context = FaultContext(topology, self._watch, self._chance, self._measure_takeover, wanted.lasting)
        self._takeover: float | None = None
        self._monitor: Monitor | None = None
        self._alert = Alert()
        self._started_at = self._injected_at = 0.0  # time.monotonic(): the portal, the latest fault
        self._record = topology.endpoints.own / "record.jsonl"
        self.outcome = Outcome()

    def run(self) -> Outcome:
        faults = list(
            draw_faults(
                self._wanted.faults,
                self._chance,
                with_hosts=self._topology.hosts is not None,
                only=self._wanted.only,
                with_alerts=self._wanted.with_alerts,
            )
        )
        self._say("Starting the servers")
        self._topology.start_servers()
        self._topology.migrate()
        self._copy_database()
        with receiving() as web:
            web.behave = self._refuse_some
            # By the settings, not by leases in the cache, which is killed as well.
            self._start_portal([f".{DOMAIN}:{(port := free_port())}", web.open_host])
            workload.add_users(web)
            self._run_faults(faults, port)
        self._compare()
        return self.outcome

    def _run_faults(self, faults: Sequence[Fault], port: int) -> None:
        first = round(len(faults) * REPLAYED_SHARE)
        with self._serving(port) as replay, ExitStack() as stack:
            if self._wanted.with_alerts:
                folder = self._topology.endpoints.own / "prometheus"
                self._monitor = stack.enter_context(Monitor(self._topology.address, folder))
            workload.add_sources(self._feeds, replay.addresses)
            self._inject_all(faults[:first], until=replay.timeline.real(self._end))
            self._await_all_stored(replay)
            self._say("Computing derived data again, twice")
            self._topology.restart(DERIVING)  # for ten minutes they remember what many sources repeat
            _persistently(tables.reset_twice)
            self._inject_all(faults[first:], until=0.0)
            self._await_derived()
            self.outcome.lateness = _persistently(_lateness)
            self._topology.stop_portal()

    # --- before -------------------------------------------------------------------------------------------------------
    @contextmanager
    def _serving(self, port: int) -> Iterator[Replay]:
        wanted = self._wanted
        given = workload.setup(wanted.sources, wanted.seconds, wanted.seed)
        loaded = workload.feeds_of(given)
        self._feeds, self._end = loaded.feeds, loaded.end
        with (
            closing(RecordFile(self._record)) as record,
            serving(
                loaded.feeds,
                timeline=Timeline(loaded.origin, datetime.now(UTC).timestamp() + workload.LEAD, workload.SPEED),
                faults=workload.faults_of(loaded.feeds, given),
                options=Options(window=workload.WINDOW, slowness=workload.SLOWNESS, end=loaded.end),
                record=record,
                setup=given,
                port=port,
            ) as replay,
        ):
            yield replay

    def _copy_database(self) -> None:
        """Copy the empty database for the serial run, before any session uses it."""
        with psycopg.connect(self._topology.endpoints.other_database("postgres"), autocommit=True) as administration:
            administration.execute(f"CREATE DATABASE {SERIAL} TEMPLATE {connection.settings_dict['NAME']}")

    def _refuse_some(self, _: Call) -> int:
        return 503 if self._webhook_chance.random() < REFUSED_SHARE else 200

    def _start_portal(self, open_hosts: Sequence[str]) -> None:
        self._say("Starting the portal")
        settings.RETRIEVAL_OPEN_HOSTS = open_hosts
        self._topology.start_portal(open_hosts)
        wait_for(lambda: self._not_working(EVER, retrievals=False), "the portal to start")
        self._say("Replaying")
        self._started_at = time.monotonic()

    # --- faults -------------------------------------------------------------------------------------------------------
    def _inject_all(self, faults: Sequence[Fault], *, until: float) -> None:
        """Inject faults one after the other, spread over the time until `until` (seconds since 1970)."""
        for number, fault in enumerate(faults):
            left = until - datetime.now(UTC).timestamp()
            # Recovery takes about the other half of the time.
            time.sleep(max(self._chance.uniform(0, MAX_CALM_SECONDS), left / (len(faults) - number) / 2))
            self.outcome.injected.append(self._inject(fault))

    def _inject(self, fault: Fault) -> InjectedFault:
        at, begun, self._takeover = datetime.now(UTC), time.monotonic(), None
        self._injected_at, self._alert = begun, Alert()
        self._context.await_alert = partial(self._await_alert, fault.alert) if self._monitor and fault.alert else None
        process = fault.inject(self._context)
        over = datetime.now(UTC)
        wait_for(lambda: self._not_working(over), f"all processes to work again ({fault.name}, {process})")
        recovered_after = time.monotonic() - begun
        stored = [at, *self._watch.stored(at), datetime.now(UTC)]
        pause = max((later - earlier).total_seconds() for earlier, later in pairwise(stored))
        self._say(f"{fault.name} ({process}): recovered after {recovered_after:.1f} s")
        return InjectedFault(
            fault.name, process, begun - self._started_at, recovered_after, pause, self._takeover, self._alert
        )

    def _await_alert(self, name: str) -> None:
        assert self._monitor is not None
        firing = self._monitor.firing

        def missing() -> str:
            if (remedy := firing().get(name)) is None:
                return f"the alert {name}"
            self._alert = Alert(name, time.monotonic() - self._injected_at, remedy)
            return ""

        self._await_end(missing, "an alert", LONGEST_ALERT)

    def _measure_takeover(self, former: str, meanwhile: Callable[[], None]) -> None:
        def missing() -> str:
            return "" if self._watch.leader() not in {"", former} else "a beat that leads"

        wait_for(missing, "another beat to lead")
        self._takeover = time.monotonic() - self._injected_at
        meanwhile()

    def _not_working(self, since: datetime, *, retrievals: bool = True) -> str:
        """The first of leader, standby beat, workers, retrievals and site that has not worked since; "" if all have."""
        self._topology.restart_ended()
        leader = self._watch.leader()
        if leader not in BEATS:
            return "a beat that leads"
        if not set(BEATS) - {leader} <= self._watch.standbys():
            return "a standby beat"
        if idle := set(WORKERS) - self._watch.active_programs(since):
            return min(idle)
        if retrievals and not self._watch.stored(since):
            return "a retrieval"
        return "" if self._topology.is_ready() else "the site"

    # --- the end ------------------------------------------------------------------------------------------------------
    def _await_all_stored(self, replay: Replay) -> None:
        """Wait until every source has published its last posting and all served postings are stored."""
        self._say("Waiting for the end of the replay")
        time.sleep(max(0.0, replay.timeline.real(self._end) - datetime.now(UTC).timestamp()))
        _persistently(self._count_stranded)
        self._await_end(self._unstored, "all sources to be stored completely")

    def _count_stranded(self) -> None:
        """Count sources due later than lease and back-off allow; a dying worker leaves no more than a lease behind."""
        latest = datetime.now(UTC) + LEASE + timedelta(days=7) / workload.SPEED
        self.outcome.stranded = Schedule.objects.exclude(due_at__lte=latest).count()

    def _unstored(self) -> str:
        """Describe what is not stored yet, and make those sources due: stranded ones were counted before."""
        witnessed = collect(read_record(self._record))
        lost = self._judge().lost_count
        last = {feed.number: len(feed.times) - 1 for feed in self._feeds if feed.times}
        unread = {number for number, posting in last.items() if (number, posting) not in witnessed.served}
        if not unread and not lost:
            return ""
        for source_id, number in queries.replayed_sources(witnessed.start.port).items():
            if number in unread or lost:
                request_check(source_id, now=datetime.now(UTC))
        time.sleep(1.0)
        return f"{len(unread)} sources, {lost} postings"

    def _judge(self) -> Verdict:
        witnessed = collect(read_record(self._record))
        return compare(witnessed, queries.stored_postings(witnessed.start.port, witnessed.start.began))

    def _await_derived(self) -> None:
        self._say("Waiting for the remaining work")

        def left() -> str:
            expire_back_off()
            return comparison.remaining_work()

        self._await_end(left, "derived data and notifications")

    def _await_end(self, missing: Callable[[], str], what: str, stalled_after: float = STALLED_AFTER_SECONDS) -> None:
        """Wait until nothing is missing; otherwise report that as a fault, and still compare the rest."""
        try:
            wait_for(lambda: _persistently(missing), what, stalled_after)
        except StartError as error:
            self.outcome.findings.faults.append(str(error))

    def _compare(self) -> None:
        self._say("Comparing with a serial run")
        outcome, endpoints = self.outcome, self._topology.endpoints
        command = [sys.executable, "manage.py", "replay_serially", "--record", str(self._record)]
        environment = {**self._topology.environment(), "DATABASE_URL": endpoints.other_database(SERIAL)}
        if subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode:
            raise StartError("The serial run failed; the lines above say why.")
        outcome.revived = len(self._topology.revived)
        outcome.retrievals = Retrieval.objects.count()
        outcome.verdict = self._judge()
        comparison.compare_with_serial(outcome.findings, endpoints.other_database(SERIAL))
        comparison.check_copies(outcome.findings, endpoints.other_database(SERIAL))
        comparison.check_index(outcome.findings)
        comparison.check_notifications(outcome.findings)
        now = Posting.objects.aggregate(latest=Max("published_at"))["latest"]
        comparison.compare_derived(outcome.findings, now)


_LATENESS = """
SELECT extract(epoch FROM coalesce(begun_at, stored_at) - due_at)::float8,
    extract(epoch FROM stored_at - due_at)::float8
FROM retrieval_retrieval
"""
_OVERDUE = """
SELECT extract(epoch FROM now() - least(coalesce(first_due_at, due_at), due_at))::float8 FROM retrieval_schedule
WHERE first_due_at IS NOT NULL OR due_at <= now()
"""


def _lateness() -> Burst:
    """How late all retrievals began and were stored.

    A retrieval without a request counts as begun at its end, a source that is still due with its lateness so far.
    """
    logged, overdue = fetch(_LATENESS), [late for (late,) in fetch(_OVERDUE)]
    begun, stored = ([*column, *overdue] for column in zip(*logged, strict=True)) if logged else (overdue, overdue)
    return Burst(list(begun), list(stored), len(overdue))


def _persistently(do: Callable[[], Result]) -> Result:
    """Retry until the database, which may just have been killed, answers."""
    while True:
        try:
            return do()
        except (DatabaseError, InterfaceError):
            connection.close()
            time.sleep(0.5)
