"""How long the slowest of many workers takes, by the method of splitting.

Made-up records are of the thesis' kind: pages per host by Pareto's law (1.1), seconds per page of a host log-normal
(0.8), 3 % of the hosts twelve times slower, and estimates from the past off by a log-normal factor (0.3). Of
recorded times, the first half is the past and the second half is split.

There are three tables, since the unit of a task matters most. The thesis' traditional split hashes hosts and keeps them
whole; its own hashes records. Many workers may request pages of a divided host at once, which politeness
forbids: that suits extracting and indexing. Whole hosts suit crawling, but no method is done before the largest host
is; so there each has a time box, and the rest of it is left for the next round.
"""

import json
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from django.core.management.base import CommandError
from rich.table import Table

from apps.jobs.algorithms.estimates import keys_of
from lab.benchmarks.splitting.comparison import (
    RESULTS,
    Result,
    Scheme,
    compared,
    expected_by_tetea,
    expected_by_us,
    lower_bounds,
    time_box,
)
from lab.benchmarks.splitting.synthetic import Records, made_up
from lab.harness import LabCommand, table

RECORDS, SPLITS = 2_100_000, 250  # as in the thesis' Table 1
SEED = 1
WIDTH = 110  # characters
TITLES = {
    Scheme.RECORDS: "Tasks are records; hash alone keeps hosts whole, as is traditional",
    Scheme.WHOLE: "Tasks are whole hosts",
    Scheme.BOXED: "Tasks are whole hosts, each for at most the mean time of a split; the rest waits for the next round",
}


class Command(LabCommand):
    help = "Compare ways to split work among workers: by hash, TETEA, longest first, or pulled by who is free."
    seed = SEED

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--times", type=Path, metavar="FILE", help="recorded: JSON lines {host, kind, size, seconds}"
        )
        parser.add_argument("--records", type=int, default=RECORDS, help=f"to make up; by default {RECORDS:,}")
        parser.add_argument("--splits", type=int, default=SPLITS, help=f"and workers; by default {SPLITS}")

    def measure(
        self, *args: Any, times: Path | None, records: int, splits: int, seed: int, **options: Any
    ) -> Mapping[str, float]:
        if records < 1 or splits < 1:
            raise CommandError("--records and --splits must be at least 1.")
        past, new = _recorded(times) if times else made_up(records, np.random.default_rng(seed))
        self.console.width = max(self.console.width, WIDTH)
        by_tetea, by_us = expected_by_tetea(past, new), expected_by_us(past, new)
        self.console.print(
            f"{len(new.seconds):,} records of {len(np.unique(new.hosts)):,} hosts, {splits} splits. The time is "
            f"determined by {by_tetea.attribute}, says TETEA; by {by_us.attribute}, say longest first and pull."
        )
        running = compared(new, splits, by_tetea.seconds, by_us.seconds)
        results = list(self.track(running, "Splitting", total=RESULTS))
        bounds = lower_bounds(new, splits, time_box(by_us.seconds, splits))
        for scheme in Scheme:
            self.console.print(_table(scheme, [each for each in results if each.scheme == scheme], bounds[scheme]))
        return _figures(results, bounds)


def _recorded(file: Path) -> tuple[Records, Records]:
    """The first and the second half of recorded times."""
    hosts, kinds, sizes, seconds = [], [], [], []
    try:
        with file.open(encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, 1):
                row = json.loads(line)
                hosts.append(str(row["host"]))
                kinds.append(str(row["kind"]))
                sizes.append(float(row["size"]))
                seconds.append(float(row["seconds"]))
                if not (0 <= sizes[-1] < np.inf and 0 <= seconds[-1] < np.inf):
                    raise CommandError(f"Line {number} of {file} holds a size or time that is no amount.")
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}.") from error
    except (ValueError, TypeError, KeyError) as error:
        raise CommandError(f"Line {number} of {file} is no {{host, kind, size, seconds}} in JSON.") from error
    if len(hosts) < 2:
        raise CommandError(f"{file} holds fewer than two records: one to learn from and one to split.")
    records = Records(keys_of(hosts), keys_of(kinds), np.array(sizes), np.array(seconds))
    half = len(hosts) // 2
    return records.rows(0, half), records.rows(half, len(hosts))


def _table(scheme: Scheme, results: Sequence[Result], bound: float) -> Table:
    shown = table(
        TITLES[scheme],
        "method",
        "makespan",
        "shorter than hash",
        "over the bound",
        "median split",
        "all splits",
        "unusual",
        caption=f"Seconds. Unusual takes more than twice the median. No way to split is done before {_seconds(bound)}.",
    )
    hashed = results[0].outcome.makespan
    for _, method, (makespan, total, median, unusual) in results:
        shown.add_row(
            method.replace("_", " "),
            _seconds(makespan),
            f"{_share(hashed - makespan, hashed):.1%}",
            f"× {_share(makespan, bound):.3f}",
            _seconds(median),
            _seconds(total),
            str(unusual),
        )
    return shown


def _figures(results: Sequence[Result], bounds: Mapping[Scheme, float]) -> dict[str, float]:
    """One flat object: of records ``method.measure``, of others ``scheme.method.measure``."""
    figures = {}
    for scheme in Scheme:
        prefix = "" if scheme is Scheme.RECORDS else f"{scheme}."
        of_scheme = [each for each in results if each.scheme == scheme]
        hashed = of_scheme[0].outcome.makespan
        figures[f"{prefix}bound"] = bounds[scheme]
        for _, method, each in of_scheme:
            figures |= {f"{prefix}{method}.{name}": value for name, value in each._asdict().items()}
            figures[f"{prefix}{method}.shorter"] = _share(hashed - each.makespan, hashed)
    return figures


def _seconds(amount: float) -> str:
    return f"{amount:,.0f}" if amount >= 100 else f"{amount:.3g}"


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
