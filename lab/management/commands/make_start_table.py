"""Count how common terms are in a file of postings, for the table that young portals start with."""

import json
import lzma
from collections import defaultdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from rich.console import Console
from rich.progress import Progress

from apps.postings.algorithms.words import language_of
from apps.summaries.algorithms.frequencies import Tally
from apps.summaries.algorithms.start_table import TABLE, to_json
from apps.summaries.algorithms.texts import read


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
