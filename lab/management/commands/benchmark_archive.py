"""How an archive grows through retrieval, storage and index, compared with one that rebuilds its whole index."""

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from django.conf import settings
from rich.console import Console
from rich.table import Table

from apps.postings.models import Posting
from apps.search import actions
from lab import harness
from lab.benchmarks.index import old_index
from lab.benchmarks.index.archives import Growth, all_are_listed, archive, compose_texts, count_generations, delete_all
from lab.benchmarks.index.old_index import OldGrowth
from lab.plots import linear_plot
from lab.worlds.feed import Text

SIZES = [1_000, 10_000, 37_500, 50_000, 100_000, 200_000]
SOURCES = [1, 10, 100, 1_000]


@dataclass(frozen=True, slots=True)
class Result:
    """One archive, grown from nothing, and what was found of it."""

    growth: Growth
    generations: int
    all_listed: bool
    stored: int
    only_unchanged: bool  # a second round returned only 304 and added nothing


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


class Command(harness.LabCommand):
    help = "Grow archives of made-up feeds on loopback, and compare with an index that is rebuilt for every shard."
    fills_database = True
    seed = 7
    plotted = "time over items"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--sizes", type=_numbers, default=SIZES, metavar="N,N,...", help="items in all")
        parser.add_argument("--sources", type=_numbers, default=SOURCES, metavar="N,N,...", help="that share them")
        parser.add_argument(
            "--limit", type=float, default=1_800.0, metavar="SECONDS", help="after which an old archive is stopped"
        )

    def measure(
        self, *args: Any, sizes: list[int], sources: list[int], limit: float, seed: int, **options: Any
    ) -> harness.Result:
        settings.RETRIEVAL_HOST_GAP = 0.0  # the server is ours
        texts = compose_texts(max(sizes), seed=seed)
        ours: dict[tuple[int, int], Result] = {}
        old: dict[int, OldGrowth] = {}
        for size in sizes:
            for count in (count for count in sources if count <= size):
                ours[size, count] = self._grow(texts[:size], count)
            if not any(growth.items < before for before, growth in old.items()):  # larger ones would not end either
                with self._progress(f"{size:,} items, the old way", size) as report:
                    old[size] = old_index.grow(texts[:size], limit=limit, report=report)
            self.save(_figures(ours, old))  # intermediate results: it takes more than an hour
        figures = _figures(ours, old)
        _print(self.console, ours, old, figures)
        return harness.Result(
            figures, lambda: linear_plot("Time to store and index an archive", "items", "seconds", _curves(ours, old))
        )

    def _grow(self, texts: Sequence[Text], sources: int) -> Result:
        with (
            archive(texts, sources) as grown,
            self._progress(f"{len(texts):,} items, {sources:,} sources", len(texts)) as report,
        ):
            growth = grown.grow(len(texts), report)
            listed, stored, generations = all_are_listed(), Posting.objects.count(), count_generations()
            statuses = grown.retrieve_again()
            consumed = actions.reindexing.consume()
            unchanged = set(statuses) == {304} and statuses[304] == sources and Posting.objects.count() == stored
        delete_all()
        return Result(growth, generations, listed, stored, unchanged and not consumed)

    @contextmanager
    def _progress(self, name: str, total: int) -> Iterator[Any]:
        with self.progress() as progress:
            bar = progress.add_task(name, total=total)
            yield lambda done: progress.update(bar, completed=done)


def _curves(ours: dict[tuple[int, int], Result], old: dict[int, OldGrowth]) -> dict[str, list[tuple[float, float]]]:
    curves = {
        f"ours, {count:,} sources": [
            (float(size), result.growth.seconds) for (size, shared), result in sorted(ours.items()) if shared == count
        ]
        for count in sorted({count for _, count in ours})
    }
    return {name.replace(" 1 sources", " 1 source"): points for name, points in curves.items()} | {
        "rebuilt at every shard": [(float(growth.items), growth.seconds) for growth in old.values()]
    }


