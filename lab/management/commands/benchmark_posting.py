"""What a new posting costs until everything is derived from it, and a feed without any: CPU of all processes."""

import tempfile
import time
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import redis
from django.conf import settings
from django.core.management.base import CommandError
from django.utils.timezone import now

from apps.accounts.models import User
from apps.database.statements import fetch
from apps.following.actions.follows import follow
from apps.postings.models import Posting
from apps.retrieval.models import Retrieval, Schedule
from apps.search.actions.saved import save_search
from apps.search.models import SavedSearch
from lab.benchmarks.bursts import set_due, settle, wait_until, wait_until_idle, wait_until_started
from lab.benchmarks.steps import VARIABLE, read_steps
from lab.harness import LabCommand, clear_errors, command, cpu_seconds, cpu_seconds_of_family, postgres_pid, running
from lab.harness import table as table_of
from lab.worlds.actions import add_feeds
from lab.worlds.feed import Feed
from lab.worlds.loading import Wanted, load
from lab.worlds.server_process import POSTINGS, Server, serving_apart
from lab.worlds.trace import TraceError

ROLES = ("retrieval", "derive", "beat")
NAME = "reader"
# Some of them occur in the made-up postings, some in recorded ones, some in none.
SEARCHES = (
    "storm",
    "government budget",
    "intitle:league",
    "vote OR election",
    '"climate change"',
    "Regierung",
    "museum",
)
RECORDED_DAYS = 60.0  # the first of a recording
IDLE = 3  # rests, in which nothing is published
MILLISECONDS = 1_000.0
OF_STEPS = 0.005  # ms; cheaper ones are not shown


@dataclass(slots=True)
class Span:
    """A time, and the CPU seconds that each process used in it."""

    units: int  # postings or retrievals
    began: float  # s since the epoch
    ended: float = 0.0
    cpu: dict[str, float] = field(default_factory=dict)

    @property
    def ms(self) -> float:
        """CPU of all processes for each unit."""
        return MILLISECONDS * sum(self.cpu.values()) / self.units


class Command(LabCommand):
    help = f"{__doc__} Real broker, beat and workers, and feeds on loopback."
    fills_database = True
    seed = 1

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--feeds", type=int, default=300, help="each on a host of its own (default: %(default)s)")
        parser.add_argument("--new", type=int, default=20, help="postings of each feed at once (default: %(default)s)")
        parser.add_argument("--changes", type=int, default=1, help="times that all publish (default: %(default)s)")
        parser.add_argument("--rounds", type=int, default=10, help="without new postings (default: %(default)s)")
        parser.add_argument(
            "--rest",
            type=float,
            default=32.0,
            help="s after each change; segments are built each thirty (default: 32)",
        )
        parser.add_argument("--items", type=Path, metavar="FILE", help="recorded texts, items.jsonl.xz: src, t, title")
        parser.add_argument("--sources", type=Path, metavar="FILE", help="their feeds, sources.csv")

    def measure(
        self,
        *args: Any,
        feeds: int,
        new: int,
        changes: int,
        rounds: int,
        rest: float,
        items: Path | None,
        sources: Path | None,
        seed: int,
        **options: Any,
    ) -> Mapping[str, float]:
        with clear_errors(TraceError, OSError):
            recorded = _recorded(items, sources)
        with (
            tempfile.NamedTemporaryFile() as file,
            serving_apart(feeds, seed=seed, changes=changes, at_once=new, recorded=recorded) as server,
        ):
            began = datetime.now(UTC)
            lines = {role: _counting(command(role)) for role in ROLES}
            with running(lines, **{VARIABLE: file.name, "WIREBEAT_HOST_GAP": "0"}) as started:
                wait_until_started(started, began)
                meter = _Meter({role: process.pid for role, process in started.items()})
                spans = self._spans(server, meter, new=new, changes=changes, rounds=rounds, rest=rest)
            steps = _of_steps(Path(file.name), spans)
        self._print(spans, steps)
        return _figures(spans, steps)

    def _spans(
        self, server: Server, meter: "_Meter", *, new: int, changes: int, rounds: int, rest: float
    ) -> dict[str, Span]:
        feeds, ids, spans = len(server.feeds), list[int](), dict[str, Span]()
        wait_until_idle()
        time.sleep(rest)
        with self.console.status("idle"), meter.span(1) as spans["idle"]:
            time.sleep(IDLE * rest)
        with self.console.status("importing"), meter.span(feeds * POSTINGS) as spans["import"]:
            ids += add_feeds(server.feeds, server.addresses, speed=1.0, min_gap=None, now=now())
            _read_along(ids)
            _wait_until_derived(feeds * POSTINGS, rest)
        settle(ids)
        with self.console.status("new postings"), meter.span(feeds * new * changes) as spans["new"]:
            for number in range(changes):
                server.publish()
                set_due(ids)
                _wait_until_derived(feeds * (POSTINGS + new * (number + 1)), rest)
        for name, forget in (("not modified", False), ("same bytes", True)):
            settle(ids)
            with self.console.status(name), meter.span(feeds * rounds) as spans[name]:
                for _ in range(rounds):
                    if forget:
                        Schedule.objects.update(etag="", last_modified="")
                    _retrieve_all(ids)
        return spans

    def _print(self, spans: Mapping[str, Span], steps: Mapping[str, Mapping[str, float]]) -> None:
        measured = {name: span for name, span in spans.items() if name != "idle"}
        table = table_of(
            "CPU in ms",
            "",
            "a posting imported",
            "a new posting",
            "a feed not modified",
            "with the same bytes",
        )
        for role in spans["import"].cpu:
            table.add_row(role, *(f"{MILLISECONDS * each.cpu[role] / each.units:.2f}" for each in measured.values()))
        table.add_row("all", *(f"{each.ms:.2f}" for each in measured.values()))
        idle = _idle(spans)
        shares = (MILLISECONDS * idle * (each.ended - each.began) / each.units for each in measured.values())
        table.add_row("of it what an idle portal uses", *(f"{share:.2f}" for share in shares))
        for name, costs in sorted(steps.items(), key=lambda pair: -sum(pair[1].values())):
            if any(cost >= OF_STEPS for cost in costs.values()):
                table.add_row(f"  {name}", *(f"{costs.get(each, 0.0):.2f}" for each in measured))
        self.console.print(table)


