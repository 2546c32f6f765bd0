"""Learns the weights of the keen-tag extraction from pages with known text, and writes them where it reads them.

The folder has the layout of the article-extraction-benchmark: ground-truth.json holds an object of
{id: {"url", "articleBody"}}, with "set", "title", "authors" and "date" where they are known, and html/ID.html.gz the
pages.
"""

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from lxml import etree
from rich.console import Console
from rich.progress import track

from apps.postings.algorithms.extraction import keen
from apps.postings.algorithms.extraction.blocks import cut
from apps.postings.algorithms.extraction.documents import MAX_PAGE_BYTES, decode, read_page
from apps.postings.algorithms.extraction.metadata import read_metadata
from apps.sources.algorithms.addresses import host, registrable_domain
from lab.evaluations.extraction.training import example, learn, written

TRUST = {"moz": 0.4}  # in sets whose texts another program took from the pages; 1 in all others
BEGINNING = 60  # characters of a text that identify copies of a page

# UTF-8 read as Latin-1, as in most texts of the readability pages; real text hardly has such letters in a row.
_MISREAD = re.compile("[\x80-\xff]{2,}")


@dataclass(frozen=True, slots=True)
class KnownPage:
    url: str
    domain: str  # the registrable one, or "" where the page does not say its address
    set: str
    body: bytes
    text: str  # of the article
    title: str
    authors: tuple[str, ...]
    date: str

    @property
    def source(self) -> str:
        return decode(self.body[:MAX_PAGE_BYTES])[0]

    @property
    def root(self) -> etree._Element | None:
        return read_page(self.body).root


class Command(BaseCommand):
    help = "Learn the weights of the keen-tag extraction from a folder of pages with known text."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--pages", type=Path, required=True, help="folder with ground-truth.json and html/")
        parser.add_argument("--without", type=Path, help="such a folder; pages of its domains are not learned from")
        parser.add_argument("--out", type=Path, default=keen.WEIGHTS, help="file to write the weights to")

    def handle(self, *, pages: Path, without: Path | None, out: Path, **options: Any) -> None:
        console = Console()
        left_out = domains_of(without) if without else frozenset()
        model = train(list(known_pages(pages)), left_out, version=out.stem, console=console)
        out.write_text(json.dumps(written(model), indent=1, ensure_ascii=False) + "\n", "utf-8")
        console.print(f"{int((model.weights != 0).sum())} weights from {len(model.domains)} domains are in {out}.")


def train(pages: list[KnownPage], left_out: frozenset[str], *, version: str, console: Console) -> keen.Model:
    """Learn from the pages whose domain is not left out."""
    used = [page for page in pages if page.domain not in left_out]
    if not used:
        raise CommandError("There is no page to learn from.")
    examples = [
        example(cut(page.root), page.text, domain=page.domain or page.text[:BEGINNING], trust=TRUST.get(page.set, 1.0))
        for page in track(used, "Reading pages to learn from", console=console)
    ]
    with console.status(f"Learning from {len(used)} of {len(pages)} pages"):
        sets = sorted({page.set for page in used if page.set})
        return learn(examples, version=version, sets=sets, domains=sorted({page.domain for page in used} - {""}))


def known_pages(folder: Path) -> Iterator[KnownPage]:
    """The pages of a folder, in the order of ground-truth.json."""
    file = folder / "ground-truth.json"
    if not file.is_file():
        raise CommandError(f"There is no {file}.")
    for name, truth in json.loads(file.read_text("utf-8")).items():
        page = folder / "html" / f"{name}.html.gz"
        try:
            body = gzip.decompress(page.read_bytes())
        except OSError as error:
            raise CommandError(f"The page {page} cannot be read: {error}") from error
        url = truth.get("url") or ""
        yield KnownPage(
            url=url,
            domain=domain_of(url, body),
            set=truth.get("set") or "",
            body=body,
            text=mended(truth.get("articleBody") or ""),
            title=truth.get("title") or "",
            authors=tuple(truth.get("authors") or ()),
            date=truth.get("date") or "",
        )


def domain_of(url: str, body: bytes) -> str:
    """The registrable domain of a page's address, or of the one that the page says it has."""
    url = url or read_metadata(read_page(body).root, url="").canonical_url
    return registrable_domain(host(url)) if url else ""


def domains_of(folder: Path) -> frozenset[str]:
    return frozenset(page.domain for page in known_pages(folder)) - {""}


def mended(text: str) -> str:
    """The text with what was UTF-8 and read as Latin-1 read rightly.

    >>> mended("donâ\\x80\\x99t, Zürich")
    'don’t, Zürich'
    """

    def right(match: re.Match[str]) -> str:
        try:
            return match[0].encode("latin-1").decode("utf-8")
        except UnicodeDecodeError:
            return match[0]

    return _MISREAD.sub(right, text)
