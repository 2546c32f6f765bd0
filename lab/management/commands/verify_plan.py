"""Compare the delays of a replay with those that a simulation of the same plan gives for the same postings."""

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from django.core.management.base import CommandError
from rich.console import Console
from rich.table import Table

from apps.retrieval.algorithms.calendar import DAY, hours_of
from lab.evaluations.replays.plan import Excerpt, excerpt, simulated
from lab.evaluations.replays.verification import Witnessed, collect
from lab.harness import LabCommand, clear_errors
from lab.worlds.addresses import Kind
from lab.worlds.lines import RecordError, Request
from lab.worlds.queries import stored_postings
from lab.worlds.record import read_record


class Command(LabCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--record", type=Path, required=True, metavar="FILE", help="written by replay --record")
        parser.add_argument("--budget", type=float, required=True, help="retrievals per source and recorded day")
        parser.add_argument("--least-gap", type=float, default=1.0, metavar="HOURS", help="(default: %(default)g)")
        parser.add_argument("--longest-gap", type=float, default=24.0, metavar="HOURS", help="(default: %(default)g)")

    def measure(self, *args: Any, record: Path, budget: float, **options: Any) -> Mapping[str, float]:
        least, longest = options["least_gap"], options["longest_gap"]
        if not budget > 0:
            raise CommandError("--budget must be more than 0.")
        with clear_errors(OSError, RecordError):
            witnessed = collect(read_record(record))
            feed_requests = [
                line for line in read_record(record) if isinstance(line, Request) and line.kind == Kind.FEED
            ]
            requests = np.array([request.at for request in feed_requests])
            sources = {request.source for request in feed_requests if request.source is not None}
            part = excerpt(witnessed, sources, float(requests.max(initial=witnessed.start.start)), longest)
            delays = _measured(witnessed, part)
        expected = simulated(part, budget, least_gap=least, longest_gap=longest)
        days = (part.until - part.start) / DAY
        used = float((requests >= witnessed.start.start).sum())
        figures = {
            "sources": len(sources),
            "days": days,
            "postings": delays.size,
            "measured_mean_minutes": float(delays.mean()),
            "simulated_mean_minutes": float(expected.delays.mean() * 60),
            "delay_ratio": float(delays.mean() / (expected.delays.mean() * 60)),
            "used_per_source_and_day": used / len(sources) / days,
            "budget_per_source_and_day": budget,
            "used_ratio": used / len(sources) / days / budget,
        }
        _print(self.console, figures)
        return figures


def _measured(witnessed: Witnessed, part: Excerpt) -> "np.ndarray[Any, np.dtype[np.float64]]":
    """Minutes of recorded time from publication to retrieval, of the postings that are counted."""
    start = witnessed.start
    by_key = {(posting.source, posting.guid or posting.link): posting for posting in witnessed.published.values()}
    delays = []
    for row in stored_postings(start.port, start.began):
        posting = by_key.get((row.source, row.guid)) or by_key.get((row.source, row.url))
        if posting is None:
            continue
        published = float(hours_of(start.origin + (posting.at - start.start) * start.speed))
        if part.start <= published < part.counted:
            delays.append((row.retrieved - posting.at) * start.speed / 60)
    if not delays:
        raise RecordError("no posting of the replay was stored")
    return np.array(delays)


def _print(console: Console, figures: dict[str, float]) -> None:
    table = Table("", "measured", "simulated or allowed", "ratio", box=None)
    table.add_row(
        "mean delay, minutes",
        f"{figures['measured_mean_minutes']:.1f}",
        f"{figures['simulated_mean_minutes']:.1f}",
        f"{figures['delay_ratio']:.3f}",
    )
    table.add_row(
        "retrievals per source and day",
        f"{figures['used_per_source_and_day']:.2f}",
        f"{figures['budget_per_source_and_day']:.2f}",
        f"{figures['used_ratio']:.3f}",
    )
    console.print(table)
    console.print(f"{figures['postings']:.0f} postings of {figures['sources']:.0f} sources, {figures['days']:.2f} days")
