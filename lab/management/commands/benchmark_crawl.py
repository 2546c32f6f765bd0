"""The cost of crawling a site without feeds: a first round over all pages, and later rounds for new ones."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from apps.retrieval.models import Page
from apps.retrieval.worker.engine import Engine
from lab.benchmarks.crawl_rounds import Round, begin, crawl, measure
from lab.harness import LabCommand
from lab.worlds.crawled_server import CrawledServer, serving_site

PAGES_PER_ARTICLE = 1.095  # of the made-up site: lists, printed and forbidden copies


class Command(LabCommand):
    help = "Crawl a made-up site on loopback: coverage, requests of later rounds, pages per second."
    fills_database = True
    seed = 7

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--pages", type=int, default=20_000, help="pages of the site, without its endless traps")
        parser.add_argument("--rounds", type=int, default=3, help="rounds after the first; at least one")
        parser.add_argument("--new", type=int, default=100, help="articles that come out before each of them")

    def measure(self, *args: Any, pages: int, rounds: int, new: int, seed: int, **_: Any) -> Mapping[str, float]:
        settings.RETRIEVAL_HOST_GAP = 0.0  # the server is ours
        engine = Engine()
        with serving_site(round(pages / PAGES_PER_ARTICLE), seed=seed) as server:
            site_id = begin(server.url)
            first = _round(engine, server, site_id, "first round", self.console)
            known = server.site.count_pages()
            later = []
            for number in range(max(1, rounds)):
                server.publish(new)
                later.append(_round(engine, server, site_id, f"round {number + 2}", self.console))
            figures = measure(server.site, site_id, first, later, known)
        engine.stop()
        _print(self.console, figures)
        return figures


def _round(engine: Engine, server: CrawledServer, site_id: int, name: str, console: Console) -> Round:
    with Progress(console=console, transient=True) as progress:
        bar = progress.add_task(name, total=None)

        def show() -> None:
            pages = Page.objects.filter(source_id=site_id)
            waiting, done = pages.filter(fetches=0, due_at__isnull=False).count(), pages.exclude(fetches=0).count()
            progress.update(bar, total=waiting + done, completed=done)

        return crawl(engine, server, site_id, show)


def _print(console: Console, figures: dict[str, float]) -> None:
    table = Table(title="Crawling a made-up site")
    table.add_column("")
    table.add_column("", justify="right")
    for name, value in figures.items():
        shown = f"{value:.1%}" if name in {"coverage", "saved"} else f"{value:,.4g}" if value < 100 else f"{value:,.0f}"
        table.add_row(name.replace("_", " "), shown)
    console.print(table)