def _recorded(items: Path | None, sources: Path | None) -> Sequence[Feed]:
    if items is None or sources is None:
        return ()
    wanted = Wanted(0, items, sources, good=False, begin=None, days=RECORDED_DAYS, history_days=0, seed=0)
    return load(wanted, lambda lines: lines).feeds


def _counting(line: Sequence[str]) -> list[str]:
    """The command line of a process of Celery, with the app that counts."""
    return ["lab.benchmarks.steps" if word == "portal" else word for word in line]


class _Meter:
    """CPU seconds of processes with their descendants; of Postgres without the session of the measurement."""

    def __init__(self, processes: Mapping[str, int]) -> None:
        valkey = redis.Redis.from_url(str(settings.CACHES["default"]["LOCATION"])).info("server")
        self._processes = {**processes, "Valkey": int(valkey["process_id"])}
        self._postgres = postgres_pid()
        if not self._postgres:
            raise CommandError("Postgres runs on another machine: its CPU time cannot be measured.")

    def _used(self) -> dict[str, float]:
        used = {role: cpu_seconds_of_family(pid) for role, pid in self._processes.items()}
        [(session,)] = fetch("SELECT pg_backend_pid()")
        return used | {"Postgres": sum(map(cpu_seconds_of_family, self._postgres)) - cpu_seconds(session)}

    @contextmanager
    def span(self, units: int) -> Iterator[Span]:
        before, span = self._used(), Span(units, time.time())
        yield span
        span.cpu = {role: used - before[role] for role, used in self._used().items()}
        span.ended = time.time()


def _read_along(ids: Sequence[int]) -> None:
    """A person who follows all feeds and has saved searches."""
    reader = User.objects.create_user(NAME)
    follow(reader, ids, now=now())
    for query in SEARCHES:
        save_search(reader, query, query, order=SavedSearch.Order.NEWEST, now=now())


def _wait_until_derived(postings: int, rest: float) -> None:
    wait_until(lambda: Posting.objects.count() >= postings, "all postings are stored")
    wait_until_idle()
    wait_until(lambda: not fetch("SELECT FROM trending_stale LIMIT 1"), "all hours are counted")
    time.sleep(rest)
    wait_until_idle()


def _retrieve_all(ids: Sequence[int]) -> None:
    before = Retrieval.objects.count()
    set_due(ids)
    wait_until(lambda: Retrieval.objects.count() >= before + len(ids), "all feeds are retrieved")


def _of_steps(file: Path, spans: Mapping[str, Span]) -> dict[str, dict[str, float]]:
    """By step and by span, the CPU in ms of worker and Postgres for each unit."""
    found: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for step in read_steps(file):
        for name, span in spans.items():
            if span.began < step.at <= span.ended and name != "idle":
                found[step.name][name] += MILLISECONDS * (step.worker + step.postgres) / span.units
    return found


def _idle(spans: Mapping[str, Span]) -> float:
    """CPU seconds a second."""
    idle = spans["idle"]
    return sum(idle.cpu.values()) / (idle.ended - idle.began)


def _figures(spans: Mapping[str, Span], steps: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    figures = {
        "cpu_ms_per_new": spans["new"].ms,
        "cpu_ms_per_unchanged": spans["not modified"].ms,
        "cpu_ms_per_same_bytes": spans["same bytes"].ms,
        "import_cpu_s": sum(spans["import"].cpu.values()),
        "import_postings": float(spans["import"].units),
        "idle_cpu_percent": 100 * _idle(spans),
    }
    for name, span in spans.items():
        if name != "idle":
            figures[f"{name}.cpu_ms".replace(" ", "_")] = span.ms
            figures |= {
                f"{name}.{role}.cpu_ms".replace(" ", "_"): MILLISECONDS * cpu / span.units
                for role, cpu in span.cpu.items()
            }
    return figures | {
        f"{span}.step.{name}.cpu_ms".replace(" ", "_"): cost
        for name, costs in steps.items()
        for span, cost in costs.items()
    }
