"""The whole course: a replay that is read while parts die, all of it worked out anew meanwhile, and the comparison."""

import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TypeVar

import psycopg
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.db.models import Max

from apps.database.statements import fetch
from apps.postings.models import Posting
from apps.retrieval.actions import ask_soon
from apps.retrieval.models import Retrieval, Schedule
from apps.retrieval.scheduler.claims import LEASE
from lab.benchmarks.lateness import Burst
from lab.chaos import comparison, workload
from lab.chaos.alerts import let_time_pass
from lab.chaos.derived import tables
from lab.chaos.faults import Fault, Hands, drawn
from lab.chaos.places import SERIAL
from lab.chaos.rabbitmq import free_port
from lab.chaos.topology import BEATS, WORKERS, Stage
from lab.chaos.watch import Watch, wait_for
from lab.evaluations.replays.verification import Verdict, collect, compare
from lab.worlds import queries
from lab.worlds.addresses import DOMAIN
from lab.worlds.answers import Options
from lab.worlds.receivers import Call, receiving
from lab.worlds.record import RecordFile, read_record
from lab.worlds.server import Replay, serving
from lab.worlds.timeline import Timeline
from portal.launcher.embedded import StartError
from portal.launcher.startup import ROOT

CALMEST = 1.0  # s at most between the end of a fault and the next one
RUN_OUT = 240.0  # s that the portal has at the end for what is left
REPLAYED_SHARE = 2 / 3  # of the faults happen while the replay is read, the others while all is worked out anew
REFUSED = 0.3  # of the calls to webhooks
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


@dataclass(frozen=True)
class Suffered:
    """One fault, and how the portal went on."""

    name: str
    part: str
    at: float  # s since the portal began
    whole_after: float  # s until every part was at work again
    pause: float  # s, the longest meanwhile in which no retrieval was stored
    takeover: float | None  # s until another beat led


@dataclass
class Outcome:
    suffered: list[Suffered] = field(default_factory=list)
    verdict: Verdict = field(default_factory=Verdict)
    findings: comparison.Findings = field(default_factory=comparison.Findings)
    stranded: int = 0  # sources without an instant at which they would be asked again
    retrievals: int = 0
    lateness: Burst = field(default_factory=lambda: Burst([], [], 0))  # of all retrievals, in s
    revived: int = 0  # parts that ended by themselves, because others had

    @property
    def passed(self) -> bool:
        return self.verdict.passed and not (self.findings.differing or self.findings.faults or self.stranded)


