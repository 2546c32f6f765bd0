"""How much sooner two workers read the whole archive again than one, and whether the same comes of it."""

import sys
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db import connection
from rich.console import Console
from rich.progress import Progress

from apps.postings.models import Posting
from lab.benchmarks.archive_jobs import comparing
from lab.benchmarks.archive_jobs.comparing import Digests
from lab.benchmarks.archive_jobs.kept_pages import keep_pages
from lab.benchmarks.archive_jobs.workers import Run, run
from lab.harness import LabCommand, add_items, table
from lab.worlds.items import COPIED_AT_ONCE, Item, add_sources_of, copy_postings, read_items

PAGES = 4_000
TABLES = ("postings_posting", "search_outboxrow", "search_document", "search_term", "search_row", "search_generation")


class Command(LabCommand):
    help = (
        "Read real postings into search again, and the text out of made-up pages of 20 kB, by a job with one worker"
        " process and with two; compare what comes of it. In a database of its own."
    )
    fills_database = True
    seed = 7

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_items(parser)
        parser.add_argument("--count", type=int, default=100_000, help="postings")
        parser.add_argument("--pages", type=int, default=PAGES, help=f"kept of them; by default {PAGES:,}")
        parser.add_argument("--kill", action="store_true", help="then once more, killing one of two workers on the way")

    def measure(
        self, *args: Any, items: Path, count: int, pages: int, kill: bool, seed: int, **_: Any
    ) -> Mapping[str, float]:
        if not 1 <= pages <= count:
            raise CommandError("--pages must be at least 1 and at most --count.")
        self.console, self.seed = Console(), seed
        self._store(read_items(items, count, seed=seed), items)
        self._run("index", 2)  # from nothing
        runs = self._measure("index", comparing.of_documents, kill)
        self._keep(pages)
        self._run("extract", 2)  # so that all begin with the same texts
        runs |= self._measure("extract", comparing.of_texts, kill)
        figures = _figures(runs, count, pages)
        self._print(runs, figures)
        return figures
        if figures["differing_rows"]:
            sys.exit(1)

    def _store(self, items: list[Item], path: Path) -> None:
        source_ids = add_sources_of(items, path)
        for first in self.track(range(0, len(items), COPIED_AT_ONCE), "Storing"):
            copy_postings(items[first : first + COPIED_AT_ONCE], source_ids, first=first)
        _forget_changes()

    def _keep(self, pages: int) -> None:
        chosen = list(Posting.objects.order_by("pk").values_list("pk", flat=True)[:pages])
        kept = keep_pages(chosen, seed=self.seed)
        for _ in self.track(kept, "Keeping pages", total=pages):
            pass
        _forget_changes()

    def _measure(self, kind: str, read: Callable[[], Digests], kill: bool) -> dict[str, tuple[Run, int]]:
        """Each run's figures, and how many rows were other than before it."""
        expected, found = read(), {}
        for name, workers in (("one", 1), ("two", 2), *((("killed", 2),) if kill else ())):
            first = comparing.next_document()
            if kind == "extract":
                comparing.blank_texts()
            _forget_changes()
            measured = self._run(kind, workers, kill=self.seed if name == "killed" else None)
            again = comparing.of_documents(first) if kind == "index" else comparing.of_texts()
            found[f"{kind}.{name}"] = measured, comparing.differing(expected, again)
        return found

    def _run(self, kind: str, workers: int, kill: int | None = None) -> Run:
        # Refreshed explicitly: a refreshing thread could hold a lock during a fork.
        with Progress(console=self.console, transient=True, auto_refresh=False) as progress:
            task = progress.add_task(f"{kind}, {workers} at work", total=None)
            for state in run(kind, workers, kill=kill):
                if isinstance(state, Run):
                    return state
                progress.update(task, completed=state.records_done, total=state.records or None)
                progress.refresh()
        raise CommandError("The job came to no end.")

    def _print(self, runs: dict[str, tuple[Run, int]], figures: dict[str, float]) -> None:
        shown = table(
            f"{figures['postings']:,} postings indexed and {figures['pages']:,} pages extracted again",
            "",
            "Seconds",
            "CPU seconds of workers",
            "Differing rows",
        )
        for name, (measured, rows) in runs.items():
            label = name.replace(".", ", ") + (" of two workers" if measured.killed else "")
            shown.add_row(label, f"{measured.seconds:.1f}", f"{measured.cpu:.1f}", f"{rows:,}")
        self.console.print(shown)
        self.console.print(
            f"Two workers are {figures['index.speedup']:.2f} x as fast as one at indexing,"
            f" {figures['extract.speedup']:.2f} x at extracting.",
            highlight=False,
        )


def _forget_changes() -> None:
    """Empty the outboxes, which have no consumer here, and vacuum, so that all runs start alike."""
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE search_outboxrow, trending_outboxrow, summaries_outboxrow, stories_outboxrow")
        for table in TABLES:
            cursor.execute(f"VACUUM ANALYZE {table}")
        cursor.execute("CHECKPOINT")


def _figures(runs: dict[str, tuple[Run, int]], postings: int, pages: int) -> dict[str, float]:
    figures: dict[str, float] = {"postings": postings, "pages": pages}
    for name, (measured, _) in runs.items():
        figures |= {f"{name}_s": measured.seconds, f"{name}_cpu_s": measured.cpu}
    for kind in ("index", "extract"):
        figures[f"{kind}.speedup"] = figures[f"{kind}.one_s"] / figures[f"{kind}.two_s"]
    figures["killed"] = sum(measured.killed for measured, _ in runs.values())
    return figures | {"differing_rows": sum(rows for _, rows in runs.values())}
