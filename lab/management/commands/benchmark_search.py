"""The speed of searches and of additions to the index with real items, compared with Postgres and tantivy."""

import gc
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numpy as np
from django.db import connection

from apps.database.statements import fetch
from apps.search import actions
from apps.search.algorithms.index.levels import LARGEST
from lab.benchmarks.index import adding, over_http, rivals, searching
from lab.benchmarks.index.caches import forget_index
from lab.benchmarks.index.searching import Question, Timing, draw_questions, timed
from lab.harness import LabCommand, add_items, table
from lab.worlds.items import COPIED_AT_ONCE, Item, add_sources_of, copy_postings, read_items

SMALL = 10_000  # postings, to compare with
PULLED_AT_ONCE = 16_384
BATCHES = 40  # of 50 postings, each time that adding is measured
FOUND = 20  # postings whose indexing is timed
WARM_UP = 150  # questions, so that common words are remembered as they are in a running portal
DRAWN_TO_FILL = 4_000  # questions, of which those are kept whose page is full
SLOW = 100  # queries for slow searches
LABELS = {
    "three_terms": "any of three words",
    "three_terms_cold": "  nothing remembered",
    "feedback": "  with feedback, 30 added words",
    "portal": "  with feedback, 50 weighted words",
    "three_terms_again": "  other words, beside the next two",
    "ts_rank": "  Postgres, ts_rank",
    "tantivy": "  tantivy",
    "two_terms": "any of two words",
    "two_terms_ts_rank": "  Postgres, ts_rank",
    "one_term": "one word",
    "one_term_ts_rank": "  Postgres, ts_rank",
    "newest": "newest 20 with two words",
    "newest_full": "  of them in either archive",
    "newest_all": "newest 20 of all",
    "add50_both_alone": "store and index 50",
    "add50_store_alone": "  storing",
    "add50_pull_alone": "  indexing alone",
    "add50_both_beside": "store and index 50 while 4 read",
    "add50_store_beside": "  storing",
    "add50_pull_beside": "  indexing alone",
    "reader": "  what the readers wait",
}
Case = TypeVar("Case")
TABLES = ("search_document", "search_term", "search_row", "search_generation")


