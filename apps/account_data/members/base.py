"""What an archive is made of: members, each written of one part of what is a person's, and most of them taken back."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import islice
from typing import Any, TypeVar

from apps.account_data.formats.container import Container
from apps.account_data.formats.records import MAX_ADDRESS_LENGTH, MAX_IDENTIFIER_LENGTH, Record, line_of, records
from apps.account_data.models import Waiting
from apps.accounts.models import User
from apps.postings.models import Posting
from apps.postings.queries.recognition import ForeignPosting, recognize
from apps.sources import queries as sources
from apps.sources.algorithms.addresses import BadAddress, normalise

AT_ONCE = 1_000  # rows
MAX_WAITING = 100_000  # lines of a person
MAX_WAITING_BYTES = 45_000  # bytes of a line: a long note of characters that take four each
FIRST_LOOK = timedelta(minutes=1)  # after an archive was taken over; by then most new sources were asked
Row = TypeVar("Row")
Values = dict[str, Any]


@dataclass(slots=True)
class Taking:
    """An archive that is taken over."""

    user: User
    now: datetime
    container: Container
    followed: set[int] = field(default_factory=set)  # sources that the person follows since
    restored: Counter[str] = field(default_factory=Counter)  # by the name of the member
    waiting: int = 0  # lines about postings that are not here yet
    left_out: int = 0  # lines that nothing here can be done with
    remarks: list[str] = field(default_factory=list)  # for the person
    _source_ids: dict[str, int] = field(default_factory=dict)

    def source_ids(self, addresses: set[str]) -> dict[str, int]:
        """The sources here that an archive names by their addresses; those that are not here are left out."""
        if new := addresses - self._source_ids.keys():
            plain = {address: _plain(address) for address in new}
            known = sources.by_address(set(plain.values()))
            self._source_ids |= {address: known.get(url, 0) for address, url in plain.items()}
        return {address: self._source_ids[address] for address in addresses if self._source_ids[address]}


def _plain(address: str) -> str:
    try:
        return normalise(address)
    except BadAddress:
        return ""


@dataclass(frozen=True, slots=True)
class AboutPostings:
    """How lines about postings are read and, with the posting here that each is about, written."""

    read: Callable[[Record, datetime], Values]  # raises BadArchive
    write: Callable[[User, Sequence[tuple[int | None, Values]]], int]  # None: the line is about no posting


@dataclass(frozen=True, slots=True)
class Member:
    name: str
    about: str  # for people who open the archive
    write: Callable[[User], Iterator[bytes]]
    take: Callable[[Taking], None] | AboutPostings | None = None  # None: it is for people, or programs of others

    def written(self, user: User) -> Iterator[bytes]:
        yield from self.write(user)
        if isinstance(self.take, AboutPostings):
            waiting, last = Waiting.objects.filter(user=user, member=self.name).order_by("pk"), 0
            while batch := list(waiting.filter(pk__gt=last)[:AT_ONCE]):
                yield from (line_of(each.record) for each in batch)
                last = batch[-1].pk

    def taken(self, taking: Taking) -> None:
        if isinstance(self.take, AboutPostings):
            for batch in batches(records(taking.container, self.name)):
                _take_lines(taking, self.name, self.take, batch)
        elif self.take is not None:
            self.take(taking)


def _take_lines(taking: Taking, member: str, about: AboutPostings, lines: list[Record]) -> None:
    told = [told_in(line) if "source" in line.values else None for line in lines]
    values = [about.read(line, taking.now) for line in lines]
    known = taking.source_ids({address for address, _ in filter(None, told)})
    places = [
        ForeignPosting(known.get(each[0], 0), *each[1]) if each else ForeignPosting(0, "", "", "") for each in told
    ]
    found = recognize(places)
    ready: list[tuple[int | None, Values]] = []
    waiting: list[tuple[int, Record]] = []
    for each, place, posting_id, line, value in zip(told, places, found, lines, values, strict=True):
        if each is None or posting_id is not None:
            ready.append((posting_id, value))
        elif place.source_id:
            waiting.append((place.source_id, line))
        else:
            taking.left_out += 1
    taking.restored[member] += about.write(taking.user, ready)
    _let_wait(taking, member, waiting)


def told_in(record: Record) -> tuple[str, tuple[str, str, str]]:
    """What a line says of its posting: the address of its source; its guid, link and title.

    Raises BadArchive if one of them is no text, or too long.
    """
    address = record.text("source", longest=MAX_ADDRESS_LENGTH)
    guid, url, title = (
        record.text(name, longest=MAX_IDENTIFIER_LENGTH, otherwise="") for name in ("guid", "url", "title")
    )
    return address, (guid, url, title)


def _let_wait(taking: Taking, member: str, lines: Sequence[tuple[int, Record]]) -> None:
    """Keep lines until their postings come, which may be when a new source has been asked for the first time."""
    if not lines:
        return
    room = MAX_WAITING - Waiting.objects.filter(user=taking.user).count()
    kept: dict[tuple[int, str], Waiting] = {}
    for source_id, line in lines:
        data = line_of(line.values)
        if len(data) > MAX_WAITING_BYTES or len(kept) >= room:
            taking.left_out += 1
            continue
        named = {name: line.values.get(name) for name in ("guid", "url", "title", "tag")}
        key = sha256(line_of(named)).hexdigest()
        kept[source_id, key] = Waiting(
            user=taking.user,
            member=member,
            source_id=source_id,
            key=key,
            record=dict(line.values),
            noted_at=taking.now,
            due_at=taking.now + FIRST_LOOK,
        )
    Waiting.objects.bulk_create(
        kept.values(),
        update_conflicts=True,
        unique_fields=["user", "member", "source", "key"],
        update_fields=["record", "noted_at", "due_at"],
    )
    taking.waiting += len(kept)


def reference(posting: Posting, address: str) -> dict[str, str]:
    """What a posting is known by elsewhere."""
    return {"source": address, "guid": posting.guid, "url": posting.url, "title": posting.title}


def batches(rows: Iterator[Row]) -> Iterator[list[Row]]:
    while batch := list(islice(rows, AT_ONCE)):
        yield batch
