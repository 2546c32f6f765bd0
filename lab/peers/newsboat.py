"""newsboat: a reader for terminals, which fetches by command and keeps SQLite."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from apps.sources.formats import opml
from lab.peers.base import Peer, Programs
from lab.peers.sites import number_of
from lab.peers.verdict import Stored

THREADS = 10  # that fetch


class Newsboat(Peer):
    name = "newsboat"
    label = "newsboat"

    @classmethod
    def missing(cls, programs: Programs) -> str:
        return "" if shutil.which("newsboat") else "install newsboat"

    def start(self) -> None:
        folder = self.world.folder
        self.cache = folder / "cache.db"
        (folder / "config").write_text(f"reload-threads {THREADS}\n", encoding="utf-8")
        (folder / "urls").touch()
        self._command: list[str | Path] = ["newsboat", "-C", folder / "config", "-u", folder / "urls", "-c", self.cache]

    def import_list(self, expected: int) -> None:
        file = self.world.folder / "feeds.opml"
        file.write_bytes(opml.write(self.world.subscriptions(), datetime.now(UTC)))
        self.run([*self._command, "-i", file])
        self.refresh(expected)

    def refresh(self, expected: int) -> None:
        self.run([*self._command, "-x", "reload"])

    def stored(self) -> Iterator[Stored]:
        with closing(sqlite3.connect(self.cache)) as connection:
            for feed, title, link in connection.execute("SELECT feedurl, title, url FROM rss_item"):
                yield Stored(number_of(feed), title, link)

    def disk(self) -> int:
        return self.cache.stat().st_size
