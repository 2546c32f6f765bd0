"""Fuzz all parsers of untrusted input. Ends with 1 if one raises an error that it does not document."""

from argparse import ArgumentParser
from collections.abc import Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from django.conf import settings
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from lab.fuzzing.corpus import Corpus
from lab.fuzzing.inputs import MAX_INPUT
from lab.fuzzing.running import Report, Runner
from lab.fuzzing.targets import TARGETS, Target
from lab.harness import LabCommand, Result, table

SEEDS = ("tests/algorithms/feeds", "tests/algorithms/hostile")  # beside those of the targets, where there is a checkout
MAX_SEEDS = 500  # per target


class Command(LabCommand):
    help = __doc__
    seed = 1

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--seconds", type=float, default=60.0, help="of all targets together (default: %(default)s)"
        )
        parser.add_argument("--inputs", type=int, metavar="N", help="of each target, instead of --seconds")
        parser.add_argument("--target", action="append", choices=TARGETS, help="only this one; may be repeated")
        parser.add_argument(
            "--seeds", type=Path, action="append", default=[], metavar="DIR", help="further first inputs"
        )
        parser.add_argument("--corpus", type=Path, metavar="DIR", help="where inputs are kept (default: var/fuzz)")

    def measure(self, *args: Any, seconds: float, inputs: int | None, seed: int, **named: Any) -> Result:
        names: Sequence[str] = named["target"] or list(TARGETS)
        corpus = named["corpus"] or settings.VAR_DIR / "fuzz"
        folders = [*(settings.BASE_DIR / folder for folder in SEEDS), *named["seeds"]]
        reports: dict[str, Report] = {}
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed:,} inputs"),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=self.console, transient=True) as progress:
            for name in names:
                bar = progress.add_task(f"Fuzzing {name}", total=inputs)
                runner = Runner(
                    TARGETS[name],
                    Corpus(corpus / name.replace(" ", "-")),
                    seed=seed,
                    advance=lambda bar=bar: progress.advance(bar),  # type: ignore[misc]
                )
                seeds = _inputs(folders, TARGETS[name])
                reports[name] = runner.run(seeds, inputs=inputs, seconds=seconds / len(names))
                progress.remove_task(bar)
        _show(self.console, reports)
        is_found = any(report.findings for report in reports.values())
        return Result(_figures(reports), failure="Some inputs raise what is not documented." if is_found else "")


def _inputs(folders: Sequence[Path], target: Target) -> list[bytes]:
    """The contents of files; each line of a text is one."""
    files = [file for folder in folders for file in sorted(folder.rglob("*")) if file.suffix in target.suffixes]
    found = (file.read_bytes().splitlines() if file.suffix == ".txt" else [file.read_bytes()] for file in files)
    return [content[:MAX_INPUT] for content in islice(chain.from_iterable(found), MAX_SEEDS)]


def _show(console: Console, reports: dict[str, Report]) -> None:
    shown = table("Inputs that strangers could send", "Target", "Inputs", "Inputs/s", "New in corpus", "Exceptions")
    for name, report in reports.items():
        rate = report.inputs / max(report.seconds, 1e-9)
        shown.add_row(name, f"{report.inputs:,}", f"{rate:,.0f}", f"{report.added:,}", f"{len(report.findings)}")
    console.print(shown)
    for name, report in reports.items():
        for finding in report.findings.values():
            console.print(f"{name}: {finding.error} ({finding.where})\n  {finding.file}", markup=False, soft_wrap=True)


def _figures(reports: dict[str, Report]) -> dict[str, float]:
    figures = {}
    for name, report in reports.items():
        prefix = name.replace(" ", "_")
        figures[f"{prefix}_inputs"] = float(report.inputs)
        figures[f"{prefix}_inputs_per_second"] = report.inputs / max(report.seconds, 1e-9)
        figures[f"{prefix}_added"] = float(report.added)
        figures[f"{prefix}_exceptions"] = float(len(report.findings))
    return figures
