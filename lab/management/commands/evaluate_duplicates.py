"""How many copies are folded, and how many different articles with them, beside simpler methods."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from rich.table import Table

from lab.evaluations.duplicates.methods import methods
from lab.evaluations.duplicates.pairs import pairs
from lab.evaluations.duplicates.stripping import stripped
from lab.evaluations.stories.stream import Labelled
from lab.evaluations.summaries.collections import read_lines
from lab.harness import LabCommand
from lab.management.commands.evaluate_stories import read_headlines, read_texts

MOST = 1_000  # documents of a file


class Command(LabCommand):
    help = "Fold copies of real articles, tell different articles apart, and strip what sources append."
    seed = 1

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--stories", metavar="FOLDER", type=Path, required=True, help="as for evaluate_stories: *.csv and *.json"
        )
        parser.add_argument(
            "--texts",
            metavar="FILE",
            type=Path,
            nargs="*",
            default=(),
            help="*.jsonl as for evaluate_summaries, more articles",
        )

    def measure(self, *, stories: Path, texts: Sequence[Path], seed: int, **_: Any) -> Mapping[str, float]:
        sets = {file.stem.removesuffix("_big"): list(read_texts(file)) for file in sorted(stories.glob("*.json"))}
        for file in sorted(stories.glob("*.csv")):
            headlines = [Labelled(each.title, "", each.publisher, each.story) for each in read_headlines(file)]
            sets["headlines"] = [*sets.get("headlines", ()), *headlines]
        sets |= {file.stem.partition("-")[0]: list(_read(file)) for file in texts}
        if not sets:
            raise CommandError(f"{stories} has neither *.csv nor *.json")
        figures: dict[str, float] = {}
        for name, reports in sets.items():
            figures |= {f"{name}.{key}": value for key, value in self._folded(name, reports, seed).items()}
            if name not in {file.stem.partition("-")[0] for file in texts}:
                found = stripped(reports, seed)
                figures |= {f"{name}.boilerplate.{key}": round(value, 4) for key, value in found.items()}
        self.show("Figures", figures)
        return figures

    def _folded(self, name: str, reports: Sequence[Labelled], seed: int) -> dict[str, float]:
        """The share that each method folds, of each kind of pair and of all."""
        drawn = pairs(reports, seed)
        counts = Counter(pair.kind for pair in drawn) + Counter(_whole(pair.are_copies) for pair in drawn)
        figures: dict[str, float] = {f"pairs.{kind}": number for kind, number in counts.items()}
        deciding = methods(drawn)
        for method, are_one in deciding.items():
            folded: Counter[str] = Counter()
            for pair in drawn:
                if are_one(pair):
                    folded.update((pair.kind, _whole(pair.are_copies)))
            figures |= {f"{method}.{kind}": round(folded[kind] / number, 5) for kind, number in counts.items()}
        table = Table("Pairs folded", *deciding, title=name)
        for kind, number in counts.items():
            table.add_row(f"{kind} ({number:,})", *(f"{figures[f'{method}.{kind}']:.4f}" for method in deciding))
        self.console.print(table)
        return figures


def _whole(are_copies: bool) -> str:
    return "copies" if are_copies else "different"


def _read(file: Path) -> Iterator[Labelled]:
    """Articles of one source, each a story of its own.

    Raises
    ------
    CommandError
        If a line has no text.
    """
    try:
        examples = read_lines(file.read_text(encoding="utf-8").splitlines()[:MOST])
    except ValueError as error:
        raise CommandError(f"{file}: {error}") from error
    for number, each in enumerate(examples):
        yield Labelled(each.title or each.text[:60], each.text, f"{file.stem}.example", str(number))
