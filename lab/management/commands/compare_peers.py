"""This portal beside other feed readers: the same feeds, the same rounds, the same archive."""

import os
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from lab import throwaway
from lab.harness import LabCommand, table
from lab.peers import pages
from lab.peers.archive import YEAR, Archive
from lab.peers.base import Peer, PeerWithPages, Programs, World
from lab.peers.registry import PEERS
from lab.peers.rounds import Rounds
from lab.peers.server import FeedServer, serving
from portal.launcher import processes

MARK = "WIREBEAT_THROWAWAY"  # this process has a data folder of its own
SERVERS = ("DATABASE_URL", "BROKER_URL", "CACHE_URL")


class Row(NamedTuple):
    key: str
    label: str
    form: str = "{:,.0f}"


ROWS = (
    Row("start_s", "s until the first page or command", "{:.1f}"),
    Row("import_s", "s until all feeds of a list are stored", "{:.1f}"),
    Row("import_cpu_ms", "ms of CPU per posting, meanwhile", "{:.2f}"),
    Row("import_stored", "stored after that"),
    Row("import_memory_mb", "MB of memory after that"),
    Row("unchanged_s", "s to check all feeds, none of them changed", "{:.1f}"),
    Row("unchanged_cpu_ms", "ms of CPU per unchanged feed", "{:.2f}"),
    Row("conditional", "feeds requested conditionally"),
    Row("new_s", "s to check all feeds, all of them changed", "{:.1f}"),
    Row("new_cpu_ms", "ms of CPU per new posting", "{:.2f}"),
    Row("published", "postings published"),
    Row("stored", "stored"),
    Row("lost", "lost"),
    Row("wrong_titles", "stored with a wrong title"),
    Row("doubled", "stored twice"),
    Row("memory_mb", "MB of memory in the end"),
    Row("disk_kb", "kB of disk per posting", "{:.2f}"),
    Row("idle_cpu_percent", "% of a core at rest", "{:.2f}"),
    Row("idle_memory_mb", "MB of memory at rest"),
    Row("archive_disk_kb", "archive: kB of disk per posting", "{:.2f}"),
    *(
        Row(f"{state}.{page}_ms", f"{label}: ms to {words}")
        for state, label in (("unread", "all unread"), ("read", "all read"))
        for page, words in (
            ("list", "the list"),
            ("unread", "the unread"),
            ("folder", "a folder"),
            ("feed", "a feed"),
        )
    ),
    Row("unread.clients_per_s", "all unread: lists per second, eight clients", "{:.1f}"),
    Row("read.clients_per_s", "all read: lists per second, eight clients", "{:.1f}"),
    *(Row(f"search{words}_ms", f"ms to a search for {words} words") for words in range(1, pages.LONGEST_QUERY + 1)),
    Row("mark_all_s", "s to mark everything read", "{:.2f}"),
)