class Course:
    """Everything from the first process to the last row that is compared."""

    def __init__(self, stage: Stage, wanted: Wanted, say: Say) -> None:
        self._stage, self._wanted, self._say = stage, wanted, say
        self._chance = random.Random(wanted.seed)
        self._chance_of_calls = random.Random(wanted.seed)  # which come from threads of their own, in any order
        self._watch = Watch(stage.places.database)
        self._hands = Hands(stage, self._watch, self._chance, self._measure_takeover)
        self._takeover: float | None = None
        self._begun = self._suffered = 0.0  # of time.monotonic(): the portal, the latest fault
        self._record = stage.places.var / "record.jsonl"
        self.outcome = Outcome()

    def run(self) -> Outcome:
        faults = list(
            drawn(self._wanted.faults, self._chance, with_hosts=self._stage.hosts is not None, only=self._wanted.only)
        )
        self._say("Beginning the servers")
        self._stage.begin_servers()
        self._stage.migrate()
        self._copy_database()
        with receiving() as web:
            web.behave = self._refuse_some
            # By the settings, not by leases: these would be lost with the cache, which is killed, too.
            self._begin_portal([f".{DOMAIN}:{(port := free_port())}", web.open_host])
            workload.add_people(web)
            self._live_through(faults, port)
        self._compare()
        return self.outcome

    def _live_through(self, faults: Sequence[Fault], port: int) -> None:
        first = round(len(faults) * REPLAYED_SHARE)
        with self._serving(port) as replay:
            workload.add_sources(self._feeds, replay.addresses)
            self._suffer(faults[:first], until=replay.timeline.real(self._end))
            self._finish_reading(replay)
            self._say("Working out anew, twice, what follows from postings")
            _persistently(tables.begin_anew)
            self._suffer(faults[first:], until=0.0)
            self._finish_work()
            self.outcome.lateness = _persistently(_lateness)
            self._stage.end_portal()

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
        """For the serial run, while it is empty and has no sessions."""
        with psycopg.connect(self._stage.places.other_database("postgres"), autocommit=True) as administration:
            administration.execute(f"CREATE DATABASE {SERIAL} TEMPLATE {connection.settings_dict['NAME']}")

    def _refuse_some(self, _: Call) -> int:
        return 503 if self._chance_of_calls.random() < REFUSED else 200

    def _begin_portal(self, open_hosts: Sequence[str]) -> None:
        self._say("Beginning the portal")
        settings.RETRIEVAL_OPEN_HOSTS = open_hosts
        self._stage.begin_portal(open_hosts)
        wait_for(lambda: self._missing(EVER, retrievals=False), "the portal to begin")
        self._say("Replaying")
        self._begun = time.monotonic()

    # --- faults -------------------------------------------------------------------------------------------------------
    def _suffer(self, faults: Sequence[Fault], *, until: float) -> None:
        """One fault after the other, spread until an instant (seconds since 1970)."""
        for number, fault in enumerate(faults):
            left = until - datetime.now(UTC).timestamp()
            # What it takes to be whole again takes a good part of the time, too.
            time.sleep(max(self._chance.uniform(0, CALMEST), left / (len(faults) - number) / 2))
            self.outcome.suffered.append(self._carry_out(fault))

    def _carry_out(self, fault: Fault) -> Suffered:
        at, begun, self._takeover = datetime.now(UTC), time.monotonic(), None
        self._suffered = begun
        part = fault.carry_out(self._hands)
        over = datetime.now(UTC)
        wait_for(lambda: self._missing(over), f"all to be at work again ({fault.name}, {part})")
        whole_after = time.monotonic() - begun
        stored = [at, *self._watch.stored(at), datetime.now(UTC)]
        pause = max((later - earlier).total_seconds() for earlier, later in pairwise(stored))
        self._say(f"{fault.name} ({part}): whole again after {whole_after:.1f} s")
        return Suffered(fault.name, part, begun - self._begun, whole_after, pause, self._takeover)

    def _measure_takeover(self, former: str, meanwhile: Callable[[], None]) -> None:
        def missing() -> str:
            return "" if self._watch.leader() not in {"", former} else "a beat that leads"

        wait_for(missing, "another beat to lead")
        self._takeover = time.monotonic() - self._suffered
        meanwhile()

    def _missing(self, since: datetime, *, retrievals: bool = True) -> str:
        """What has not worked since: a beat that leads and another, both workers, a retrieval, the site."""
        self._stage.revive()
        leader = self._watch.leader()
        if leader not in BEATS:
            return "a beat that leads"
        if not set(BEATS) - {leader} <= self._watch.standbys():
            return "a beat that stands by"
        if idle := set(WORKERS) - self._watch.heard_of(since):
            return min(idle)
        if retrievals and not self._watch.stored(since):
            return "a retrieval"
        return "" if self._stage.is_ready() else "the site"

    # --- the end ------------------------------------------------------------------------------------------------------
    def _finish_reading(self, replay: Replay) -> None:
        """Until every source has shown its last posting, and all that was served is stored."""
        self._say("Waiting for the end of the replay")
        time.sleep(max(0.0, replay.timeline.real(self._end) - datetime.now(UTC).timestamp()))
        _persistently(self._count_stranded)
        wait_for(lambda: _persistently(self._unread), "all sources to be read to their end", RUN_OUT)

    def _count_stranded(self) -> None:
        """Whoever dies leaves a lease behind, but no source that is asked later than its lease and its back-off say."""
        latest = datetime.now(UTC) + LEASE + timedelta(days=7) / workload.SPEED
        self.outcome.stranded = Schedule.objects.exclude(due_at__lte=latest).count()

    def _unread(self) -> str:
        """How many sources are not read to their end; they are asked now, as their leases were counted."""
        witnessed = collect(read_record(self._record))
        lost = self._judge().lost_count
        last = {feed.number: len(feed.instants) - 1 for feed in self._feeds if feed.instants}
        unread = {number for number, posting in last.items() if (number, posting) not in witnessed.served}
        if not unread and not lost:
            return ""
        for source_id, number in queries.replayed_sources(witnessed.start.port).items():
            if number in unread or lost:
                ask_soon(source_id, now=datetime.now(UTC))
        time.sleep(1.0)
        return f"{len(unread)} sources, {lost} postings"

    def _judge(self) -> Verdict:
        witnessed = collect(read_record(self._record))
        return compare(witnessed, queries.stored_postings(witnessed.start.port, witnessed.start.began))

    def _finish_work(self) -> None:
        self._say("Waiting for what is left to do")

        def left() -> str:
            let_time_pass()
            return comparison.left_to_do()

        wait_for(lambda: _persistently(left), "all to be worked out, and everybody to be told", RUN_OUT)

    def _compare(self) -> None:
        self._say("Comparing with a serial run")
        outcome, places = self.outcome, self._stage.places
        command = [sys.executable, "manage.py", "replay_serially", "--record", str(self._record)]
        environment = {**self._stage.environment(), "DATABASE_URL": places.other_database(SERIAL)}
        if subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode:
            raise StartError("The serial run failed; the lines above say why.")
        outcome.revived = len(self._stage.revived)
        outcome.retrievals = Retrieval.objects.count()
        outcome.verdict = self._judge()
        outcome.findings = comparison.compare_with_serial(places.other_database(SERIAL))
        comparison.check_index(outcome.findings)
        comparison.check_told(outcome.findings)
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
    """How late all retrievals were begun and stored.

    One that ended without a request counts as begun at its end, one that is still due as late as it is.
    """
    logged, overdue = fetch(_LATENESS), [late for (late,) in fetch(_OVERDUE)]
    begun, stored = ([*column, *overdue] for column in zip(*logged, strict=True)) if logged else (overdue, overdue)
    return Burst(list(begun), list(stored), len(overdue))


def _persistently(do: Callable[[], Result]) -> Result:
    """Do something with a database that may have been killed a moment ago."""
    while True:
        try:
            return do()
        except (DatabaseError, InterfaceError):
            connection.close()
            time.sleep(0.5)
