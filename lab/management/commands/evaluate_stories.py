"""How well stories are distinguished, beside simpler methods; the cost; and how soon a reader's taste is known.

Collections of stories carry the times at which they were collected, which give every story away. So new times are
drawn, with fixed seeds: three draws of the month of headlines, eight of the small collections with whole texts.
"""

import csv
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from django.core.management.base import CommandError, CommandParser
from rich.console import Console
from rich.progress import track
from rich.table import Table

from apps.stories.algorithms.reports import Vector
from lab.evaluations.stories.ceiling import MOST, ceiling
from lab.evaluations.stories.grouped import METHODS, Reading, ours, read, related_pairs
from lab.evaluations.stories.load import postings, timed
from lab.evaluations.stories.measures import bcubed, largest_purity
from lab.evaluations.stories.orders import front_pages
from lab.evaluations.stories.readers import Headline, items_of, trial
from lab.evaluations.stories.stream import Arrival, Labelled, arrivals
from lab.evaluations.stories.variants import VARIANTS
from lab.harness import LabCommand, Result
from lab.plots import bars

COLUMNS = ("TITLE", "PUBLISHER", "CATEGORY", "STORY")
DRAWS, SMALL_DRAWS = 3, 8
HEADLINES = "headlines"  # the set without texts, between which other titles lie
COMPARED = ("ours", "centroid", "max_link")  # in each variant
ACTIVE = 100_000
LABELS, TRIALS = (20, 50, 100, 300), 12

Numbers = dict[str, float]
Draw = Callable[[Sequence[Labelled], int], list[Arrival]]


class Command(LabCommand):
    help = "Group marked stories with our method and with simpler ones, time it, and try the ranking for readers."
    plotted = "BCubed F1 of all methods"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--stories",
            metavar="FOLDER",
            type=Path,
            required=True,
            help="*.csv of TITLE, PUBLISHER, CATEGORY and STORY (UCI News Aggregator), *.json of stories with articles",
        )
        parser.add_argument("--active", type=int, default=ACTIVE, help="active postings to time one more with; 0: not")

    def measure(self, *, stories: Path, active: int, **_: Any) -> Result:
        headlines = [each for file in sorted(stories.glob("*.csv")) for each in read_headlines(file)]
        if not headlines:
            raise CommandError(f"{stories} has no *.csv with TITLE, PUBLISHER, CATEGORY and STORY")
        texts = {file.stem: list(read_texts(file)) for file in sorted(stories.glob("*.json"))}
        return run(headlines, texts, active=active, command=self)


def run(
    headlines: Sequence[Headline],
    texts: Mapping[str, Sequence[Labelled]],
    *,
    active: int,
    command: LabCommand,
) -> Result:
    """Evaluate everything, and print tables.

    Numbers of the headlines have no prefix, those of a collection of texts its name.
    """
    console = command.console
    reports = [Labelled(each.title, "", each.publisher, each.story) for each in headlines]
    grouped = {"": _grouped(reports, HEADLINES, DRAWS, console, background=True)}
    for name, collection in texts.items():
        grouped[f"{name}."] = _grouped(collection, name, SMALL_DRAWS, console, background=False)
    numbers = {
        f"{prefix}{method}.{measure}": round(value, 4)
        for prefix, methods in grouped.items()
        for method, values in methods.items()
        for measure, value in values.items()
    }
    sets = {HEADLINES: (reports, DRAWS)} | {
        name.removesuffix("_big"): (collection, SMALL_DRAWS) for name, collection in texts.items()
    }
    for name, (collection, draws) in sets.items():
        numbers |= _varied(collection, name, draws, console) | _related(collection, name, draws, console)
        if len(collection) <= MOST:
            numbers |= ceilings(collection, name, draws, console)
    others = _ordered(reports, console) | _read_by(headlines, console)
    if active:
        others |= _timed(reports, active, console)
    command.show("Order, taste and cost", others)
    scores = {
        prefix.removesuffix(".") or "headlines": {name: each["bcubed_f1"] for name, each in methods.items()}
        for prefix, methods in grouped.items()
    }
    return Result(numbers | others, lambda: bars("Agreement with marked stories: BCubed F1", scores))


def read_headlines(file: Path) -> Iterator[Headline]:
    """The rows of UCI's news aggregator; a last one that was cut off is left out.

    Raises
    ------
    CommandError
        If the file lacks a column.
    """
    with file.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines)
        if missing := set(COLUMNS) - set(rows.fieldnames or ()):
            raise CommandError(f"{file} has no column {' and no '.join(sorted(missing))}")
        for row in rows:
            values = [row[name] for name in COLUMNS]
            if row[(rows.fieldnames or COLUMNS)[-1]] is not None and all(values):
                yield Headline(*values)


def read_texts(file: Path) -> Iterator[Labelled]:
    """Articles with whole texts, in the layout of frnsys/galaxy.

    Raises
    ------
    CommandError
        If the file has another one.
    """
    try:
        for number, story in enumerate(json.loads(file.read_text(encoding="utf-8"))):
            for article in story["articles"]:
                publisher = urlsplit(article["ext_url"]).hostname or ""
                yield Labelled(article["title"], article["text"], publisher, str(number))
    except (ValueError, KeyError, TypeError) as error:
        raise CommandError(f"{file} is no list of stories with articles of title, text and ext_url") from error


