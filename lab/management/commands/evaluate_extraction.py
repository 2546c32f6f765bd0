"""How well articles are extracted from pages: the project's extractors and well-known ones.

The measure is that of the article-extraction-benchmark; see `lab.evaluations.extraction.measures`. Speeds are
pages per second of processor time from the page's source, or its bytes for ours, to the text. All libraries are called
as the benchmark's own scripts call them; readability's html is made text by our own cutting.
"""

import logging
import random
import re
import time
import warnings
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from lxml import etree
from rich.console import Console
from rich.progress import track
from rich.table import Table

from apps.postings.algorithms.extraction import keen, literal, site_tags
from apps.postings.algorithms.extraction.blocks import cut
from apps.postings.algorithms.extraction.documents import read_page
from apps.postings.algorithms.extraction.metadata import read_metadata
from lab.evaluations.extraction import site_memory
from lab.evaluations.extraction.measures import Agreement, agreement, scores
from lab.harness import LabCommand
from lab.management.commands.train_extraction import BEGINNING, KnownPage, known_pages, train

SITE_FOLDS = 5  # a site's pages are extracted with keen tags learned from the other folds
RESAMPLES = 2_000
SEED = 20_261_101

Extractor = Callable[[KnownPage], str]


@dataclass(slots=True)
class Result:
    pages: list[Agreement] = field(default_factory=list)
    seconds: float = 0.0  # of processor time
    failures: int = 0  # pages that it raised at; they count as empty

    def numbers(self) -> dict[str, float]:
        found = scores(self.pages)
        return {
            "f1": round(found.f1, 4),
            "precision": round(found.precision, 4),
            "recall": round(found.recall, 4),
            "identical": round(found.identical, 4),
            "pages_per_s": round(len(self.pages) / self.seconds, 1) if self.seconds else 0.0,
            "failures": self.failures,
        }


class Command(LabCommand):
    help = "Take the articles from a folder of pages with known text, with our extractors and well-known ones."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--pages", type=Path, required=True, help="folder with ground-truth.json and html/")
        parser.add_argument(
            "--train", type=Path, help="folder to learn from again, without the domains of the evaluated pages"
        )
        parser.add_argument(
            "--folds", type=int, default=1, help="learn from the evaluated pages too: for each part from the others"
        )

    def measure(self, *, pages: Path, train: Path | None, folds: int, **options: Any) -> Mapping[str, float]:
        return run(pages, train, self.console, folds=folds)


def run(folder: Path, training: Path | None, console: Console, *, folds: int = 1) -> dict[str, float]:
    """Evaluate all extractors that are there, and print a table."""
    pages = list(known_pages(folder))
    models = models_of(pages, list(known_pages(training)) if training else [], folds, console)
    model = next(iter(models.values()), keen.shipped_model())
    extractors = dict(ours(pages, models, console))
    for name, make in COMPARISONS.items():
        try:
            extractors[name] = make()
        except ImportError as error:
            console.print(f"{name} is left out, as {error.name} is not installed.")
    results: dict[str, Result] = {}
    for name, extractor in extractors.items():
        results[name] = evaluated_one(extractor, track(pages, f"Extracting with {name}", console=console))
    numbers: dict[str, float] = {"pages": len(pages)}
    for name, result in results.items():
        numbers |= {f"{name}.{measure}": value for measure, value in result.numbers().items()}
    numbers["ours.pages_of_training_domains"] = sum(page.domain in models[page.body].domains for page in pages)
    if "trafilatura" in results:
        low, high = difference(results["ours"].pages, results["trafilatura"].pages)
        numbers |= {"difference.low": round(low, 4), "difference.high": round(high, 4)}
    numbers |= metadata_numbers(pages)
    show(console, folder, model, results, numbers)
    return numbers


def models_of(
    pages: list[KnownPage], training: list[KnownPage], folds: int, console: Console
) -> dict[bytes, keen.Model]:
    """For each page the weights, which were learned without its domain if there is anything else to learn from."""
    if not training and folds == 1:
        return {page.body: keen.shipped_model() for page in pages}
    models: dict[bytes, keen.Model] = {}
    for fold in range(folds):
        own = [page for page in pages if fold_of(page, folds) == fold]
        others = training + [page for page in pages if fold_of(page, folds) != fold]
        if own:
            left_out = frozenset(page.domain for page in own) - {""}
            model = train(others, left_out, version="learned for this", console=console)
            models |= {page.body: model for page in own}
    return models


