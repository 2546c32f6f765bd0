"""The effect of searches of known importance on retrieval: recorded weeks simulated with and without them."""

import csv
from argparse import ArgumentParser
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from django.core.management.base import CommandError
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from apps.retrieval.algorithms.calendar import hours_of
from apps.retrieval.algorithms.simulation.accounting import Outcome
from apps.retrieval.algorithms.simulation.priced_plan import Lessons
from lab.evaluations.interests import LEARNT, Searches, World, draw_searches, retrieved, summed_delays, world
from lab.harness import LabCommand
from lab.worlds.items import read_items

EVERYTHING = 10**9
BANDS = ((1.0, 1.005), (1.005, 1.5), (1.5, 2.5), (2.5, 10.0))  # of interest, for the table


class Command(LabCommand):
    help = __doc__
    seed = 1

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--items", type=Path, required=True, metavar="FILE", help="packed JSON lines")
        parser.add_argument("--from", dest="begin", default="2023-07-16", metavar="DATE", help="first day of the test")
        parser.add_argument("--days", type=float, default=14.0, help="of the test (default: %(default)g)")
        parser.add_argument("--searches", type=int, default=40, help="(default: %(default)s)")
        parser.add_argument("--share", type=float, default=0.1, help="that others may lose (default: %(default)g)")
        parser.add_argument("--budget", type=float, default=4.0, help="per source and day (default: %(default)g)")

    def measure(self, *args: Any, items: Path, begin: str, seed: int, **options: Any) -> Mapping[str, float]:
        try:
            start = datetime.fromisoformat(begin).replace(tzinfo=UTC)
        except ValueError:
            raise CommandError(f"--from is no date: {begin}") from None
        with Progress(console=self.console, transient=True) as progress:
            steps = progress.add_task("Reading", total=4)
            known = self._world(items, float(hours_of(start.timestamp())), options["days"])
            progress.update(steps, advance=1, description="Learning profiles")
            lessons = Lessons.learnt(known.trace, known.start, known.end, seed=seed)
            searches = draw_searches(known, lessons, options["searches"], max_share=options["share"], seed=seed)
            outcomes = []
            for name, worth in (("without", np.ones(len(known.trace))), ("with", searches.factors)):
                progress.update(steps, advance=1, description=f"Retrieving {name} searches")
                outcomes.append(retrieved(known, lessons, worth, options["budget"], seed=seed))
        return _report(self.console, known, searches, outcomes[0], outcomes[1])

    def _world(self, path: Path, begin: float, days: float) -> World:
        try:
            with path.with_name("sources.csv").open(encoding="utf-8", newline="") as file:
                rows = {int(row["src"]): row["lang"] for row in csv.DictReader(file) if row["good"] == "1"}
            items = [item for item in read_items(path, EVERYTHING, seed=0) if item.source in rows]
        except (OSError, KeyError, ValueError) as error:
            raise CommandError(f"{path} and sources.csv beside it cannot be read: {error}") from error
        found = world(items, rows, begin=begin, days=days)
        if len(found.trace) < 2:
            raise CommandError(f"{path} has too few postings in the {LEARNT:.0f} hours before the test.")
        return found


def _report(
    console: Console, known: World, searches: Searches, without: Outcome, with_searches: Outcome
) -> dict[str, float]:
    factors = searches.factors
    visits_with, visits_without = (
        np.array([len(times) for times in outcome.times], np.float64) for outcome in (with_searches, without)
    )
    visits = visits_with / visits_without
    before, after = summed_delays(known, without), summed_delays(known, with_searches)
    is_raised = factors > BANDS[0][1]
    table = Table(title=f"{len(searches.queries)} searches, {len(factors)} sources, as many retrievals")
    for column in ("interest", "sources", "retrievals", "by the root of it", "mean delay"):
        table.add_column(column, justify="right")
    for low, high in BANDS:
        chosen = (factors >= low) & (factors < high)
        if chosen.any():
            table.add_row(
                f"{low:g} to {high:g}" if high > BANDS[0][1] else "none",
                str(int(chosen.sum())),
                f"x {_whole(visits_with, visits_without, chosen):.3f}",
                f"x {np.sqrt(factors[chosen]).mean() / np.sqrt(factors[~is_raised]).mean():.3f}",
                f"x {_whole(after, before, chosen):.3f}",
            )
    console.print(table)
    figures = {
        "searches": float(len(searches.queries)),
        "sources_raised": float(is_raised.sum()),
        "retrievals_ratio": with_searches.retrievals / without.retrievals,
        "others.retrievals_ratio": _whole(visits_with, visits_without, ~is_raised),
        "others.delay_ratio": _whole(after, before, ~is_raised),
        "raised.retrievals_ratio": _whole(visits_with, visits_without, is_raised),
        "raised.delay_ratio": _whole(after, before, is_raised),
        # How nearly retrievals follow the root of the interest, as they should.
        "retrievals_by_interest_correlation": float(np.corrcoef(np.sqrt(factors), visits)[0, 1]),
    }
    for name, value in figures.items():
        console.print(f"{name}: {value:.3f}")
    return figures


def _whole(after: NDArray[np.float64], before: NDArray[np.float64], chosen: NDArray[np.bool_]) -> float:
    return float(after[chosen].sum() / before[chosen].sum())
