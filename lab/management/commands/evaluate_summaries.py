"""Compares summaries of lead, LexRank, TextRank, LSA, Luhn, the thesis and ours with human ones."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from lab.evaluations.summaries.collections import Budget, Collection, Example, from_files, read_lines, sample
from lab.evaluations.summaries.evaluation import Results, evaluate, numbers, prepare
from lab.evaluations.summaries.methods import METHODS, Method
from lab.evaluations.summaries.rouge import MEASURES
from lab.harness import LabCommand, Result, table
from lab.plots import bars

CHINESE = "chinese"
MAX_DOCUMENTS = 600  # per collection; the slow methods take minutes for more


class Command(LabCommand):
    help = "Compare summaries of equal length by ROUGE: lead, LexRank, TextRank, LSA, Luhn, the thesis' formula, ours."
    plotted = "ROUGE-2"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--data",
            type=Path,
            required=True,
            help="folder with articles/*/*.txt and summaries/*/*.txt (BBC), and *.jsonl of text and summary (CNN)",
        )
        parser.add_argument("--chinese", type=Path, help="*.jsonl of text and headline")
        parser.add_argument("--documents", type=int, default=MAX_DOCUMENTS, help="at most so many of each, seeded")

    def measure(self, *, data: Path, chinese: Path | None, documents: int, **_: Any) -> Result:
        if documents < 1:
            raise CommandError(f"--documents must be at least 1, not {documents}")
        try:
            collections = list(_collections(data, chinese, documents))
        except (OSError, ValueError) as error:
            raise CommandError(str(error)) from error
        if not collections:
            raise CommandError(f"{data} has neither articles/ and summaries/ nor *.jsonl")
        return run(collections, self.console)


def _collections(data: Path, chinese: Path | None, most: int) -> Iterator[Collection]:
    for file in sorted(data.glob("*.jsonl")):
        examples = _lines(file)
        found = Collection(file.stem.partition("-")[0], "en", Budget(sentences=3), sample(examples, most))
        yield found
        yield from found.of_first_lines()
    articles = sorted((data / "articles").glob("*/*.txt"))
    if articles:
        pairs = [from_files(_read(file), _read(data / "summaries" / file.parent.name / file.name)) for file in articles]
        yield Collection("bbc", "en", Budget(words=100), sample(pairs, most))
    if chinese:
        yield Collection(CHINESE, "zh", Budget(sentences=1), sample(_lines(chinese), most), is_averaged=False)


def _lines(file: Path) -> list[Example]:
    try:
        with file.open(encoding="utf-8") as lines:
            return read_lines(lines)
    except ValueError as error:
        raise ValueError(f"{file}, {error}") from error


def _read(file: Path) -> str:
    content = file.read_bytes()
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.decode("latin-1")


def run(collections: list[Collection], console: Console) -> Result:
    """Evaluate all methods on the collections, and print a table of each."""
    results: dict[str, dict[str, Results]] = {}
    with Progress(console=console) as progress:
        bar = progress.add_task("", total=sum(len(_methods(each)) for each in collections))
        for collection in collections:
            progress.update(bar, description=f"Summarising {collection.name}")
            prepared, examples = prepare(collection)
            if not prepared:
                raise CommandError(f"{collection.name} has no text of five sentences")
            of_collection = results[collection.name] = {}
            for method, found in evaluate(prepared, examples, collection, _methods(collection)):
                of_collection[method] = found
                progress.advance(bar)
    averaged = [collection.name for collection in collections if collection.is_averaged]
    found_numbers = numbers(results, averaged)
    for collection in collections:
        console.print(_table(collection, results[collection.name], found_numbers))
    if averaged:
        console.print(_means(averaged, found_numbers))
    by_collection = {
        name: {method: each.mean("rouge2_f") for method, each in of_collection.items()}
        for name, of_collection in results.items()
        if len(of_collection) == len(METHODS)
    }
    return Result(found_numbers, lambda: bars("Summaries of equal length: F1 of ROUGE-2", by_collection))


def _methods(collection: Collection) -> Mapping[str, Method]:
    """All methods except first lines, which show the loss of not taking the beginning."""
    if collection.is_averaged or collection.name == CHINESE:
        return METHODS
    return {name: METHODS[name] for name in ("lead", "ours")}


def _table(collection: Collection, results: dict[str, Results], found: dict[str, float]) -> Table:
    documents = int(found[f"{collection.name}.documents"])
    reference = "headline" if collection.name == CHINESE else "reference"
    shown = table(
        f"{collection.name}: {collection.budget} against the {reference}, {documents} documents",
        "Method",
        "ROUGE-1",
        "ROUGE-2",
        "ROUGE-Lsum",
        "documents/s",
        "ours above it",
        caption="F1 x 100; the interval is of ours above the method, ROUGE-2, paired bootstrap, 95 %",
    )
    for method, each in results.items():
        low, high = (found.get(f"{collection.name}.ours_over_{method}.{end}") for end in ("low", "high"))
        interval = "" if low is None or high is None else f"{100 * low:+.2f} to {100 * high:+.2f}"
        speed = "" if method == "lead" else f"{each.documents_per_second:,.0f}"
        shown.add_row(method, *(f"{100 * each.mean(measure):.2f}" for measure in MEASURES), speed, interval)
    return shown


def _means(averaged: list[str], found: dict[str, float]) -> Table:
    shown = table(f"Mean of {' and '.join(averaged)}", "Method", "ROUGE-1", "ROUGE-2", "ROUGE-Lsum", "documents/s")
    for method in METHODS:
        speed = "" if method == "lead" else f"{found[f'{method}.docs_per_s']:,.0f}"
        shown.add_row(method, *(f"{100 * found[f'{method}.{measure}']:.2f}" for measure in MEASURES), speed)
    return shown