def fold_of(page: KnownPage, folds: int) -> int:
    return zlib.crc32((page.domain or page.text[:BEGINNING]).encode()) % folds


def evaluated_one(extractor: Extractor, pages: Sequence[KnownPage] | Any) -> Result:
    """Run one extractor over all pages."""
    result = Result()
    logging.disable(logging.CRITICAL)  # they complain about single pages
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for page in pages:
                start = time.process_time()
                try:
                    text = extractor(page)
                except Exception:  # other libraries' failures are part of the comparison
                    text = ""
                    result.failures += 1
                result.seconds += time.process_time() - start
                result.pages.append(agreement(page.text, text))
    finally:
        logging.disable(logging.NOTSET)
    return result


def ours(
    pages: list[KnownPage], models: Mapping[bytes, keen.Model], console: Console
) -> Iterator[tuple[str, Extractor]]:
    memories = site_memories(pages, models, console)
    tags = tags_of_sites(pages, console)

    def learned(page: KnownPage) -> str:
        return keen.extract(read_page(page.body).root, model=models[page.body]).text

    def with_memory(page: KnownPage) -> str:
        root = read_page(page.body).root
        blocks = cut(root)
        likely, memory = keen.probabilities(blocks, models[page.body]), memories.get(page.body)
        return keen.assembled(blocks, memory.adjusted(blocks, likely) if memory else likely, root).text

    yield "ours", learned
    yield "ours_site_memory", with_memory
    yield "keen_tags", lambda page: literal.keen_tags(page.source).text
    yield "universal_keen_tags", lambda page: trained_tags(page, site_tags.UNIVERSAL)
    yield "site_keen_tags", lambda page: trained_tags(page, tags.get(page.body, site_tags.UNIVERSAL))
    yield "plain", lambda page: joined(read_page(page.body).root)


def trained_tags(page: KnownPage, tags: frozenset[str]) -> str:
    return literal.keen_tags(page.source, keen=tags, comments_split=False).text


def joined(root: etree._Element | None) -> str:
    return "\n".join(block.text for block in cut(root))


def sites_of(pages: list[KnownPage], fewest: int) -> dict[str, list[KnownPage]]:
    sites: defaultdict[str, list[KnownPage]] = defaultdict(list)
    for page in pages:
        if page.domain:
            sites[page.domain].append(page)
    return {domain: own for domain, own in sites.items() if len(own) >= fewest}


def site_memories(pages: list[KnownPage], models: Mapping[bytes, keen.Model], console: Console) -> dict[bytes, Any]:
    """For each page a memory of the other pages of its site, without their known texts."""
    memories = {}
    sites = sites_of(pages, site_memory.MIN_PAGES + 1)
    for own in track(sites.values(), "Remembering sites", console=console):
        cuts = [(cut(page.root), models[page.body]) for page in own]
        seen = [(blocks, keen.probabilities(blocks, model)) for blocks, model in cuts]
        for place, page in enumerate(own):
            memories[page.body] = site_memory.remember(seen[:place] + seen[place + 1 :])
    return memories


def tags_of_sites(pages: list[KnownPage], console: Console) -> dict[bytes, frozenset[str]]:
    """For each page the keen tags learned from other pages of its site."""
    tags: dict[bytes, frozenset[str]] = {}
    for own in track(sites_of(pages, 2).values(), "Learning keen tags of sites", console=console):
        folds = min(SITE_FOLDS, len(own))
        for fold in range(folds):
            others = [page for place, page in enumerate(own) if place % folds != fold]
            learned = site_tags.learn_site_tags([site_tags.KnownPage(page.source, page.text) for page in others])
            tags |= {page.body: learned for page in own[fold::folds]}
    return tags


def _trafilatura() -> Extractor:
    extract = import_module("trafilatura").extract
    return lambda page: extract(page.source, include_comments=False) or ""


def _readability() -> Extractor:
    document = import_module("readability").Document
    return lambda page: joined(read_page(document(page.source).summary().encode(), content_type="charset=utf-8").root)


def _newspaper() -> Extractor:
    newspaper = import_module("newspaper")

    def extract(page: KnownPage) -> str:
        article = newspaper.Article(page.url or "https://example.org/", fetch_images=False)
        article.download(input_html=page.source)
        article.parse()
        return str(article.text)

    return extract