class Command(LabCommand):
    help = f"{__doc__} Feeds are on loopback, a tenth of them broken in ten ways."
    seed = 24

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--freshrss", type=Path, metavar="FOLDER", help="a checkout of FreshRSS")
        parser.add_argument("--reader", type=Path, metavar="PYTHON", help="a Python that can import `reader`")
        parser.add_argument("--feeds", type=int, default=300, help="default: %(default)s")
        parser.add_argument("--new", type=int, default=20, help="new postings of each feed (default: %(default)s)")
        parser.add_argument("--idle", type=float, default=120.0, help="seconds at rest (default: %(default)g)")
        parser.add_argument(
            "--postings", type=int, default=312_000, help="in the archive, 0: no pages (default: %(default)s)"
        )
        parser.add_argument("--requests", type=int, default=50, help="of each page (default: %(default)s)")
        parser.add_argument("--seconds", type=float, default=40.0, help="of eight clients (default: %(default)g)")

    def run_from_argv(self, argv: list[str]) -> None:
        """Run in a data folder of its own, where the portal's servers start empty."""
        if MARK in os.environ or {"-h", "--help"} & set(argv):
            return super().run_from_argv(argv)
        processes.hold_signals()
        with throwaway.folder() as var:
            kept = {name: value for name, value in os.environ.items() if name not in SERVERS}
            environment = kept | {"WIREBEAT_VAR": str(var), MARK: "1"}
            sys.exit(throwaway.run_in_front([sys.executable, *argv], environment).code)

    def measure(
        self, *args: Any, freshrss: Path | None, reader: Path | None, feeds: int, new: int, seed: int, **options: Any
    ) -> Mapping[str, float]:
        programs = Programs(freshrss=freshrss, reader=reader)
        self.figures: dict[str, dict[str, float]] = {}
        try:
            with ExitStack() as stack:
                server = stack.enter_context(serving(feeds, seed=seed, changes=new))
                running = self._rounds(stack, server, programs, new, options["idle"])
                if options["postings"]:
                    archive = _archive(server, options["postings"], seed)
                    self._pages(running, archive, options["requests"], options["seconds"])
        finally:  # what was measured before a failure took long
            self._print()
        return self._flat()

    def _rounds(
        self, stack: ExitStack, server: FeedServer, programs: Programs, new: int, idle: float
    ) -> list[PeerWithPages]:
        """The rounds of every reader, one at a time; those with pages go on running."""
        going_on = []
        for name, kind in PEERS.items():
            if missing := kind.missing(programs):
                self.say(f"{kind.label} is left out. To have it: {missing}")
                continue
            folder = stack.enter_context(throwaway.folder()) / name
            folder.mkdir()
            peer = kind(World(folder, server.sites, server.addresses(name), programs))
            self.say(f"{peer.label} starts, imports and checks {len(server.sites)} feeds.")
            rounds = Rounds(peer, server)
            self.figures[name] = rounds.figures
            with ExitStack() as own:
                rounds.figures["start_s"] = _timed(lambda: own.enter_context(peer))  # noqa: B023
                rounds.run(new, idle)
                if isinstance(peer, PeerWithPages):
                    going_on.append(peer)
                    stack.push(own.pop_all())
            self.save(self._flat())
        return going_on

    def _pages(self, peers: Sequence[PeerWithPages], archive: Archive, times: int, seconds: float) -> None:
        for peer in peers:
            self.say(f"{peer.label} gets an archive of {len(archive):,} postings.")
            self.figures[peer.name]["fill_s"] = _timed(lambda: peer.fill(archive))  # noqa: B023
            stored = len(archive) + self.figures[peer.name]["stored"]
            self.figures[peer.name]["archive_disk_kb"] = peer.disk() / 1e3 / stored
            self.save(self._flat())
        self.say("Their pages are requested in turn.")
        for name, found in pages.compare(peers, archive, times=times, seconds=seconds).items():
            self.figures[name] |= found

    def _flat(self) -> dict[str, float]:
        return {f"{name}.{key}": value for name, found in self.figures.items() for key, value in found.items()}

    def _print(self) -> None:
        shown: list[type[Peer]] = [PEERS[name] for name in reversed(PEERS) if name in self.figures]
        printed = table("Beside other readers", "", *(peer.label for peer in shown))
        for row in ROWS:
            values = [self.figures[peer.name].get(row.key) for peer in shown]
            if any(value is not None for value in values):
                printed.add_row(row.label, *("" if value is None else row.form.format(value) for value in values))
        self.console.print(printed)


def _archive(server: FeedServer, postings: int, seed: int) -> Archive:
    """Older than what the feeds have shown; with that it has so many postings."""
    shown = len(server.truth(next(reversed(PEERS))))
    begin = min(site.feed.times[0] for site in server.sites)
    return Archive(server.sites, max(0, postings - shown), seed, end=min(begin, time.time() - YEAR / 365))


def _timed(do: Callable[[], object]) -> float:
    began = time.monotonic()
    do()
    return time.monotonic() - began