class Command(LabCommand):
    help = "Measure questions to the index and additions to it, with real postings, in a database of its own."
    fills_database = True
    seed = 7

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_items(parser)
        parser.add_argument("--count", type=int, default=700_000, help="postings in the archive; at least 20,000")
        parser.add_argument("--questions", type=int, default=500)
        parser.add_argument("--http", action="store_true", help="measure only the search page, over HTTP")
        parser.add_argument(
            "--pause", type=float, default=0.1, metavar="SECONDS", help="of each reader after a question"
        )

    def measure(
        self, *args: Any, items: Path, count: int, questions: int, pause: float, http: bool, seed: int, **_: Any
    ) -> Mapping[str, float]:
        if http:
            return self._measure_http(items, count, questions, seed)
        tantivy = rivals.load_tantivy()
        self.pause, self.seed, self.questions = pause, seed, questions
        measured = BATCHES * adding.BATCH
        extra = 2 * measured + FOUND
        self.console.print(f"Reading {items}", highlight=False)
        drawn = read_items(items, count + extra, seed=seed)
        archive, later = drawn[:-extra], drawn[-extra:]
        source_ids = add_sources_of(drawn, items)
        self.source_id = source_ids[later[-1].source]
        figures = self._load(archive[:SMALL], source_ids, first=0)
        self.filling = _filling(self.seed + 2)
        self.later = archive[SMALL : SMALL + measured]  # news arrive in the order of their times, here as well
        small = self._measure_what_may_not_grow("small")
        loaded = self._load(archive[SMALL + measured :], source_ids, first=SMALL + measured)
        figures = {name: value + loaded[name] for name, value in figures.items()}
        size, self.later = len(archive), later
        # From here on measure like a web process: without gigabytes of items, and with a fresh session.
        del drawn, archive, later
        gc.collect()
        connection.close()
        timings = self._measure_questions() | self._measure_what_may_not_grow("large")
        figures |= self._measure_rivals(tantivy, timings) | _sizes() | self._measure_adding_beside(timings)
        figures |= _figures(small, timings)
        self._print(timings, small, figures, size)
        return figures

    def _measure_http(self, items: Path, count: int, questions: int, seed: int) -> dict[str, float]:
        archive = read_items(items, count, seed=seed)
        self._load(archive, add_sources_of(archive, items, listed=True), first=0)
        del archive
        drawn = draw_questions(WARM_UP + questions, seed=seed)
        connection.close()
        figures = over_http.measure(drawn[:WARM_UP], drawn[WARM_UP:])
        self.show(f"The search page over HTTP, {count:,} postings", figures, "{:,.1f}")
        return figures

    # --- the archive --------------------------------------------------------------------------------------------------
    def _load(self, items: list[Item], source_ids: dict[int, int], *, first: int) -> dict[str, float]:
        for at in self._track(range(0, len(items), COPIED_AT_ONCE), f"storing {len(items):,} postings"):
            copy_postings(items[at : at + COPIED_AT_ONCE], source_ids, first=first + at)
        pulling = maintaining = 0.0
        for _ in self._track(range(0, len(items), PULLED_AT_ONCE), f"indexing {len(items):,} postings"):
            begin = time.perf_counter()
            actions.reindexing.consume(PULLED_AT_ONCE)
            middle = time.perf_counter()
            actions.segment_building.maintain(at_least=LARGEST)
            pulling += middle - begin
            maintaining += time.perf_counter() - middle
        begin = time.perf_counter()
        actions.segment_building.maintain()
        maintaining += time.perf_counter() - begin
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")  # of all tables, or the server would do it while searches are measured
            cursor.execute("CHECKPOINT")
        return {"pull_s": pulling, "maintain_s": maintaining}

    # --- measurements -------------------------------------------------------------------------------------------------
    def _measure_questions(self) -> dict[str, Timing]:
        questions = draw_questions(WARM_UP + self.questions, seed=self.seed)
        for question in questions[:WARM_UP]:
            searching.search_with_feedback(question)
        measured, few = questions[WARM_UP:], questions[WARM_UP : WARM_UP + SLOW]
        return {
            "three_terms": self._timed("three words", searching.search_postings, measured),
            "feedback": self._timed("with feedback", searching.search_with_feedback, measured),
            "portal": self._timed("as in the portal", searching.search_as_portal, measured),
            "three_terms_cold": timed(
                searching.search_postings, self._track(few, "nothing remembered"), before=forget_index
            ),
        }

    def _measure_what_may_not_grow(self, name: str) -> dict[str, Timing]:
        """Two words cost more the further back their page reaches; the effect of the archive's size alone shows in
        queries whose page is full in the small archive already.
        """
        questions = draw_questions(WARM_UP + self.questions, seed=self.seed)
        for question in questions[:WARM_UP]:
            searching.newest_with_both(question)
            searching.newest_of_all(question)
        measured = questions[WARM_UP:]
        return {
            "newest": self._timed("newest with two words", searching.newest_with_both, measured),
            "newest_full": self._timed("  of them in either archive", searching.newest_with_both, self.filling),
            "newest_all": self._timed("newest of all", searching.newest_of_all, measured),
            **self._measure_adding(f"{name} archive", "alone"),
        }

    def _measure_adding(self, label: str, when: str) -> dict[str, Timing]:
        added = adding.add_batches(self._take(BATCHES * adding.BATCH), self.source_id, label)
        return {f"add50_{part}_{when}": timing for part, timing in added.items()}

    def _measure_adding_beside(self, timings: dict[str, Timing]) -> dict[str, float]:
        self.console.print(f"Adding while {adding.READERS} others search, then as beat and worker do it")
        with adding.readers(pause=self.pause) as seconds:
            timings |= self._measure_adding("large archive, readers", "beside")
        timings["reader"] = Timing.of(seconds, 0.0)
        delays = adding.delays_until_found(self._take(FOUND), self.source_id)
        return {"found_after_p50_s": float(np.median(delays)), "found_after_longest_s": max(delays)}

    def _measure_rivals(self, tantivy: ModuleType, timings: dict[str, Timing]) -> dict[str, float]:
        drawn = draw_questions(WARM_UP + self.questions, seed=self.seed + 1)
        questions = drawn[WARM_UP:]
        self.console.print("Building Postgres' own text search, then tantivy's")
        text_search_s = rivals.build_text_search()
        for question in drawn[:WARM_UP]:
            searching.search_with_feedback(question)
        timings["three_terms_again"] = self._timed("three words once more", searching.search_postings, questions)
        timings["ts_rank"] = self._timed("ts_rank", rivals.search_postgres, questions[:SLOW])
        for name, words in (("two_terms", 2), ("one_term", 1)):
            fewer = [replace(question, words=question.words[:words]) for question in questions]
            timings[name] = self._timed(LABELS[name], searching.search_postings, fewer)
            timings[f"{name}_ts_rank"] = self._timed("ts_rank", rivals.search_postgres, fewer[:SLOW])
        rivals.drop_text_search()
        search_tantivy, tantivy_s = rivals.build_tantivy(tantivy)
        timings["tantivy"] = self._timed("tantivy", search_tantivy, questions)
        return {"ts_rank_build_s": text_search_s, "tantivy_build_s": tantivy_s}

    # --- shared parts -------------------------------------------------------------------------------------------------
    def _take(self, count: int) -> list[Item]:
        taken, self.later = self.later[:count], self.later[count:]
        return taken

    def _timed(self, name: str, search: Callable[[Question], object], questions: list[Question]) -> Timing:
        timing = timed(search, self._track(questions, name))
        # At once, since the table comes only at the end of a long run.
        self.console.print(f"{name}: p50 {timing.p50:.1f} ms, p99 {timing.p99:.1f} ms, CPU {timing.cpu:.1f} ms")
        return timing

    def _track(self, cases: Sequence[Case], name: str) -> Iterable[Case]:
        # Refreshed between the cases: a thread would be measured with them.
        return self.track(cases, name, auto_refresh=False)

    def _print(
        self, timings: dict[str, Timing], small: dict[str, Timing], figures: dict[str, float], count: int
    ) -> None:
        shown = table(f"{count:,} postings", "", "p50 ms", "p99 ms", "CPU ms", f"at {SMALL:,}: p50 ms", "p99 ms")
        for name, label in LABELS.items():
            timing, before = timings[name], small.get(name)
            cells = [f"{timing.p50:.1f}", f"{timing.p99:.1f}", f"{timing.cpu:.1f}" if timing.cpu else ""]
            shown.add_row(label, *cells, *((f"{before.p50:.1f}", f"{before.p99:.1f}") if before else ()))
        self.console.print(shown)
        self.console.print(
            f"Indexed in {figures['pull_s']:.0f} s, segments built and merged in {figures['maintain_s']:.0f} s;"
            f" Postgres' own in {figures['ts_rank_build_s']:.0f} s, tantivy in {figures['tantivy_build_s']:.0f} s."
            f" {figures['index_mb']:.0f} MB, {figures['documents_mb']:.0f} of them documents."
        )
        self.console.print(
            f"Three words: {figures['ts_rank_ratio']:.0f} x as fast as ts_rank at p99,"
            f" tantivy is {figures['tantivy_ratio']:.1f} x as fast as ours at p50."
            f" Found {figures['found_after_p50_s']:.2f} s after the commit, at most"
            f" {figures['found_after_longest_s']:.2f} s."
        )
        self.console.print(
            f"What it takes with {SMALL:,} postings as 1: newest of all {figures['newest_all_ratio']:.2f}, with two"
            f" words that fill the page {figures['newest_full_ratio']:.2f}, with any {figures['newest_ratio']:.2f};"
            f" storing and indexing {figures['add50_both_ratio']:.2f}, indexing alone {figures['add50_ratio']:.2f}."
        )


