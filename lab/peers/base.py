"""What a comparison needs of a reader: one interface for all of them."""

import os
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self, TypeVar

import psutil
from django.core.management.base import CommandError

from apps.sources.formats.opml import OpmlDocument, Subscription
from lab.harness import cpu_seconds_of_family
from lab.peers.archive import Archive
from lab.peers.sites import PeerAddresses, Site
from lab.peers.verdict import Stored

MAX_SECONDS = 4 * 3_600.0  # s that a reader may take for one step; an archive takes longest
POLLED_EVERY = 0.2  # s
SAMPLED_EVERY = 0.05  # s, of the memory of a command
ON_A_PAGE = 30  # articles of a list

Thing = TypeVar("Thing")


@dataclass(frozen=True, slots=True)
class Programs:
    """Where readers are installed that have no fixed place."""

    freshrss: Path | None = None  # a checkout
    reader: Path | None = None  # a Python that can import it


@dataclass(frozen=True, slots=True)
class World:
    """What a reader is given: its empty folder, and its own addresses of the feeds."""

    folder: Path
    sites: Sequence[Site]
    addresses: PeerAddresses
    programs: Programs

    def subscriptions(self) -> OpmlDocument:
        listed = (
            Subscription(self.addresses.feed(site.number), site.feed.title, folders=((site.folder,),))
            for site in self.sites
        )
        return OpmlDocument(title="Feeds", subscriptions=tuple(listed))


class Peer(AbstractContextManager["Peer"], ABC):
    """A reader. It runs within the block; everything it has stored is below its folder.

    The processor time of its commands, of its processes, and of its own Postgres counts.
    """

    name: ClassVar[str]
    label: ClassVar[str]

    def __init__(self, world: World) -> None:
        self.world = world
        self.processes: list[int] = []  # that run all the time; their descendants count as well
        self.peak = 0  # bytes that the largest command needed
        self._spent = 0.0  # s of processor time of commands that have ended
        self._stack = ExitStack()

    @classmethod
    @abstractmethod
    def missing(cls, programs: Programs) -> str:
        """What must be installed or named so that the reader can run; "" if nothing."""

    @abstractmethod
    def start(self) -> None:
        """Make it ready for its first user; what must be ended goes to `self.enter`."""

    @abstractmethod
    def import_list(self, expected: int) -> None:
        """Import the list of feeds, and return when so many postings are stored, or no more will be."""

    @abstractmethod
    def refresh(self, expected: int) -> None:
        """Check every feed, and return when so many postings are stored in all, or no more will be."""

    @abstractmethod
    def stored(self) -> Iterator[Stored]: ...

    @abstractmethod
    def disk(self) -> int:
        """Bytes that the stored postings take, with their indexes."""

    def settle(self) -> None:
        """Wait until work that follows the storing of postings is done."""

    # --- what it costs ------------------------------------------------------------------------------------------------
    def cpu_seconds(self) -> float:
        return self._spent + sum(map(cpu_seconds_of_family, self.processes))

    def memory(self) -> int:
        """Bytes: the shares (PSS) of its processes, or else the most that one of its commands has used."""
        return sum(map(_memory_of, self.processes)) or self.peak

    def run(
        self, command: Sequence[str | Path], *, text: str = "", environment: Mapping[str, str] | None = None
    ) -> str:
        """Run one of its commands to the end; returns what it printed."""
        paths = {name: self.world.folder / f"command.{name}" for name in ("in", "out", "err")}
        paths["in"].write_text(text, encoding="utf-8")
        with paths["in"].open("rb") as given, paths["out"].open("wb") as out, paths["err"].open("wb") as err:
            process = subprocess.Popen(
                command, stdin=given, stdout=out, stderr=err, env=environment and {**os.environ, **environment}
            )
            while (ended := os.wait4(process.pid, os.WNOHANG))[0] == 0:
                self.peak = max(self.peak, _memory_of(process.pid))
                time.sleep(SAMPLED_EVERY)
        _, status, used = ended
        process.returncode = os.waitstatus_to_exitcode(status)
        self._spent += used.ru_utime + used.ru_stime
        printed = paths["out"].read_text(encoding="utf-8", errors="replace")
        if process.returncode:
            errors = paths["err"].read_text(encoding="utf-8", errors="replace")
            raise CommandError(f"{self.label}: {command[0]} ended with {process.returncode}.\n{printed}{errors}")
        return printed

    # --- running ------------------------------------------------------------------------------------------------------
    def enter(self, thing: AbstractContextManager[Thing]) -> Thing:
        """Enter a context that ends with the reader."""
        return self._stack.enter_context(thing)

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()


class PeerWithPages(Peer):
    """A reader with web pages; they are requested with the session of its user."""

    address: str  # http://host:port, once it runs
    headers: Mapping[str, str]  # of a request with the session, once `sign_in` was called

    @abstractmethod
    def fill(self, archive: Archive) -> None:
        """Store an archive as if the feeds had been followed for a year; everything is unread afterwards."""

    @abstractmethod
    def sign_in(self) -> None: ...

    @abstractmethod
    def pages(self) -> dict[str, list[str]]:
        """Addresses of each kind of page: list, unread, folder, feed."""

    @abstractmethod
    def search_page(self, words: str) -> str: ...

    @abstractmethod
    def count_articles(self, page: str) -> int:
        """The number of articles that a page lists."""

    @abstractmethod
    def mark_all_read(self) -> None:
        """As the button of the page does, with the page that follows."""


def _memory_of(pid: int) -> int:
    """Bytes of a process and its descendants; each has its share of what they have in common (PSS)."""
    total = 0
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        for member in [process, *process.children(recursive=True)]:
            with suppress(psutil.Error):
                total += member.memory_full_info().pss
    return total


def wait_until(is_so: Callable[[], bool], what: str, timeout: float = MAX_SECONDS) -> None:
    """Raises CommandError after the timeout."""
    until = time.monotonic() + timeout
    while not is_so():
        if time.monotonic() > until:
            raise CommandError(f"Waited {timeout:.0f} s until {what}, in vain.")
        time.sleep(POLLED_EVERY)
