"""How fast new postings are matched with saved searches, and how fast users see the hits."""

import random
import time
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.db import connection

from apps.alerts import actions
from apps.alerts.actions.matching import matching_searches
from apps.alerts.models import Hit, OutboxRow, PercolatorQuery, QueryTerm
from apps.alerts.queries import candidates, hits
from apps.postings.models import Posting
from apps.postings.queries import texts
from apps.search.models import SavedSearch
from lab.benchmarks.alerts import naive, saved_searches
from lab.benchmarks.index.searching import Timing, timed
from lab.harness import LabCommand, add_items, table
from lab.worlds.items import Item, add_sources_of, copy_postings, read_items

LENGTHS = (12, 60, 200)  # words of a posting
MEASURED = 200  # postings of each
ARCHIVE = 10_000  # postings that have hits
BUSY = 10  # searches that every posting of the archive answers
PAGE = 50  # hits
WARM_UP = 20
SCANNED = 1_000, 10  # searches, and postings on which each is tried
LABELS = {
    "match12": "match a posting of 12 words",
    "kept12": "  and keep its hits",
    "match60": "match one of 60 words",
    "kept60": "  and keep its hits",
    "match200": "match one of 200 words",
    "kept200": "  and keep its hits",
    "hits_of": "newest 50 hits of a search",
    "hits_of_older": "50 older hits",
    "count_hits": "how many hits all of a person's searches have",
    "sources_of": "which sources serve a search",
}