def _figures(ours: dict[tuple[int, int], Result], old: dict[int, OldGrowth]) -> dict[str, float]:
    """Seconds by size, for Wirebeat the mean over the numbers of sources; and how straight the line is."""
    sizes = sorted({size for size, _ in ours})
    means = [
        float(np.mean([result.growth.seconds for key, result in ours.items() if key[0] == size])) for size in sizes
    ]
    figures = {f"ours.{size}.s": mean for size, mean in zip(sizes, means, strict=True)}
    figures |= {f"ours.{size}.{count}_sources.s": result.growth.seconds for (size, count), result in ours.items()}
    figures |= {f"baseline.{size}.s": growth.seconds for size, growth in old.items() if growth.items == size}
    if len(sizes) > 1:
        slope, base = np.polyfit(sizes, means, 1).tolist()
        misses = np.array(means) - (slope * np.array(sizes) + base)
        figures["line.ms_per_item"] = 1_000 * slope
        figures["line.r2"] = float(1 - (misses**2).sum() / np.var(means) / len(means))
        figures["per_item_ratio"] = (means[-1] / sizes[-1]) / (means[0] / sizes[0])
    steps = [step for result in ours.values() if (step := _step(result.growth))]
    figures |= {"step_after_generation": median(steps)} if steps else {}
    figures["all_listed"] = float(all(result.all_listed and result.stored == key[0] for key, result in ours.items()))
    figures["second_run_only_304"] = float(all(result.only_unchanged for result in ours.values()))
    return figures


def _step(growth: Growth) -> float | None:
    """The time of an item right after a segment was built, divided by that of the others."""
    pairs = list(zip(growth.per_item, growth.after_generation, strict=True))
    after, otherwise = ([cost for cost, is_after in pairs if is_after == wanted] for wanted in (True, False))
    return median(after) / median(otherwise) if after and otherwise else None


def _print(
    console: Console, ours: dict[tuple[int, int], Result], old: dict[int, OldGrowth], figures: dict[str, float]
) -> None:
    table = Table(title="Archives grown from nothing, seconds")
    for column in ("items", "sources", "store", "index", "merge", "all", "ms/item", "blocks", "listed", "again"):
        table.add_column(column, justify="right")
    for (size, sources), result in ours.items():
        growth = result.growth
        parts = (growth.retrieving, growth.indexing, growth.maintaining, growth.seconds)
        table.add_row(
            f"{size:,}",
            f"{sources:,}",
            *(f"{part:.1f}" for part in parts),
            f"{1_000 * growth.seconds / size:.2f}",
            str(result.generations),
            "yes" if result.all_listed and result.stored == size else "NO",
            "304" if result.only_unchanged else "NOT 304",
        )
    console.print(table)
    console.print(
        "store: retrieving, reading and storing; merge: finishing segments, too; blocks: generations at the end;"
        " listed: all found, newest first; again: answers to a second visit, which adds nothing."
    )
    table = Table(title="The old way: a query for every item, the whole index for every 2,048; nothing is retrieved")
    for column in ("items", "seconds", "ms an item", ""):
        table.add_column(column, justify="right")
    for size, rebuilt in old.items():
        ended = "" if rebuilt.items == size else f"stopped at {rebuilt.items:,} of them"
        table.add_row(f"{size:,}", f"{rebuilt.seconds:.1f}", f"{1_000 * rebuilt.seconds / rebuilt.items:.2f}", ended)
    console.print(table)
    if "line.r2" in figures:
        console.print(
            f"Ours lies on a line of {figures['line.ms_per_item']:.2f} ms an item, R² {figures['line.r2']:.4f}; an item"
            f" of the largest archive takes {figures['per_item_ratio']:.2f} x what one of the smallest takes."
        )
    if "step_after_generation" in figures:
        console.print(
            f"Right after a generation was made an item takes {figures['step_after_generation']:.2f} x what it takes"
            " otherwise."
        )
