"""Trending terms on a stream of which it is known what trends, by our score, Yioop's and others.

The headlines, their publishers and their stories are real; when they come is drawn with a seed, see
`algorithms.stream`. The file is that of the UCI News Aggregator: CSV with the columns TITLE, PUBLISHER and STORY.
"""

import csv
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from lab.evaluations.trending.evaluation import METHODS, TRIALS, ReadStream, Tallies, evaluate, list_times, pooled
from lab.evaluations.trending.stream import Headline, make_stream
from lab.harness import LabCommand, Result
from lab.plots import panels

NAMES = {
    "df": "documents",
    "z": "z-score",
    "chi2": "chi-square",
    "bngram": "BNgram",
    "yioop": "Yioop",
    "ours": "ours",
}


class Command(LabCommand):
    help = "Measure which trending terms are of a story that breaks, and which stories are found."
    plotted = "recall against background"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--stories", metavar="FILE", type=Path, required=True, help="CSV: TITLE, PUBLISHER, STORY")
        parser.add_argument("--seeds", type=int, default=3, help="streams that are drawn, from seed 1 on")

    def measure(self, *, stories: Path, seeds: int, **_: Any) -> Result:
        if seeds < 1:
            raise CommandError("at least one stream has to be drawn")
        headlines = read_headlines(stories)
        by_seed = self._evaluate(headlines, seeds, self.console)
        tallies = pooled(by_seed.values())
        self.console.print(_table(tallies), _seeds_table(by_seed))
        values = {
            horizon: {NAMES[name]: (each.background_share, each.recall) for name, each in methods.items()}
            for horizon, methods in tallies.items()
        }
        title = "Stories that trend: how many are found, and how much of what is shown is background"
        return Result(_figures(tallies, by_seed), lambda: panels(title, "background", "recall", values, NAMES["ours"]))

    @staticmethod
    def _evaluate(headlines: list[Headline], seeds: int, console: Console) -> dict[int, Tallies]:
        found = {}
        with Progress(console=console) as progress:
            bar = progress.add_task("Making lists", total=seeds * sum(len(list_times(trial)) for trial in TRIALS))
            for seed in range(1, seeds + 1):
                stream = ReadStream(make_stream(headlines, seed=seed, spam=True))
                found[seed] = evaluate(stream, done=lambda: progress.advance(bar))
        return found


def read_headlines(file: Path) -> list[Headline]:
    """The headlines of a file; rows that are cut off are left out.

    Raises
    ------
    CommandError
        If it cannot be read, lacks a column, or has no headline.
    """
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            rows = [(row.get("TITLE"), row.get("PUBLISHER"), row.get("STORY")) for row in csv.DictReader(lines)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CommandError(f"{file} cannot be read: {error}") from error
    headlines = [Headline(title, publisher, story) for title, publisher, story in rows if title and publisher and story]
    if not headlines:
        raise CommandError(f"{file} has no row with TITLE, PUBLISHER and STORY")
    return headlines


def _table(tallies: Tallies) -> Table:
    table = Table(title="Trending terms, all seeds together")
    for column in ("horizon", "method", "precision", "stories found", "background", "shown"):
        table.add_column(column, justify="left" if column in ("horizon", "method") else "right")
    for horizon, methods in tallies.items():
        for method in METHODS:
            tally = methods[method]
            values = (f"{value:.2f}" for value in (tally.precision, tally.recall, tally.background_share))
            table.add_row(horizon, NAMES[method], *values, f"{tally.shown / tally.lists:.1f}")
        table.add_section()
    return table


def _seeds_table(by_seed: dict[int, Tallies]) -> Table:
    table = Table(title="Ours, by seed: precision / stories found / background")
    table.add_column("seed", justify="right")
    for trial in TRIALS:
        table.add_column(trial.name)
    for seed, tallies in by_seed.items():
        ours = (tallies[trial.name]["ours"] for trial in TRIALS)
        cells = [f"{each.precision:.2f} / {each.recall:.2f} / {each.background_share:.2f}" for each in ours]
        table.add_row(str(seed), *cells)
    return table


def _figures(tallies: Tallies, by_seed: dict[int, Tallies]) -> dict[str, float]:
    figures = {
        f"{horizon}.{method}.{name}": value
        for horizon, methods in tallies.items()
        for method, tally in methods.items()
        for name, value in tally.numbers().items()
    }
    return figures | {
        f"{horizon}.ours.seed{seed}.{name}": value
        for seed, found in by_seed.items()
        for horizon, methods in found.items()
        for name, value in methods["ours"].numbers().items()
    }
