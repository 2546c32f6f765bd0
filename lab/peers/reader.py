"""`reader`: a library of Python that keeps SQLite, without pages."""

import json
from collections.abc import Iterator
from pathlib import Path

from lab.peers.base import Peer, Programs
from lab.peers.sites import number_of
from lab.peers.verdict import Stored

DRIVER = Path(__file__).with_name("reader_driver.py")


class Reader(Peer):
    name = "reader"
    label = "reader"

    @classmethod
    def missing(cls, programs: Programs) -> str:
        wanted = "python3 -m venv FOLDER && FOLDER/bin/pip install reader sgmllib3k, then --reader FOLDER/bin/python"
        return "" if programs.reader else wanted

    def start(self) -> None:
        self.database = self.world.folder / "reader.db"
        self._call("update")

    def import_list(self, expected: int) -> None:
        self._call("add", "\n".join(each.xml_url for each in self.world.subscriptions().subscriptions))
        self.refresh(expected)

    def refresh(self, expected: int) -> None:
        self._call("update")

    def stored(self) -> Iterator[Stored]:
        for line in self._call("stored").splitlines():
            feed, title, link = json.loads(line)
            yield Stored(number_of(feed), title, link)

    def disk(self) -> int:
        return self.database.stat().st_size

    def _call(self, action: str, text: str = "") -> str:
        assert self.world.programs.reader is not None
        # Without this folder on its path, its own module of that name is found.
        return self.run([self.world.programs.reader, "-P", DRIVER, action, self.database], text=text)
