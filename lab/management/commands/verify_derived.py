"""Whether counts, stories and summaries stay the same when all work is done twice and workers are killed."""

import random
import sys
import time
from argparse import ArgumentParser
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db import connection
from rich.progress import Progress
from rich.table import Table

from lab.chaos.derived import tables
from lab.chaos.derived.workers import POLL_SECONDS, Workers, serially
from lab.harness import LabCommand, Result, add_items
from lab.worlds.items import (
    COPIED_AT_ONCE,
    Item,
    add_sources_of,
    copy_postings,
    lengthened,
    read_items,
)

LABELS = {
    "count": "counted for trends",
    "slice": "  made hours, days and months of it",
    "group": "put into stories",
    "summarise": "summarised",
}


class Command(LabCommand):
    help = (
        "Compute counts, stories and summaries of real postings once, serially; then from scratch, each posting twice,"
        " by several workers that are killed repeatedly; and compare all rows. Uses a database of its own."
    )
    fills_database = True
    seed = 7

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_items(parser)
        parser.add_argument("--postings", type=int, default=100_000)
        parser.add_argument("--kills", type=int, default=60)

    def measure(self, *args: Any, items: Path, postings: int, kills: int, seed: int, **_: Any) -> Result:
        if postings < 1 or kills < 1:
            raise CommandError("--postings and --kills must be at least 1.")
        self.chance = random.Random(seed)
        self.now = self._store(self._draw(items, postings, seed), items)
        ids = tables.posting_ids()
        figures, seconds = self._once()
        rows = tables.save_digests()
        figures |= self._twice(ids, kills, seed, expected=figures["serial_s"])
        differing = tables.differing()
        tables.drop_digests()
        figures["differing_rows"] = sum(count for count, _ in differing.values())
        figures["rows"] = sum(rows.values())
        self._print(rows, differing, figures, seconds, len(ids))
        rates = {f"{kind}_per_s": len(ids) / spent for kind, spent in seconds.items()}
        failure = "Rows differ from those of the serial run." if differing else ""
        return Result({"postings": len(ids), **figures, **rates}, failure=failure)

    def _draw(self, path: Path, postings: int, seed: int) -> list[Item]:
        """Consecutive items from a random position on, so that there are stories."""
        self.console.print(f"Reading {path}", highlight=False)
        items = read_items(path, sys.maxsize, seed=seed)
        first = self.chance.randrange(max(len(items) - postings, 0) + 1)
        return lengthened(items[first : first + postings])

    def _store(self, items: list[Item], path: Path) -> datetime:
        source_ids = add_sources_of(items, path, listed=True)
        for first in self.track(range(0, len(items), COPIED_AT_ONCE), "Storing"):
            copy_postings(items[first : first + COPIED_AT_ONCE], source_ids, first=first)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE postings_posting")
        return datetime.fromtimestamp(items[-1].published, UTC)

    def _once(self) -> tuple[dict[str, float], dict[str, float]]:
        begin, seconds = time.perf_counter(), {}
        with self._progress() as progress:
            task = progress.add_task("Once, serially", total=tables.waiting())
            for state in serially(self.now):
                seconds = state.seconds
                _show(progress, task, state.waiting)
        return {"serial_s": time.perf_counter() - begin}, dict(seconds)

    # --- twice, with kills --------------------------------------------------------------------------------------------
    def _twice(self, ids: list[int], kills: int, seed: int, *, expected: float) -> dict[str, float]:
        """Compute all from scratch; each kill enqueues a part of the postings once more, so that work remains."""
        begin, at_work = time.perf_counter(), 0
        tables.empty()
        tables.enqueue(ids)
        again = self.chance.sample(ids, len(ids))
        with self._progress() as progress, Workers(self.now, seed=seed) as workers:
            task = progress.add_task(f"Twice, killing {kills} workers", total=2 * tables.waiting())
            for number in range(kills):
                self._watch(progress, task, self.chance.uniform(0, 2 * expected / kills))
                at_work += workers.kill_one()
                tables.enqueue(again[number::kills])
            while tables.waiting():
                workers.check()
                self._watch(progress, task, POLL_SECONDS)
        for _ in serially(self.now):  # nothing waits; this merges partial rows
            pass
        return {"kills": kills, "kills_in_transactions": at_work, "killed_s": time.perf_counter() - begin}

    def _watch(self, progress: Progress, task: Any, seconds: float) -> None:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(left, POLL_SECONDS))
            _show(progress, task, tables.waiting())

    # --- output -------------------------------------------------------------------------------------------------------
    def _progress(self) -> Progress:
        # Refreshed explicitly: a refreshing thread could hold a lock during a fork.
        return Progress(console=self.console, transient=True, auto_refresh=False)

    def _print(
        self,
        rows: dict[str, int],
        differing: dict[str, tuple[int, list[str]]],
        figures: dict[str, float],
        seconds: dict[str, float],
        postings: int,
    ) -> None:
        table = Table("Table", "Rows", "Differing", title=f"{postings:,} postings, once and twice")
        for name, count in rows.items():
            table.add_row(name, f"{count:,}", f"{differing.get(name, (0, []))[0]:,}")
        self.console.print(table)
        for kind, spent in seconds.items():
            self.console.print(f"{LABELS[kind]}: {postings / spent:,.0f} postings/s", highlight=False)
        self.console.print(
            f"Once, serially: {figures['serial_s']:.0f} s. Twice, with {figures['kills']} workers killed,"
            f" {figures['kills_in_transactions']} of them in a transaction: {figures['killed_s']:.0f} s.",
            highlight=False,
        )
        for name, (_, examples) in differing.items():
            for example in examples:
                self.console.print(f"{name}: {example}", highlight=False, markup=False)


def _show(progress: Progress, task: Any, waiting: int) -> None:
    total = progress.tasks[0].total or 0
    progress.update(task, completed=max(total - waiting, 0))
    progress.refresh()
