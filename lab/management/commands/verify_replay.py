"""Compare a replay's record with the stored postings: losses, duplicates, lateness, and politeness of requests."""

import time
from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from lab.evaluations.replays.summary import Summary
from lab.evaluations.replays.verification import Verdict, Witnessed, collect, compare
from lab.harness import LabCommand, Result, clear_errors
from lab.worlds.lines import RecordError
from lab.worlds.queries import stored_postings
from lab.worlds.record import read_record, summarise


class Command(LabCommand):
    help = f"{__doc__} Ends with 1 if a posting is lost or doubled."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--record", type=Path, required=True, metavar="FILE", help="written by replay --record")
        parser.add_argument(
            "--wait", type=float, default=0.0, metavar="SECONDS", help="for postings that are being stored"
        )

    def measure(self, *args: Any, **options: Any) -> Result:
        with clear_errors(OSError, RecordError):
            witnessed = collect(read_record(options["record"]))
            summary = summarise(options["record"])
            verdict = _compare(witnessed, options["wait"])
        _print(verdict, summary, self.console)
        figures = {**asdict(verdict), "passed": verdict.passed, "client": asdict(summary)}
        return Result(figures, failure="" if verdict.passed else "Postings are lost or doubled.")


def _compare(witnessed: Witnessed, wait: float) -> Verdict:
    until = time.monotonic() + wait
    while True:
        verdict = compare(witnessed, stored_postings(witnessed.start.port, witnessed.start.began))
        if not verdict.lost_count or time.monotonic() >= until:
            return verdict
        time.sleep(0.5)


def _print(verdict: Verdict, summary: Summary, console: Console) -> None:
    table = Table("", "", show_header=False, box=None)
    for name, value in _rows(verdict, summary):
        table.add_row(name, value)
    console.print(table)
    for name, links in (("lost", verdict.lost), ("doubled", verdict.doubled)):
        for link in links:
            console.print(f"{name}: {link}", highlight=False)
    if verdict.passed:
        console.print("Every posting served is stored once.")


def _rows(verdict: Verdict, summary: Summary) -> list[tuple[str, str]]:
    delays, share, gap = verdict.delays, summary.conditional_share_after_first, summary.smallest_gap_minutes
    tags, dates = summary.if_none_match, summary.if_modified_since
    return [
        ("postings", f"{verdict.published:,} published, {verdict.served:,} served, {verdict.stored:,} stored"),
        ("lost, doubled", f"{verdict.lost_count:,}, {verdict.doubled_count:,}"),
        ("stored but unknown", f"{verdict.unknown_count:,}"),
        ("slipped out of the feed unseen", f"{verdict.slipped_count:,}"),
        ("served to a client that died, and gone from the feed", f"{verdict.unobtainable_count:,}"),
        (
            "delay in minutes",
            f"mean {delays.mean:.1f}, p50 {delays.p50:.1f}, p95 {delays.p95:.1f}, max {delays.largest:.1f}"
            f" ({delays.count:,} postings)"
            if delays
            else "nothing was published since the start",
        ),
        (
            "requests",
            f"{summary.requests:,} for {summary.sources:,} feeds in {summary.days:.2f} days"
            f" ({summary.requests_per_source_and_day:.2f} a source and day), {summary.other_requests:,} others",
        ),
        ("answers", ", ".join(f"{status}: {count:,}" for status, count in sorted(summary.statuses.items()))),
        ("smallest gap in minutes", "-" if gap is None else f"{gap:.1f} (source {summary.smallest_gap_source})"),
        ("conditional after the first", "-" if share is None else f"{share:.1%}"),
        ("without a condition for no reason", f"{summary.unreasonable:,}"),
        ("If-None-Match good, stale, bogus", f"{tags.good:,}, {tags.stale:,}, {tags.bogus:,}"),
        ("If-Modified-Since good, stale, bogus", f"{dates.good:,}, {dates.stale:,}, {dates.bogus:,}"),
        ("unwelcome headers and queries", ", ".join(f"{k}: {n:,}" for k, n in summary.unwelcome.items()) or "none"),
        (
            "connections",
            f"at most {summary.max_connections} to a host,"
            f" {summary.requests_over_several_connections:,} requests while another was open",
        ),
    ]
