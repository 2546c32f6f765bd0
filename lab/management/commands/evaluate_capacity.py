"""The size of an installation, verified by a simulated month of a million sources."""

from argparse import ArgumentParser
from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np
from django.core.management.base import CommandError
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from apps.retrieval.algorithms.calendar import WEEK
from apps.retrieval.algorithms.planner.lookahead import Outlook
from apps.retrieval.algorithms.planner.rehearsal import price_for
from apps.retrieval.algorithms.weekly_profiles.learning import five_minute_rates, learn_priors, learn_profiles
from apps.retrieval.scheduler.beat import Due, messages
from lab.evaluations.capacity.costs import MEASURED, Demand, Fleet, fleet
from lab.evaluations.capacity.month import SECONDS, dispatched, due_each_second, lateness, least_cores, played
from lab.evaluations.retrieval.synthetic import generate
from lab.harness import LabCommand

DISTINCT_PROFILES = 2_000
WEEKS = 8  # of history
PARTITIONS = 64
WITHIN = 2.0  # s, of lateness, in 99 of 100 retrievals
LARGER = 100  # times as many sources, in the second column
IntArray = NDArray[np.int64]

ROWS = (
    ("retrievals a second", "retrievals_per_s", "{:,.0f}"),
    ("postings a second", "postings_per_s", "{:,.1f}"),
    ("cores of workers that fetch, store and plan", "worker_cores", "{:,}"),
    ("cores of workers that derive", "deriving_cores", "{:,}"),
    ("cores of Postgres", "database_cores", "{:,}"),
    ("beats that lead", "beats", "{:,}"),
    ("groupers of stories", "groupers", "{:,}"),
    ("writers of the index", "writers", "{:,}"),
    ("messages a second", "messages_per_s", "{:,.0f}"),
    ("answers, MB/s", "network_mb_per_s", "{:,.1f}"),
    ("Postgres at first, GB", "database_gb_at_first", "{:,.0f}"),
    ("Postgres more each month, GB", "database_gb_per_month", "{:,.0f}"),
    ("partitions of postings after a year", "partitions", "{:,}"),
    ("machines of 16 cores, at least three", "machines", "{:,}"),
)