class Command(LabCommand):
    help = "Measure the matching of postings with standing searches, in a database of its own."
    fills_database = True
    seed = 7

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_items(parser)
        parser.add_argument("--searches", type=int, default=100_000)
        parser.add_argument("--hits", type=int, default=1_000_000, help="that are there before")

    def measure(self, *args: Any, items: Path, searches: int, hits: int, seed: int, **_: Any) -> Mapping[str, float]:
        self.seed, self.now = seed, datetime.now(UTC)
        self.console.print(f"Reading {items}", highlight=False)
        needed = sum(LENGTHS) * (MEASURED + WARM_UP) // 4
        drawn = read_items(items, ARCHIVE + needed, seed=seed)
        source_ids = add_sources_of(drawn, items, listed=True)
        copy_postings(drawn[:ARCHIVE], source_ids, first=0)
        OutboxRow.objects.all().delete()
        queries = saved_searches.draw_queries(drawn, searches, seed=seed)
        figures = self._stand(queries)
        self._add_hits(hits)
        timings: dict[str, Timing] = {}
        for length in LENGTHS:
            figures |= self._match(
                saved_searches.of_words(drawn[ARCHIVE:], length, MEASURED + WARM_UP), source_ids, length, timings
            )
        figures |= self._scan()
        timings |= self._read()
        figures |= {
            f"{name}_{part}_ms": value for name, timing in timings.items() for part, value in asdict(timing).items()
        }
        figures |= {"match_p50_ms": timings["match60"].p50, "match_p99_ms": timings["match60"].p99}
        self._print(figures, timings)
        return figures

    # --- what is there ------------------------------------------------------------------------------------------------
    def _stand(self, queries: Sequence[str]) -> dict[str, float]:
        begin = time.perf_counter()
        saved_searches.add_searches(queries)
        while saved_searches.prepare():
            pass
        seconds = time.perf_counter() - begin
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")
        anchors, refused = QueryTerm.objects.count(), PercolatorQuery.objects.exclude(refusal="").count()
        self.console.print(
            f"{len(queries):,} searches stand after {seconds:.0f} s by {anchors:,} anchors; {refused} refused"
        )
        return {"searches": len(queries), "prepare_s": seconds, "anchors": anchors, "refused": refused}

    def _add_hits(self, count: int) -> None:
        """Of searches drawn at random, except a few that find everything."""
        postings = list(Posting.objects.order_by("pk").values_list("pk", flat=True))
        with connection.cursor() as cursor:
            cursor.execute(_ADD_HITS, {"count": count, "busy": BUSY, "first": postings[0], "last": postings[-1]})
            cursor.execute("VACUUM ANALYZE alerts_hit")
            cursor.execute("CHECKPOINT")

    # --- measurements -------------------------------------------------------------------------------------------------
    def _match(
        self, postings: Sequence[Item], source_ids: dict[int, int], length: int, timings: dict[str, Timing]
    ) -> dict[str, float]:
        begin = Posting.objects.order_by("-pk").values_list("pk", flat=True)[0]
        copy_postings(postings, source_ids, first=length * 1_000_000)
        newest = max(item.published for item in postings)
        now = datetime.fromtimestamp(newest, UTC)
        for _ in range(WARM_UP):
            actions.matching.match(1, now=now)
        known = Hit.objects.count()

        def match(_: int) -> None:
            assert actions.matching.match(1, now=now)

        rounds = range(len(postings) - WARM_UP)
        timing = timed(match, self.track(rounds, f"{length} words", auto_refresh=False))
        timings[f"kept{length}"] = timing
        self.console.print(f"{length} words: p50 {timing.p50:.1f} ms, p99 {timing.p99:.1f} ms, CPU {timing.cpu:.1f} ms")
        ids = list(Posting.objects.filter(pk__gt=begin).values_list("pk", flat=True)[: len(rounds)])
        timings[f"match{length}"] = timed(lambda id: matching_searches(candidates.readings([id]), now), ids)
        return {f"hits{length}": (Hit.objects.count() - known) / len(rounds)}

    def _scan(self) -> dict[str, float]:
        chance = random.Random(self.seed)
        searches, postings = SCANNED
        ids = chance.sample(list(PercolatorQuery.objects.filter(refusal="").values_list("pk", flat=True)), searches)
        queries = dict(SavedSearch.objects.filter(pk__in=ids).values_list("pk", "query"))
        some = chance.sample(list(Posting.objects.order_by("-pk").values_list("pk", flat=True)[:MEASURED]), postings)
        each, wrong = naive.scan(queries, list(texts(some).values()), now=self.now)
        return {"naive_us": each * 1e6, "naive_wrong": wrong}

    def _read(self) -> dict[str, Timing]:
        chance = random.Random(self.seed)
        ids = list(SavedSearch.objects.order_by("pk").values_list("pk", flat=True))
        some = SavedSearch.objects.select_related("user").in_bulk([*ids[:BUSY], *chance.sample(ids, 90)])
        searches = list(some.values())
        older = {saved.pk: found[-1].pk for saved in searches if (found := hits.hits_of(saved, None, 5))}
        reads: dict[str, Callable[[SavedSearch], object]] = {
            "hits_of": lambda saved: hits.hits_of(saved, None, PAGE),
            "hits_of_older": lambda saved: hits.hits_of(saved, older.get(saved.pk), PAGE),
            "count_hits": lambda saved: hits.count_hits(saved.user),
            "sources_of": lambda saved: hits.sources_of(saved, self.now),
        }
        return {name: timed(read, searches) for name, read in reads.items()}

    def _print(self, figures: dict[str, float], timings: dict[str, Timing]) -> None:
        shown = table(f"{figures['searches']:,.0f} searches", "", "p50 ms", "p99 ms", "CPU ms")
        for name, label in LABELS.items():
            timing = timings[name]
            shown.add_row(label, *(f"{value:.1f}" for value in (timing.p50, timing.p99, timing.cpu)))
        self.console.print(shown)
        for length in LENGTHS:
            self.console.print(f"A posting of {length} words answers {figures[f'hits{length}']:,.0f} searches.")
        self.console.print(
            f"One search on one posting takes {figures['naive_us']:.0f} microseconds: a scan of all would take"
            f" {figures['naive_us'] * figures['searches'] / 1e3:,.0f} ms for each posting, extrapolated from"
            f" {SCANNED[0] * SCANNED[1]:,} of them, of which {figures['naive_wrong']:.0f} had another answer."
        )


_ADD_HITS = """
INSERT INTO alerts_hit (saved_id, posting_id, source_id, published_at, retrieved_at, found_at)
SELECT saved_id, posting.id, source_id, published_at, published_at + random() * interval '1 hour', now()
FROM (
    SELECT saved.id AS saved_id, posting_id
    FROM (SELECT id FROM search_savedsearch ORDER BY id LIMIT %(busy)s) saved,
        generate_series(%(first)s::bigint, %(last)s::bigint) posting_id
    UNION
    SELECT saved.id, %(first)s + floor(random() * (%(last)s - %(first)s + 1))::bigint
    FROM (SELECT id FROM search_savedsearch ORDER BY id OFFSET %(busy)s) saved,
        generate_series(1, (SELECT %(count)s / count(*) FROM search_savedsearch))
) wanted JOIN postings_posting posting ON posting.id = posting_id ORDER BY posting.id, saved_id
"""