def _justext() -> Extractor:
    justext = import_module("justext")
    stop_words = justext.get_stoplist("English")

    def extract(page: KnownPage) -> str:
        found = justext.justext(page.source, stop_words)
        return "\n".join(paragraph.text for paragraph in found if not paragraph.is_boilerplate)

    return extract


def _boilerpy() -> Extractor:
    extractor = import_module("boilerpy3.extractors").ArticleExtractor()
    return lambda page: str(extractor.get_content(page.source))


COMPARISONS: dict[str, Callable[[], Extractor]] = {
    "trafilatura": _trafilatura,
    "readability": _readability,
    "newspaper4k": _newspaper,
    "justext": _justext,
    "boilerpy3": _boilerpy,
}


def difference(first: Sequence[Agreement], second: Sequence[Agreement]) -> tuple[float, float]:
    """The 95 % interval of the first's F1 less the second's, by bootstrap over pages."""
    generator = random.Random(SEED)
    pairs = list(zip(first, second, strict=True))
    drawn = []
    for _ in range(RESAMPLES):
        sample = generator.choices(pairs, k=len(pairs))
        drawn.append(scores(mine for mine, _ in sample).f1 - scores(other for _, other in sample).f1)
    drawn.sort()
    return drawn[int(0.025 * RESAMPLES)], drawn[int(0.975 * RESAMPLES)]


def metadata_numbers(pages: Sequence[KnownPage]) -> dict[str, float]:
    """The shares of right titles, days and lists of authors who are people, of the pages that have known ones."""
    right: defaultdict[str, list[bool]] = defaultdict(list)
    for page in pages:
        if not (page.title or page.date or page.authors):
            continue
        found = read_metadata(page.root, url=page.url)
        if page.title:
            right["title"].append(_letters(found.title) == _letters(page.title))
        if page.date:
            known = datetime.fromisoformat(page.date)
            zone = found.published.tzinfo if found.published else UTC
            known = known if known.tzinfo else known.replace(tzinfo=zone)
            day = known.astimezone(zone).date()
            right["date"].append(found.published is not None and found.published.date() == day)
        if page.authors and not _names_house(page):
            right["authors"].append({*map(_letters, found.authors)} == {*map(_letters, page.authors)})
    return {f"metadata.{name}": round(sum(values) / len(values), 4) for name, values in right.items()}


def _names_house(page: KnownPage) -> bool:
    """Whether the known authors are the publisher, of articles that no person has signed."""
    metas = page.root.iter("meta") if page.root is not None else ()
    houses = [each.get("content") or "" for each in metas if each.get("property") == "og:site_name"]
    known = [
        _letters(house).replace(" ", "") for house in (page.domain, page.domain.partition(".")[0], *houses) if house
    ]
    names = [_letters(name).replace(" ", "") for name in page.authors]
    return any(name in house or house in name for name in names for house in known)


def _letters(text: str) -> str:
    return re.sub(r"\W+", " ", text).strip().casefold()


def show(
    console: Console, folder: Path, model: keen.Model, results: dict[str, Result], numbers: dict[str, float]
) -> None:
    table = Table(title=f"Articles from {len(next(iter(results.values())).pages)} pages of {folder}")
    for column in ("Extractor", "F1", "Precision", "Recall", "Identical", "Pages/s", "Failures"):
        table.add_column(column, justify="left" if column == "Extractor" else "right")
    for name, result in results.items():
        found = result.numbers()
        shown = [f"{found[measure]:.3f}" for measure in ("f1", "precision", "recall", "identical")]
        table.add_row(name, *shown, f"{found['pages_per_s']:.0f}", str(result.failures))
    console.print(table)
    console.print(f"Weights {model.version}, learned from {', '.join(model.sets)}; {len(model.domains)} domains.")
    if known := int(numbers["ours.pages_of_training_domains"]):
        console.print(f"{known} of the pages are of domains that the weights know: --train leaves these out.")
    if "difference.low" in numbers:
        low, high = numbers["difference.low"], numbers["difference.high"]
        console.print(f"F1 of ours less that of trafilatura: {low:+.3f} to {high:+.3f} in 95 % of samples.")
    for name in ("title", "date", "authors"):
        if (value := numbers.get(f"metadata.{name}")) is not None:
            console.print(f"Right {name}: {value:.1%}")