def _filling(seed: int) -> list[Question]:
    """Queries whose page of newest postings is full; clears the caches afterwards."""
    drawn = draw_questions(DRAWN_TO_FILL, seed=seed)
    filling = [question for question in drawn if len(searching.newest_with_both(question)) == searching.RESULTS]
    forget_index()
    return filling


def _sizes() -> dict[str, float]:
    sizes = dict(
        fetch("SELECT name, pg_total_relation_size(name::regclass) FROM unnest(%s::text[]) name", [list(TABLES)])
    )
    return {"index_mb": sum(sizes.values()) / 1e6, "documents_mb": sizes["search_document"] / 1e6}


def _figures(small: dict[str, Timing], timings: dict[str, Timing]) -> dict[str, float]:
    """All timings, and the ratios that the requirements limit."""
    whole = {f"{name}_{part}_ms": value for name, timing in timings.items() for part, value in asdict(timing).items()}
    whole |= {f"{name}_at_10k_p50_ms": timing.p50 for name, timing in small.items()}
    return whole | {
        "add50_p50_ms": timings["add50_pull_beside"].p50,
        "add50_p99_ms": timings["add50_pull_beside"].p99,
        "ts_rank_ratio": timings["ts_rank"].p99 / timings["three_terms_again"].p99,
        "tantivy_ratio": timings["three_terms_again"].p50 / timings["tantivy"].p50,
        "newest_ratio": timings["newest"].p50 / small["newest"].p50,
        "newest_all_ratio": timings["newest_all"].p50 / small["newest_all"].p50,
        "newest_full_ratio": timings["newest_full"].p50 / small["newest_full"].p50,
        "add50_both_ratio": timings["add50_both_alone"].p50 / small["add50_both_alone"].p50,
        "add50_ratio": timings["add50_pull_alone"].p50 / small["add50_pull_alone"].p50,
    }
