"""Cleans collections of hostile markup and says what two other parsers still find unsafe."""

from argparse import ArgumentParser
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from rich.table import Table

from apps.postings.algorithms.markup import clean
from lab.evaluations.extraction.hostile import complaints, payloads
from lab.harness import LabCommand, Result

EXAMPLES_SHOWN = 10
MAX_EXAMPLE_LENGTH = 300  # characters
PAGE = "https://example.org/articles/1"


@dataclass(slots=True)
class Tally:
    collection: str
    cases: int = 0
    exceptions: int = 0
    unsafe: int = 0
    unstable: int = 0  # cleaned again they change
    examples: list[str] = field(default_factory=list)

    @property
    def failures(self) -> int:
        return self.exceptions + self.unsafe + self.unstable

    def add(self, payload: str) -> None:
        self.cases += 1
        try:
            html = clean(payload, base_url=PAGE).html
            again = clean(html, base_url=PAGE).html
        except Exception as error:
            self.exceptions += 1
            self._show(payload, repr(error))
            return
        if found := complaints(html):
            self.unsafe += 1
            self._show(payload, ", ".join(found))
        if again != html:
            self.unstable += 1
            self._show(payload, f"{html!r} became {again!r}")

    def _show(self, payload: str, complaint: str) -> None:
        if len(self.examples) < EXAMPLES_SHOWN:
            self.examples.append(f"{payload[:MAX_EXAMPLE_LENGTH]!r}: {complaint[:MAX_EXAMPLE_LENGTH]}")


class Command(LabCommand):
    help = "Clean every hostile input of a folder and count exceptions and unsafe or unstable results."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--hostile", type=Path, required=True, metavar="DIR", help="files of hostile markup")

    def measure(self, *args: Any, **options: Any) -> Result:
        folder: Path = options["hostile"]
        if not folder.is_dir():
            raise CommandError(f"{folder} is no folder")
        tallies = evaluate(folder, self.track(sorted(folder.rglob("*")), "Cleaning"))
        if not tallies:
            raise CommandError(f"{folder} holds no file in a known format of hostile markup")
        self.console.print(_table(tallies))
        for tally in tallies:
            for example in tally.examples:
                self.say(f"{tally.collection}: {example}")
        failures = sum(tally.failures for tally in tallies)
        return Result(_figures(tallies), failure=f"{failures} inputs are not handled" if failures else "")


def evaluate(folder: Path, paths: Iterable[Path]) -> list[Tally]:
    """Try every input of these paths below the folder; a collection is a file's path without its last part."""
    tallies: dict[str, Tally] = {}
    for path in paths:
        if path.is_file():
            collection = str(path.relative_to(folder).parent if path.parent != folder else path.name)
            for payload in payloads(path.name, path.read_text("utf-8", "replace")):
                tallies.setdefault(collection, Tally(collection)).add(payload)
    return list(tallies.values())


def _table(tallies: Sequence[Tally]) -> Table:
    table = Table("collection", "cases", "exceptions", "unsafe", "unstable")
    for tally in (*tallies, _sum(tallies)):
        table.add_row(tally.collection, *map(str, (tally.cases, tally.exceptions, tally.unsafe, tally.unstable)))
    return table


def _figures(tallies: Sequence[Tally]) -> dict[str, int]:
    return {
        f"{tally.collection}.{name}": getattr(tally, name)
        for tally in (*tallies, _sum(tallies))
        for name in ("cases", "exceptions", "unsafe", "unstable")
    }


def _sum(tallies: Sequence[Tally]) -> Tally:
    return Tally(
        "all",
        cases=sum(tally.cases for tally in tallies),
        exceptions=sum(tally.exceptions for tally in tallies),
        unsafe=sum(tally.unsafe for tally in tallies),
        unstable=sum(tally.unstable for tally in tallies),
    )
