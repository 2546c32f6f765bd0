"""Count how many postings of general news have a term, for the grouping of young portals."""

import json
import lzma
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from django.core.management.base import BaseCommand, CommandParser
from rich.console import Console
from rich.progress import track

from apps.stories.algorithms.features import features
from apps.stories.algorithms.rarity import TABLE

MIN_DOCUMENTS = 20_000  # postings per language; fewer are no sample
MIN_COUNT = 3  # postings with a term; rarer ones are left out


class Command(BaseCommand):
    help = "Count the terms of a file of postings for the table that grouping starts with."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--postings", type=Path, required=True, help="*.jsonl.xz of title and desc")
        parser.add_argument("--every", type=int, default=7, help="read only every so manieth posting")
        parser.add_argument("--to", type=Path, default=TABLE)

    def handle(self, *, postings: Path, every: int, to: Path, **_: Any) -> None:
        console = Console()
        documents: Counter[str] = Counter()
        counts: defaultdict[str, Counter[int]] = defaultdict(Counter)
        with lzma.open(postings, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(track(lines, "Reading postings", total=None, console=console)):
                if number % every == 0:
                    posting = json.loads(line)
                    found = features(posting["title"] or "", posting["desc"] or "")
                    documents[found.language] += 1
                    counts[found.language].update(found.terms.tolist())
        tables: dict[str, Any] = {}
        for language in sorted(language for language, number in documents.items() if number >= MIN_DOCUMENTS):
            terms = sorted(term for term, count in counts[language].items() if count >= MIN_COUNT)
            tables[f"{language}_documents"] = np.int32(documents[language])
            tables[f"{language}_terms"] = np.array(terms, np.int32)
            tables[f"{language}_counts"] = np.array([counts[language][term] for term in terms], np.int32)
        np.savez_compressed(to, **tables)
        console.print(f"Wrote {to}, {to.stat().st_size:,} bytes, from {documents.most_common(5)}.")
