"""What each periodic task reads and costs on a large portal where nothing has changed since it ran last."""

from argparse import ArgumentParser
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from celery import current_app
from celery.schedules import crontab

from apps.accounts.models import User
from apps.alerts import actions as alerts
from apps.database.statements import execute, fetch
from apps.search.actions.saved import save_search
from apps.search.models import SavedSearch
from lab.benchmarks.load_test import population
from lab.benchmarks.steps import used
from lab.harness import LabCommand, table

OFTEN = 600.0  # s; tasks that run at least this often should read little
SEARCHES = 20
MILLISECONDS = 1_000.0

_DOCUMENTS = """
INSERT INTO search_document (number, posting_id, text_hash, source_id, published_at, language, title_length, dead,
    sequence, pairs, names)
SELECT row_number() OVER (ORDER BY id) - 1, id, text_hash, source_id, published_at, 'en', 1, false,
    int4send(1 + (id % 3)::int) || int4send(4), '', '' FROM postings_posting
"""
_TERMS = """
INSERT INTO search_term (id, term, document_frequency)
SELECT number, 'term' || number, 0 FROM generate_series(1, 4) number
"""
_READ = """
SELECT coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::bigint, (
    SELECT sum(idx_tup_read)::bigint FROM pg_stat_user_indexes)
FROM pg_stat_user_tables
"""


class Cost(NamedTuple):
    """Of one run of a task."""

    often: bool
    rows: int  # of tables and indexes, that Postgres read
    worker_ms: float  # of CPU
    postgres_ms: float

    @property
    def ms(self) -> float:
        return self.worker_ms + self.postgres_ms


class Command(LabCommand):
    help = __doc__ or ""
    fills_database = True
    seed = 7

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--postings", type=int, default=1_000_000)
        parser.add_argument("--sources", type=int, default=100_000)
        parser.add_argument("--people", type=int, default=200)

    def measure(self, *args: Any, postings: int, sources: int, people: int, seed: int, **_: Any) -> Mapping[str, float]:
        self._fill(postings, sources, people, seed)
        current_app.loader.import_default_modules()
        entries = current_app.conf.beat_schedule
        for name in self.track([*entries, *entries], "Each task twice"):  # the nightly ones leave work to others
            _run(entries[name])
        execute("VACUUM ANALYZE")
        costs = {name: _cost(entries[name]) for name in self.track(entries, "Each task again")}
        self._print(costs, postings, sources)
        often = [cost for cost in costs.values() if cost.often]
        figures = {"most_rows_often": float(max(cost.rows for cost in often))}
        for name, cost in costs.items():
            figures |= {f"{name}.rows".replace(" ", "_"): float(cost.rows), f"{name}.ms".replace(" ", "_"): cost.ms}
        return figures

    def _fill(self, postings: int, sources: int, people: int, seed: int) -> None:
        at = datetime.now(UTC)
        source_ids = population.add_sources(sources, at)
        with self.progress() as progress:
            task = progress.add_task("Postings", total=postings)
            for stored in population.add_postings(source_ids, postings, at, seed=seed):
                progress.advance(task, stored)
        population.add_users(source_ids, people, at, seed=seed)
        execute(_DOCUMENTS)
        execute(_TERMS)
        execute("INSERT INTO search_head (next_document) SELECT count(*) FROM search_document")
        reader = User.objects.earliest("pk")
        for number in range(SEARCHES):
            save_search(reader, f"{number}", f"term{number % 4 + 1}", order=SavedSearch.Order.NEWEST, now=at)
        while alerts.matching.prepare():
            pass
        execute("VACUUM ANALYZE")

    def _print(self, costs: Mapping[str, Cost], postings: int, sources: int) -> None:
        shown = table(f"{sources:,} sources, {postings:,} postings", "task", "rows read", "ms of CPU", "of Postgres")
        for name, cost in sorted(costs.items(), key=lambda pair: (-pair[1].often, -pair[1].rows)):
            label = name if cost.often else f"{name} (rarely)"
            shown.add_row(label, f"{cost.rows:,}", f"{cost.ms:,.1f}", f"{cost.postgres_ms:,.1f}")
        self.console.print(shown)


def _run(entry: Mapping[str, Any]) -> None:
    current_app.tasks[entry["task"]](*entry["args"])


def _cost(entry: Mapping[str, Any]) -> Cost:
    schedule = entry["schedule"]
    often = not isinstance(schedule, crontab) and schedule <= OFTEN
    rows, before = _rows_read(), used()
    _run(entry)
    worker, postgres = used().less(before)
    return Cost(often, _rows_read() - rows, MILLISECONDS * worker, MILLISECONDS * postgres)


def _rows_read() -> int:
    execute("SELECT pg_stat_force_next_flush()")
    execute("SELECT 1")
    return sum(fetch(_READ)[0])
