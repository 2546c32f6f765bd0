"""What an archive is made of: members, each written of one part of what is a person's, and most of them taken back."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import TypeVar

from apps.accounts.models import User
from apps.belongings.formats.container import Container
from apps.belongings.formats.records import LONGEST_ADDRESS, LONGEST_IDENTIFIER, Record
from apps.postings.models import Posting
from apps.postings.recognising import Told, recognised
from apps.sources import queries as sources
from apps.sources.algorithms.addresses import BadAddress, normalise

AT_ONCE = 1_000  # rows
Row = TypeVar("Row")


@dataclass(slots=True)
class Taking:
    """An archive that is taken over."""

    user: User
    now: datetime
    container: Container
    followed: set[int] = field(default_factory=set)  # sources that the person follows since
    restored: Counter[str] = field(default_factory=Counter)  # by the name of the member
    elsewhere: Counter[str] = field(default_factory=Counter)  # what concerns postings that are not here
    remarks: list[str] = field(default_factory=list)  # for the person
    _source_ids: dict[str, int] = field(default_factory=dict)

    def source_ids(self, addresses: set[str]) -> dict[str, int]:
        """The sources here that an archive names by their addresses; those that are not here are left out."""
        if new := addresses - self._source_ids.keys():
            plain = {address: _plain(address) for address in new}
            known = sources.by_address(set(plain.values()))
            self._source_ids |= {address: known.get(url, 0) for address, url in plain.items()}
        return {address: self._source_ids[address] for address in addresses if self._source_ids[address]}

    def posting_ids(self, records: list[Record]) -> list[int | None]:
        """The postings here that records of an archive are about; None where there is none."""
        addresses = [record.text("source", longest=LONGEST_ADDRESS) for record in records]
        known = self.source_ids(set(addresses))
        found = recognised(
            [
                Told(
                    known.get(address, 0),
                    record.text("guid", longest=LONGEST_IDENTIFIER, otherwise=""),
                    record.text("url", longest=LONGEST_IDENTIFIER, otherwise=""),
                    record.text("title", longest=LONGEST_IDENTIFIER, otherwise=""),
                )
                for address, record in zip(addresses, records, strict=True)
            ]
        )
        return found


def _plain(address: str) -> str:
    try:
        return normalise(address)
    except BadAddress:
        return ""


@dataclass(frozen=True, slots=True)
class Member:
    name: str
    about: str  # for people who open the archive
    write: Callable[[User], Iterator[bytes]]
    take: Callable[[Taking], None] | None = None  # None: it is for people, or programs of others


def reference(posting: Posting, address: str) -> dict[str, str]:
    """What a posting is known by elsewhere."""
    return {"source": address, "guid": posting.guid, "url": posting.url, "title": posting.title}


def batches(rows: Iterator[Row]) -> Iterator[list[Row]]:
    while batch := list(islice(rows, AT_ONCE)):
        yield batch
