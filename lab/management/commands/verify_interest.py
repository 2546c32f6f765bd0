"""Compare a replay with --searches with the same one without: which sources were checked more often, or waited."""

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from rich.console import Console
from rich.table import Table

from lab.evaluations.replays.interest import RAISED, Group, compare, observe
from lab.harness import LabCommand, clear_errors
from lab.worlds.lines import RecordError
from lab.worlds.queries import interests_of
from lab.worlds.record import read_beginning, read_record

BOUNDS = (1.0, RAISED, 1.5, 2.5, 10.0)


class Command(LabCommand):
    help = f"{__doc__} Run it while the portal is up that saw the searches."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--with", dest="searched", type=Path, required=True, metavar="FILE", help="replay --searches"
        )
        parser.add_argument("--without", type=Path, required=True, metavar="FILE", help="the same replay")
        parser.add_argument("--longest-gap", type=float, default=24.0, metavar="HOURS", help="(default: %(default)g)")

    def measure(
        self, *args: Any, searched: Path, without: Path, longest_gap: float, **options: Any
    ) -> Mapping[str, float]:
        with clear_errors(OSError, RecordError):
            beginning = read_beginning(searched)
            if beginning is None:
                raise CommandError(f"{searched} is empty or does not exist.")
            interest = interests_of(beginning[0].port)
            records = observe(read_record(searched)), observe(read_record(without))
            groups = compare(*records, interest, BOUNDS, longest=longest_gap)
            raised, others = (
                compare(*records, interest, bounds, longest=longest_gap) for bounds in ((RAISED, 10.0), (1.0, RAISED))
            )
        if not raised or not others:
            raise CommandError("No source is raised by a search, or every one is: there is nothing to compare.")
        return _report(self.console, groups, raised[0], others[0])


def _report(console: Console, groups: list[Group], raised: Group, others: Group) -> dict[str, float]:
    table = Table(title=f"{raised.sources + others.sources} sources, {raised.sources} of them raised")
    for column in ("root of the interest", "sources", "retrievals", "mean delay, h"):
        table.add_column(column, justify="right")
    for group in groups:
        table.add_row(
            f"{group.by_root:.2f}",
            str(group.sources),
            f"x {_ratio(group.retrievals):.3f}",
            f"{group.delays[1]:.2f} to {group.delays[0]:.2f}, x {_ratio(group.delays):.3f}",
        )
    console.print(table)
    retrievals = tuple(a + b for a, b in zip(raised.retrievals, others.retrievals, strict=True))
    figures = {
        "sources_raised": float(raised.sources),
        "retrievals_ratio": _ratio((retrievals[0], retrievals[1])),
        "others.retrievals_ratio": _ratio(others.retrievals),
        "others.delay_ratio": _ratio(others.delays),
        "raised.retrievals_ratio": _ratio(raised.retrievals),
        "raised.delay_ratio": _ratio(raised.delays),
    }
    for name, value in figures.items():
        console.print(f"{name}: {value:.3f}")
    return figures


def _ratio(values: tuple[float, float]) -> float:
    return values[0] / values[1] if values[1] else float("nan")
