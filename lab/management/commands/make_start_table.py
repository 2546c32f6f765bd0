"""Count how common terms are in a file of postings, for the table that young portals start with."""

import json
import lzma
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from rich.console import Console
from rich.progress import Progress

from apps.postings.algorithms.words import language_of
from apps.postings.algorithms.words.languages import DOCUMENTS, TABLE
from apps.summaries.algorithms.texts import read
from apps.summaries.algorithms.vectors import Frequencies
from lab.evaluations.summaries.evaluation import Tally

MIN_COUNTED = 2_000  # documents per language; fewer are no sample
MIN_COUNT = 2  # of 1,000 documents that hold a term; rarer ones are left out


def to_json(counted: Mapping[str, Frequencies]) -> str:
    """The table of what was counted, by language: terms by how many of 1,000 documents hold them."""
    tables = {}
    for language, frequencies in sorted(counted.items()):
        if frequencies.documents < MIN_COUNTED:
            continue
        by_number: dict[int, list[str]] = {}
        for term, number in frequencies.holding.items():
            thousandths = round(number * DOCUMENTS / frequencies.documents)
            if thousandths >= MIN_COUNT:
                by_number.setdefault(thousandths, []).append(term)
        tables[language] = {str(number): " ".join(sorted(by_number[number])) for number in sorted(by_number)}
    return json.dumps(tables, ensure_ascii=False, indent=0) + "\n"


class Command(BaseCommand):
    help = "Make the table of common terms from a file of postings."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--postings", type=Path, required=True, help="*.jsonl.xz of title and desc")
        parser.add_argument("--every", type=int, default=5, help="read only every so manieth posting")
        parser.add_argument("--to", type=Path, default=TABLE)

    def handle(self, *, postings: Path, every: int, to: Path, **_: Any) -> None:
        console = Console()
        tallies: dict[str, Tally] = defaultdict(Tally)
        with lzma.open(postings, "rt", encoding="utf-8") as lines, Progress(console=console) as progress:
            bar = progress.add_task("Reading postings", total=None)
            for number, line in enumerate(lines):
                if number % every == 0:
                    posting = json.loads(line)
                    text = f"{posting['title']}\n{posting['desc']}"
                    language = language_of(text)
                    tallies[language].add(read(text, language).terms)
                    progress.advance(bar)
        to.write_text(to_json({name: tally.frequencies() for name, tally in tallies.items()}), encoding="utf-8")
        amounts = ", ".join(f"{name or 'no language'} {tally.documents:,}" for name, tally in sorted(tallies.items()))
        console.print(f"Wrote {to}, {to.stat().st_size:,} bytes, from postings in {amounts}.")