class Command(LabCommand):
    help = f"{__doc__} Needs no database: costs are those that the benchmarks have measured."
    seed = 1

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--sources", type=int, default=1_000_000)
        parser.add_argument("--per-day", type=float, default=4.0, help="retrievals of a source (default: %(default)s)")

    def measure(self, *args: Any, sources: int, per_day: float, seed: int, **options: Any) -> Mapping[str, float]:
        if sources < DISTINCT_PROFILES or per_day <= 0:
            raise CommandError(f"--sources must be {DISTINCT_PROFILES:,} at least, and --per-day more than 0.")
        console, random, began = Console(), np.random.default_rng(seed), perf_counter()
        with console.status("learning posting rates"):
            outlook = expected(random, per_day)
        copies = sources // DISTINCT_PROFILES
        with console.status(f"planning a month of {copies * DISTINCT_PROFILES:,} sources"):
            plans = list(played(outlook))
        due = due_each_second(self.track(plans, "a month, second by second"), copies, random)
        figures = self._month(due, copies * DISTINCT_PROFILES, random)
        per_source = float(np.mean(outlook.factor * outlook.cumulated[:, -1]) * 24 / WEEK)
        demand = Demand(
            copies * DISTINCT_PROFILES, figures["retrievals_per_day"], per_source, changed=0.3, peak=figures["peak"]
        )
        larger = Demand(
            demand.sources * LARGER, demand.retrievals_per_day, demand.postings_per_day, demand.changed, demand.peak
        )
        filled = figures["sources_per_message"]
        fleets = {"": fleet(demand, sources_per_message=filled), "larger.": fleet(larger, sources_per_message=25.0)}
        figures["seconds"] = perf_counter() - began
        self._print(console, figures, demand, fleets)
        numbers = {f"{key}{name}": getattr(of, name) for key, of in fleets.items() for _, name, _ in ROWS}
        return {"sources": demand.sources, **figures, **numbers}

    @staticmethod
    def _month(due: IntArray, sources: int, random: np.random.Generator) -> dict[str, float]:
        """Figures of the month: peaks, messages of the busiest hour, and cores needed to be on time."""
        hours = due.reshape(-1, 3_600)
        busiest = hours[hours.sum(axis=1).argmax()]
        minutes = due.reshape(-1, 60).sum(axis=1)
        beat = dispatched(busiest, messages_of, random, PARTITIONS)
        ms = MEASURED.retrieval_unchanged * 0.7 + MEASURED.retrieval_changed * 0.3
        cores = least_cores(due, ms, within=WITHIN)
        late, leading = lateness(due, cores * 1_000 / ms), lateness(due, 1_000 / MEASURED.dispatch)
        return {
            "retrievals": float(due.sum()),
            "retrievals_per_day": float(due.sum()) / sources / (SECONDS / 86_400),
            "peak": float(minutes.max() / minutes.mean()),
            "peak_second": float(due.max()),
            "peak_hour": float(hours.sum(axis=1).max() / hours.sum(axis=1).mean()),
            "sources_per_message": beat.sources / beat.messages,
            "cores_on_time": float(cores),
            "lateness_p50_s": late.p50,
            "lateness_p99_s": late.p99,
            "lateness_max_s": late.longest,
            "beat_lateness_p99_s": leading.p99,
        }

    @staticmethod
    def _print(console: Console, figures: dict[str, float], demand: Demand, fleets: dict[str, Fleet]) -> None:
        console.print(
            f"{figures['retrievals']:,.0f} retrievals of {demand.sources:,.0f} sources in a month, "
            f"{demand.retrievals_per_day:.2f} a source and day. The busiest hour has {figures['peak_hour']:.2f}, the "
            f"busiest minute {figures['peak']:.2f} times the mean; at most {figures['peak_second']:,.0f} in a second; "
            f"{figures['sources_per_message']:.1f} sources in a message in that hour.",
            highlight=False,
        )
        console.print(
            f"One beat sends them within {figures['beat_lateness_p99_s']:.2f} s (p99). With "
            f"{figures['cores_on_time']:.0f} cores of workers they are late by {figures['lateness_p50_s']:.2f} s (p50),"
            f" {figures['lateness_p99_s']:.2f} s (p99), {figures['lateness_max_s']:.1f} s (longest).",
            highlight=False,
        )
        table = Table("", *(f"{demand.sources * factor:,.0f} sources" for factor in (1, LARGER)))
        for label, name, form in ROWS:
            table.add_row(label, *(form.format(getattr(each, name)) for each in fleets.values()))
        console.print(table)


def expected(random: np.random.Generator, per_day: float) -> Outlook:
    """The learnt expectation for made-up sources, at the price of a budget."""
    trace, _ = generate("drift", sources=DISTINCT_PROFILES, weeks=WEEKS)
    now = WEEKS * WEEK
    profiles = learn_profiles(trace, now, learn_priors(trace, now, random=random))
    rates = five_minute_rates(profiles.hourly, profiles.minutes)
    bins = rates.shape[1]
    cumulated = np.concatenate([np.zeros((DISTINCT_PROFILES, 1)), np.cumsum(rates, axis=1)], axis=1) * (WEEK / bins)
    one = np.ones(DISTINCT_PROFILES)
    outlook = Outlook(cumulated, now * one, 0 * one, one, one, one, WEEK * one, np.inf * one)
    return outlook.priced(price_for(outlook, one, one, DISTINCT_PROFILES * per_day / 24), one)


def messages_of(partitions: IntArray) -> int:
    """How many messages beat sends for sources that are due together, given by their partitions."""
    due = [Due(number, 1, partition, 0.0, 0.0) for number, partition in enumerate(partitions.tolist())]
    return sum(1 for _ in messages(due))
