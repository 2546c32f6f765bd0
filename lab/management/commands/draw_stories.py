"""Group one recorded day of feeds, and draw stories from it to be judged by people who do not know the method."""

import csv
import json
import lzma
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console

from lab.evaluations.stories.grouped import ours
from lab.evaluations.stories.stream import Arrival

HISTORY = timedelta(days=7)  # before the day, whose postings are grouped, too, but not shown
MIN_REPORTS = 3
WORDS = 40  # of a text that are shown


class Command(BaseCommand):
    help = "Group one recorded day of feeds, and write stories drawn by seed as Markdown for judges."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--postings", type=Path, required=True, help="folder of items.jsonl.xz and sources.csv")
        parser.add_argument("--day", type=date.fromisoformat, required=True, help="in UTC, as 2023-10-11")
        parser.add_argument("--stories", type=int, default=50)
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--to", type=Path, required=True)

    def handle(self, *, postings: Path, day: date, stories: int, seed: int, to: Path, **_: Any) -> None:
        start = datetime(day.year, day.month, day.day, tzinfo=UTC)
        items = list(read_items(postings, start - HISTORY, start + timedelta(days=1)))
        grouped = [story for story in group(items, start.timestamp() / 3600) if len(story) >= MIN_REPORTS]
        if not grouped:
            raise CommandError(f"{postings} has no stories on {day}")
        rng = np.random.default_rng(seed)
        chosen = sorted(rng.choice(len(grouped), min(stories, len(grouped)), replace=False).tolist())
        to.write_text("\n".join(written(number, grouped[place]) for number, place in enumerate(chosen, 1)), "utf-8")
        Console().print(f"Wrote {len(chosen)} of {len(grouped)} stories of {len(items):,} postings to {to}.")


def read_items(folder: Path, start: datetime, end: datetime) -> Iterator[Arrival]:
    """The postings of trustworthy feeds between two times, in the order of time."""
    with (folder / "sources.csv").open(encoding="utf-8", newline="") as rows:
        good = {row["src"]: row["url"] for row in csv.DictReader(rows) if row["good"] == "1"}
    found = []
    with lzma.open(folder / "items.jsonl.xz", "rt", encoding="utf-8") as lines:
        for line in lines:
            item = json.loads(line)
            if str(item["src"]) in good and start.timestamp() <= item["t"] < end.timestamp():
                title, text, publisher = item["title"] or "", item["desc"] or "", good[str(item["src"])]
                found.append(Arrival(item["t"] / 3600, title, text, publisher, "unmarked"))
    yield from sorted(found, key=lambda each: (each.hours, each.title))


def group(items: list[Arrival], shown_from: float) -> list[list[Arrival]]:
    """The stories with their postings from a time on, in hours."""
    stories: defaultdict[int, list[Arrival]] = defaultdict(list)
    for story, item in zip(ours(items, {}), items, strict=True):
        if item.hours >= shown_from:
            stories[story].append(item)
    return [stories[story] for story in sorted(stories)]


def written(number: int, story: list[Arrival]) -> str:
    """A story as Markdown: time, source, title and first words of each posting."""
    lines = [f"## {number}", ""]
    for item in story:
        words = item.text.split()
        text = " ".join(words[:WORDS]) + (" …" if len(words) > WORDS else "")
        at = datetime.fromtimestamp(3600 * item.hours, UTC)
        lines.append(f"- {at:%H:%M} {item.publisher}: **{item.title}** {text}".rstrip())
    return "\n".join([*lines, ""])
