"""How soon a user who imports a list of feeds sees articles, and how soon all of them are stored."""

import re
import time
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management.base import CommandError
from django.urls import reverse
from rich.table import Table

from apps.accounts.models import User
from apps.postings.models import Posting
from apps.sources.formats import opml
from apps.sources.formats.opml import OpmlDocument, Subscription
from lab.benchmarks.bursts import wait_until_started
from lab.benchmarks.load_test import requests
from lab.benchmarks.load_test.browser import Browser
from lab.evaluations.replays.verification import collect, compare
from lab.harness import (
    LabCommand,
    cpu_seconds_of_family,
    postgres_pid,
    workers,
)
from lab.worlds.lines import Line
from lab.worlds.queries import stored_postings
from lab.worlds.server_process import POSTINGS, Server, fetch_all, serving_apart

NAME, PASSWORD = "importer", "brings three hundred feeds along"
MAX_IMPORT_SECONDS = 900.0  # s
POLLED_EVERY = 0.2  # s


class Command(LabCommand):
    help = f"{__doc__} By the web page, with real web server, beat and workers, of feeds on loopback."
    fills_database = True
    seed = 1

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--feeds", type=int, default=300, help="each on a host of its own (default: %(default)s)")

    def measure(self, *args: Any, feeds: int, seed: int, **options: Any) -> Mapping[str, float]:
        User.objects.create_user(NAME, password=PASSWORD)
        with ExitStack() as stack:
            server = stack.enter_context(serving_apart(feeds, seed=seed))
            baseline = fetch_all(server, server.feeds, host_gap=settings.RETRIEVAL_HOST_GAP)
            began = datetime.now(UTC)
            started = stack.enter_context(workers())
            address, web = stack.enter_context(requests.portal())
            wait_until_started(started, began)
            processes = [web.pid, *(process.pid for process in started.values()), *postgres_pid()]
            figures = self._import(server, address, processes)
            lines = [*server.published(), *server.take_requests()]
            figures |= losses(lines, server.addresses.port) | {"baseline_fetch_s": baseline}
            server_cpu = server.cpu_seconds()
        self._print(figures, feeds, server_cpu)
        return figures

    def _import(self, server: Server, address: str, processes: Sequence[int]) -> dict[str, float]:
        browser = Browser(address)
        total, seconds = len(server.feeds) * POSTINGS, dict[str, float]()
        cpu, began = _cpu(processes), import_list(browser, server)
        with self.progress() as progress:
            bar = progress.add_task("Importing", total=total)
            while len(seconds) < 2 and time.monotonic() < began + MAX_IMPORT_SECONDS:
                stored = Posting.objects.count()
                progress.update(bar, completed=stored)
                if "first_s" not in seconds and _shows_articles(browser.get(reverse("river"))):
                    seconds["first_s"] = time.monotonic() - began
                if "all_s" not in seconds and stored >= total:
                    seconds["all_s"] = time.monotonic() - began
                time.sleep(POLLED_EVERY)
        worst = dict.fromkeys(("first_s", "all_s"), MAX_IMPORT_SECONDS)
        return worst | seconds | {"cpu_s": _cpu(processes) - cpu}

    def _print(self, figures: dict[str, float], feeds: int, server_cpu: float) -> None:
        table = Table("", "seconds", title=f"{feeds:,} feeds with {POSTINGS} articles each, imported by the web page")
        rows = {
            "first article on the list page": "first_s",
            "all articles stored": "all_s",
            "CPU of web server, beat, workers and Postgres": "cpu_s",
            "baseline: a bare client fetches robots.txt and all feeds": "baseline_fetch_s",
        }
        for label, name in rows.items():
            table.add_row(label, f"{figures[name]:.2f}")
        self.console.print(table)
        self.console.print(
            f"{figures['lost']:.0f} articles lost, {figures['doubled']:.0f} stored twice."
            f" The feeds' server used {server_cpu:.1f} s of CPU, most of it before the import.",
            highlight=False,
        )


def losses(lines: Sequence[Line], port: int) -> dict[str, float]:
    """Postings of the record that are not stored, whether their feed was fetched or not, and those stored twice."""
    verdict = compare(collect(lines), stored_postings(port, 0.0))
    return {"lost": float(verdict.published - verdict.stored), "doubled": float(verdict.doubled_count)}


def import_list(browser: Browser, server: Server) -> float:
    """Sign in, and import a list of all feeds by the web page; returns when it was sent, of time.monotonic()."""
    sign_in, page = reverse("account_login"), reverse("opml")
    browser.get(sign_in)
    browser.post(sign_in, {"login": NAME, "password": PASSWORD})
    browser.get(page)
    file = SimpleUploadedFile("feeds.opml", _list_of(server), content_type="text/x-opml")
    began = time.monotonic()
    report = browser.post(page, {"file": file})
    if f"<strong>{len(server.feeds)}</strong>" not in report:
        raise CommandError("The list was not imported.")
    return began


def _list_of(server: Server) -> bytes:
    subscriptions = tuple(Subscription(server.addresses.feed(feed.number), feed.title) for feed in server.feeds)
    return opml.write(OpmlDocument(title="Feeds", subscriptions=subscriptions), datetime.now(UTC))


def _shows_articles(page: str) -> bool:
    return re.search(reverse("posting", args=[0]).replace("0", r"\d+"), page) is not None


def _cpu(processes: Sequence[int]) -> float:
    return sum(map(cpu_seconds_of_family, processes))
