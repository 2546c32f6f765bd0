"""How late feeds are fetched that fall due together while all other work of a portal is running."""

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from rich.console import Console
from rich.progress import Progress

from apps.accounts.models import User
from apps.jobs.models import Job
from apps.retrieval.actions.following import import_list
from apps.retrieval.models import Schedule
from apps.search import actions as search
from apps.sources.actions.editing import add_sources
from apps.sources.formats.opml import OpmlDocument, Subscription
from apps.sources.models import Source
from lab.benchmarks.bursts import (
    add_and_fetch,
    burst,
    print_bursts,
    settle,
    wait_until_idle,
    without_derived_work,
)
from lab.benchmarks.lateness import Burst, figures
from lab.harness import LabCommand, workers
from lab.worlds.feed import Feed
from lab.worlds.items import COPIED_AT_ONCE, Item, copy_postings
from lab.worlds.queries import consumed_changes, unread_changes
from lab.worlds.server_process import Server, fetch_all, serving_apart
from lab.worlds.synthetic import make_steady_feeds

ARCHIVE_FEED = 100  # postings of each source whose postings are derived
ARCHIVE_GAP = timedelta(minutes=40)  # between two of them, so that many report the same events


class Command(LabCommand):
    help = f"{__doc__} Postings are derived, an index job runs, and feeds are imported; all of it on loopback."
    fills_database = True
    seed = 1

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--feeds", type=int, default=300, help="due together (default: %(default)s)")
        parser.add_argument("--bursts", type=int, default=5, help="in which they fall due (default: %(default)s)")
        parser.add_argument("--postings", type=int, default=100_000, help="to be derived (default: %(default)s)")
        parser.add_argument("--imports", type=int, default=300, help="feeds imported at each burst")

    def measure(self, *args: Any, feeds: int, bursts: int, **options: Any) -> Mapping[str, float]:
        self.console, self.seed = Console(), options["seed"]
        served = feeds + bursts * options["imports"]
        with serving_apart(served, seed=self.seed, changes=2 * bursts) as server, workers():
            due, imported = server.feeds[:feeds], server.feeds[feeds:]
            with self.progress() as progress:
                with without_derived_work():
                    self.numbers = add_and_fetch(server, due, progress)
                baseline_fetch = fetch_all(server, due)
                idle = self._idle(server, bursts, progress)
                self._add_archive(options["postings"], progress)
                loaded, left = self._loaded(server, bursts, imported, progress)
        found = figures([*loaded.values()]) | figures([*idle.values()], "baseline_")
        found |= {"baseline_fetch_s": baseline_fetch} | left
        print_bursts(self.console, f"{feeds:,} feeds due at once, again and again", idle | loaded)
        self._print(found)
        return found

    def _idle(self, server: Server, bursts: int, progress: Progress) -> dict[str, Burst]:
        found = {}
        for number in progress.track(range(1, bursts + 1), description="Bursts while nothing else is done"):
            wait_until_idle()
            server.publish()
            found[f"baseline: idle portal, {number}"] = burst(server, self.numbers)
            settle(self.numbers)
        return found

    def _loaded(
        self, server: Server, bursts: int, feeds: Sequence[Feed], progress: Progress
    ) -> tuple[dict[str, Burst], dict[str, float]]:
        found, each, left = {}, len(feeds) // bursts, list[dict[str, float]]()
        consumed = consumed_changes()
        for number in progress.track(range(bursts), description="Bursts under load"):
            server.publish()
            some = _import(server, feeds[number * each : (number + 1) * each], number)
            found[f"under load, {number + 1}"] = burst(server, self.numbers, watch=_keep_job)
            left.append(_left(some))
            settle(self.numbers)
        # The minimum over all bursts: in none did the load end first.
        least = {name: min(each[name] for each in left) for name in left[0]}
        return found, least | {"changes_read": float(consumed_changes() - consumed)}

    def _add_archive(self, postings: int, progress: Progress) -> None:
        """Store postings as retrievals do, so that all derived work is waiting."""
        begin = datetime.now(UTC) - ARCHIVE_FEED * ARCHIVE_GAP
        times = [(begin + number * ARCHIVE_GAP).timestamp() for number in range(ARCHIVE_FEED)]
        feeds = make_steady_feeds(-(-postings // ARCHIVE_FEED), seed=self.seed + 1, times=times)
        urls = [f"https://archive{feed.number}.example/feed" for feed in feeds]
        ids = add_sources(
            [Source(url=url, language=feed.language, listed=True) for url, feed in zip(urls, feeds, strict=True)]
        )
        source_ids = dict(zip((feed.number for feed in feeds), ids, strict=True))
        items = [item for feed in feeds for item in _items(feed)][:postings]
        firsts = range(0, postings, COPIED_AT_ONCE)
        for first in progress.track(firsts, description="Storing what is to be derived"):
            copy_postings(items[first : first + COPIED_AT_ONCE], source_ids, first=first)

    def _print(self, found: dict[str, float]) -> None:
        self.console.print(
            f"At the end of each burst at least {found['changes_left']:,.0f} changes of postings were still to be read,"
            f" {found['imports_left']:,.0f} feeds of its import were not fetched yet, and"
            f" {found['jobs_left']:.0f} index job was under way; meanwhile {found['changes_read']:,.0f} were read."
            f" A bare client that stores nothing fetches the feeds within {found['baseline_fetch_s']:.2f} s.",
            highlight=False,
        )
        if not all(found[name] for name in ("changes_left", "imports_left", "jobs_left")):
            self.console.print("[red]The load was over before the end of a burst: let there be more --postings.")
        if found["changes_read"] <= 0:
            self.console.print("[red]Nothing was derived meanwhile: this was no load.")


def _items(feed: Feed) -> Iterator[Item]:
    for time, text in zip(feed.times, feed.texts, strict=True):
        yield Item(feed.number, int(time), text.title, "\n".join(text.paragraphs))


def _import(server: Server, feeds: Sequence[Feed], number: int) -> list[str]:
    """Let a person follow feeds that the portal does not know; their addresses."""
    urls = [server.addresses.feed(feed.number) for feed in feeds]
    person = User.objects.create(username=f"importer{number}")
    document = OpmlDocument(subscriptions=tuple(map(Subscription, urls)))
    import_list(person, document, now=datetime.now(UTC))
    _keep_job()
    return urls


def _keep_job() -> None:
    """Begin an index job unless there is one."""
    if not _jobs():
        search.reindexing.begin(requested_by="benchmark_overload")


def _jobs() -> int:
    return Job.objects.filter(state__in=Job.UNFINISHED).count()


def _left(imported: Sequence[str]) -> dict[str, float]:
    return {
        "changes_left": float(sum(unread_changes().values())),
        "imports_left": float(Schedule.objects.filter(source__url__in=imported, observed_at=None).count()),
        "jobs_left": float(_jobs()),
    }
