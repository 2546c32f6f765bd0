"""How often pages are classified correctly: by the learnt weights, and by simpler rules.

The folder holds pages.csv (file, class, site, url) and html/*.html.gz. Its class is "article", one of the kinds (news,
index, valueless), or anything else for other pages, of which lists are then recognized by their addresses.

No page is judged by weights that were trained on its site. Pages of sites that the shipped weights have not seen are
judged by these; for each other site weights are trained without it, on all else in the folder of training data:
page-types/ in the same layout, extraction/ and extraction/more/ in that of the article-extraction-benchmark. (The
weights of the extraction are the shipped ones throughout. They were trained on extraction/more.)
"""

import csv
import gzip
import json
import re
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from django.core.management.base import CommandError
from rich.console import Console
from rich.progress import track
from rich.table import Table

from apps.postings.algorithms.extraction import keen
from apps.postings.algorithms.extraction.documents import MAX_PAGE_BYTES, decode, read_page
from apps.postings.algorithms.extraction.kinds import KINDS, Facts, KindModel, facts_of, shipped_model, vector_of
from apps.postings.algorithms.extraction.metadata import read_metadata
from apps.sources.algorithms.addresses import host, registrable_domain
from lab.evaluations.extraction import kind_rules
from lab.evaluations.extraction.kind_training import Example, train, write_model
from lab.harness import LabCommand

PAGES = "page-types"
ARTICLES = ("extraction", "extraction/more")
CERTAIN = 0.7  # the probability from which a page is stored as news
WEIGHT_WITHOUT_URL = 0.4  # of articles whose address is not known
# Of pages that are called neither article nor list: the addresses of galleries, videos and the like.
_NO_LIST = re.compile(r"/g-\d|/av-\d|/in-360-degrees|-in-360-degrees|/live-tv|/Live$|/VR$")


@dataclass(frozen=True, slots=True)
class Page:
    facts: Facts
    kind: str
    site: str  # as the folder calls it; its registrable domain if it does not
    domain: str
    url: str
    by_thesis: str


@dataclass(frozen=True, slots=True)
class Judged:
    page: Page
    kinds: dict[str, str]  # of each rule
    probability: float  # by the portal's classifier


class Command(LabCommand):
    help = "Classify the pages of a folder as news, index pages and others, and count what is right."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--pages", type=Path, metavar="DIR", required=True, help="pages to judge")
        parser.add_argument("--data", type=Path, metavar="DIR", help="training data; by default beside the pages")
        parser.add_argument("--train", type=Path, metavar="FILE", help="write weights trained on all pages here")
        parser.add_argument("--list", action="store_true", help="print every page that is misjudged")

    def measure(
        self, *args: Any, pages: Path, data: Path | None, train: Path | None, list: bool, **options: Any
    ) -> Mapping[str, float]:
        if not (pages / "pages.csv").is_file():
            raise CommandError(f"There is no pages.csv in {pages}.")
        return run(self.console, pages, data or pages.resolve().parent, weights=train, show_all=list)


def run(
    console: Console,
    folder: Path,
    data: Path,
    *,
    weights: Path | None = None,
    show_all: bool = False,
) -> dict[str, float]:
    """Judge the folder's pages, print a table, and write the weights down where a file is named."""
    pages = list(track(read_pages(folder), "Reading pages", console=console, transient=True))
    shipped = shipped_model()
    examples: list[Example] = []
    if weights or any(page.domain in shipped.domains for page in pages):
        found = read_examples(data, {folder: pages} if folder.resolve() == (data / PAGES).resolve() else {})
        examples = list(track(found, "Reading examples", console=console, transient=True))
    judged = judge(pages, examples, shipped)
    numbers = figures(judged)
    console.print(_table(folder, judged, numbers))
    if show_all:
        for each in judged:
            if (each.kinds["ours"] == "news") != (each.page.kind == "news"):
                line = f"{each.page.kind} taken for {each.kinds['ours']} ({each.probability:.2f}): {each.page.url}"
                console.print(line, markup=False, highlight=False, soft_wrap=True)
    if weights:
        weights.write_text(write_model(train(examples, version=weights.stem)))
    return numbers


def read_examples(data: Path, read: Mapping[Path, Sequence[Page]]) -> Iterator[Example]:
    """All there is to train on; pages of folders that were read already are taken from there."""
    folder = data / PAGES
    if folder in read or (folder / "pages.csv").is_file():
        for page in read.get(folder) or read_pages(folder):
            yield Example(page.facts, page.kind, page.domain)
    for name in ARTICLES:
        yield from read_articles(data / name)