def _grouped(
    reports: Sequence[Labelled], title: str, draws: int, console: Console, *, background: bool
) -> dict[str, Numbers]:
    """Precision, recall and F1 of each method, means over the draws."""
    known: Reading = {}
    found: defaultdict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for seed in track(range(1, draws + 1), f"Grouping {title}", console=console):
        stream = arrivals(reports, seed, background=background)
        read(stream, known)
        for name, method in METHODS.items():
            found[name].append(_agreement(method(stream, known), stream))
    table = Table("Method", "Precision", "Recall", "BCubed F1", "of the draws", title=f"Stories of {title}")
    numbers: dict[str, Numbers] = {}
    for name, values in found.items():
        means = [float(mean) for mean in np.mean(values, axis=0)]
        scores = [value[2] for value in values]
        table.add_row(name, *(f"{mean:.3f}" for mean in means), f"{min(scores):.3f} to {max(scores):.3f}")
        numbers[name] = dict(zip(("bcubed_precision", "bcubed_recall", "bcubed_f1"), means, strict=True))
    console.print(table)
    return numbers


def _varied(reports: Sequence[Labelled], title: str, draws: int, console: Console) -> Numbers:
    """Each variant of the stream, read by our method and by the simpler ones; means over the draws."""
    known: Reading = {}
    table = Table("Variant", "Method", "Precision", "Recall", "BCubed F1", "Purity of the largest", title=title)
    numbers: Numbers = {}
    for variant, draw in track(VARIANTS.items(), f"Grouping variants of {title}", console=console):
        found = defaultdict[str, list[tuple[float, ...]]](list)
        for seed in range(1, draws + 1):
            stream = draw(reports, seed)
            read(stream, known)
            for method in COMPARED:
                stories = METHODS[method](stream, known)
                found[method].append((*_agreement(stories, stream), _purity(stories, stream)))
        for method, values in found.items():
            means = [float(mean) for mean in np.mean(values, axis=0)]
            table.add_row(variant, method, *(f"{mean:.3f}" for mean in means))
            for measure, mean in zip(("precision", "recall", "bcubed_f1", "largest_purity"), means, strict=True):
                numbers[f"{title}.{variant}.{method}.{measure}"] = round(mean, 4)
    console.print(table)
    return numbers


def ceilings(reports: Sequence[Labelled], title: str, draws: int, console: Console) -> Numbers:
    """What average linkage with the best threshold for the labels reaches in each variant; means over the draws."""
    known: Reading = {}
    numbers: Numbers = {}
    plain: Draw = partial(arrivals, background=title == HEADLINES)
    for variant, draw in track([("plain", plain), *VARIANTS.items()], f"Bounding {title}", console=console):
        found = []
        for seed in range(1, draws + 1):
            stream, vectors = draw(reports, seed), dict[int, Vector]()
            read(stream, known)
            ours(stream, known, vectors=vectors)
            found.append(ceiling(stream, vectors))
        numbers[f"{title}.{variant}.ceiling.bcubed_f1"] = round(float(np.mean([each.f1 for each in found])), 4)
    return numbers


def _related(reports: Sequence[Labelled], title: str, draws: int, console: Console) -> Numbers:
    """How many pairs of reports of one story are of one event: of all, and of those that are shown as related."""
    known: Reading = {}
    found: list[tuple[bool, bool]] = []
    for seed in track(range(1, draws + 1), f"Relating {title}", console=console):
        stream, vectors = arrivals(reports, seed, background=title == HEADLINES), dict[int, Vector]()
        read(stream, known)
        found += related_pairs(stream, ours(stream, known, vectors=vectors), vectors)
    shown, of_one = np.array(found or [(False, False)]).T
    return {
        f"{title}.related.precision": round(float(of_one[shown].mean()) if shown.any() else 0.0, 4),
        f"{title}.related.precision_of_all": round(float(of_one.mean()), 4),
        f"{title}.related.shown": round(float(shown.mean()), 4),
    }


def _purity(stories: Sequence[int], stream: Sequence[Arrival]) -> float:
    pairs = [(story, arrival.story) for story, arrival in zip(stories, stream, strict=True) if arrival.story]
    return largest_purity([story for story, _ in pairs], [label for _, label in pairs])


def _agreement(stories: Sequence[int], stream: Sequence[Arrival]) -> tuple[float, float, float]:
    pairs = [(story, arrival.story) for story, arrival in zip(stories, stream, strict=True) if arrival.story]
    agreement = bcubed([story for story, _ in pairs], [label for _, label in pairs])
    return agreement.precision, agreement.recall, agreement.f1


def _ordered(reports: Sequence[Labelled], console: Console) -> Numbers:
    scores = [
        front_pages(arrivals(reports, seed, background=False))
        for seed in track(range(1, DRAWS + 1), "Ordering stories", console=console)
    ]
    return {f"order.{name}.ndcg_at_10": round(float(np.mean([each[name] for each in scores])), 4) for name in scores[0]}


def _timed(reports: Sequence[Labelled], active: int, console: Console) -> Numbers:
    stream = list(track(postings(reports, active, 1), "Writing postings", total=active, console=console))
    load = timed(track(stream, "Placing them", console=console), len(stream))
    return {
        "active_postings": load.active,
        "active_stories": load.stories,
        "ms_per_posting": round(load.ms_per_posting, 3),
        "ms_per_posting.reading": round(load.ms_features, 3),
    }


def _read_by(headlines: Sequence[Headline], console: Console) -> Numbers:
    items, numbers = items_of(headlines), {}
    for labels in track(LABELS, "Reading headlines", console=console):
        for interest in ("category", "stories"):
            rng = np.random.default_rng(labels)
            trials = [
                trial(headlines, items, labels, by_category=interest == "category", rng=rng) for _ in range(TRIALS)
            ]
            for model in trials[0]:
                name = f"for_you.{interest}.{labels}.{model}"
                numbers[f"{name}.auc"] = round(float(np.mean([each[model].auc for each in trials])), 4)
                best = float(np.mean([each[model].precision_at_10 for each in trials]))
                numbers[f"{name}.precision_at_10"] = round(best, 4)
    return numbers