def read_pages(folder: Path) -> Iterator[Page]:
    with (folder / "pages.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        body = gzip.decompress((folder / "html" / row["file"]).read_bytes())
        facts = _facts(body, row["url"])
        domain = registrable_domain(host(row["url"]))
        source = decode(body[:MAX_PAGE_BYTES])[0]
        kind = _kind(row["class"], facts, row["url"])
        by_thesis = kind_rules.by_thesis(source, facts)
        yield Page(facts, kind, row.get("site") or domain, domain, row["url"], by_thesis)


def read_articles(folder: Path) -> Iterator[Example]:
    """Pages that are all articles, in the layout of the article-extraction-benchmark."""
    file = folder / "ground-truth.json"
    for name, truth in json.loads(file.read_text("utf-8")).items() if file.is_file() else ():
        page = folder / "html" / f"{name}.html.gz"
        if not page.is_file():
            continue
        url = truth.get("url") or ""
        facts = _facts(gzip.decompress(page.read_bytes()), url)
        weight = 1.0 if url else WEIGHT_WITHOUT_URL
        yield Example(facts, "news", registrable_domain(host(url)), weight, has_url=bool(url))


def judge(pages: Sequence[Page], examples: Sequence[Example], shipped: KindModel) -> list[Judged]:
    """Classify each page by each rule; ours by weights that were trained without pages of the same site.

    Raises CommandError if there is no training data for a site that the shipped weights know.
    """
    judged = []
    for site in track(sorted({page.site for page in pages}), "Training", transient=True):
        here = [page for page in pages if page.site == site]
        domains = {page.domain for page in here}
        model = shipped
        if domains & shipped.domains:
            names = set(map(_name, domains))
            others = [example for example in examples if _name(example.domain) not in names]
            if not others:
                raise CommandError(f"The shipped weights were trained on pages of {site}; name other data by --data.")
            model = train(others, version=f"without {site}")
        judged += [_judged(page, model) for page in here]
    return judged


def figures(judged: Sequence[Judged]) -> dict[str, float]:
    """Shares of pages: of right judgements whether they are news, and of right ones among the three kinds."""
    numbers: dict[str, float] = {"pages": len(judged), "sites": len({each.page.site for each in judged})}
    right_kind = {}
    for rule in judged[0].kinds:
        news = np.array([each.kinds[rule] == "news" for each in judged])
        truth = np.array([each.page.kind == "news" for each in judged])
        right_kind[rule] = np.array([each.kinds[rule] == each.page.kind for each in judged])
        numbers |= {
            f"{rule}.accuracy": float((news == truth).mean()),
            f"{rule}.article_precision": float((news & truth).sum() / max(1, news.sum())),
            f"{rule}.article_recall": float((news & truth).sum() / max(1, truth.sum())),
            f"{rule}.three_way_accuracy": float(right_kind[rule].mean()),
        }
    certain = np.array([each.probability >= CERTAIN for each in judged])
    correct = np.array([(each.kinds["ours"] == "news") == (each.page.kind == "news") for each in judged])
    numbers["ours.certain_share"] = float(certain.mean())
    numbers["ours.certain_accuracy"] = float(correct[certain].mean()) if certain.any() else 0.0
    for site in sorted({each.page.site for each in judged}):
        here = np.array([each.page.site == site for each in judged])
        numbers[f"ours.accuracy.{site}"] = float(correct[here].mean())
    return {name: round(value, 4) for name, value in numbers.items()}


def _kind(name: str, facts: Facts, url: str) -> str:
    if name == "article":
        return "news"
    if name in KINDS:
        return name
    is_other = facts.video_address or facts.service_address or _NO_LIST.search(url)
    return "valueless" if is_other else "index"


def _facts(body: bytes, url: str) -> Facts:
    root = read_page(body).root
    if root is None:
        raise CommandError(f"The page {url} is empty.")
    return facts_of(root, keen.extract(root), read_metadata(root, url=url), url)


def _name(domain: str) -> str:
    """The common part of a publisher's domains in several countries."""
    return domain.partition(".")[0]


def _judged(page: Page, model: KindModel) -> Judged:
    probabilities = model.probabilities(vector_of(page.facts))
    kinds = {
        "ours": KINDS[int(probabilities.argmax())],
        "thesis": page.by_thesis,
        "metadata": kind_rules.by_metadata(page.facts),
        "address": kind_rules.by_address(page.facts),
        "hand_points": kind_rules.by_points(page.facts),
    }
    return Judged(page, kinds, float(probabilities.max()))


_TITLES = {
    "ours": "ours: learnt weights",
    "thesis": "thesis: N = 100, T = 5",
    "metadata": "og:type, JSON-LD",
    "address": "address alone",
    "hand_points": "points by hand",
}


def _table(folder: Path, judged: Sequence[Judged], numbers: dict[str, float]) -> Table:
    title = (
        f"{len(judged)} pages of {numbers['sites']:.0f} sites in {folder}, all unknown to the weights that judge them"
    )
    table = Table("Rule", "Article or not", "Articles P", "Articles R", "Three kinds", title=title)
    measures = ("accuracy", "article_precision", "article_recall", "three_way_accuracy")
    for rule in judged[0].kinds:
        table.add_row(_TITLES[rule], *(f"{numbers[f'{rule}.{measure}']:.3f}" for measure in measures))
    for name, value in numbers.items():
        if name.startswith("ours.accuracy."):
            table.add_row(f"  ours, {name.removeprefix('ours.accuracy.')}", f"{value:.3f}")
    certain, right = numbers["ours.certain_share"], numbers["ours.certain_accuracy"]
    table.add_row(f"  ours, p >= {CERTAIN}: {certain:.0%}", f"{right:.3f}")
    return table
