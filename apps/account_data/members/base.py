"""Members of an archive: each contains one kind of data, and most can be imported again."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from django.db.models import QuerySet
from django.utils.functional import Promise

from apps.account_data.formats.container import Container
from apps.account_data.formats.records import MAX_ADDRESS_LENGTH, MAX_IDENTIFIER_LENGTH, Record, line_of, records
from apps.account_data.models import Waiting
from apps.accounts.models import User
from apps.postings.models import Posting
from apps.postings.queries.recognition import ForeignPosting, recognize
from apps.sources import queries as sources
from apps.sources.algorithms.addresses import BadAddress, normalise

AT_ONCE = 1_000  # rows
MAX_WAITING = 100_000  # lines per user
MAX_WAITING_BYTES = 45_000  # of a line: the longest note, at four bytes a character
FIRST_CHECK_AFTER = timedelta(minutes=1)  # by then most new sources have been retrieved
Row = TypeVar("Row")
Values = dict[str, Any]


@dataclass(slots=True)
class Import:
    """A running import of an archive."""

    user: User
    now: datetime
    container: Container
    followed: set[int] = field(default_factory=set)  # sources followed by this import
    restored: Counter[str] = field(default_factory=Counter)  # by the name of the member
    waiting: int = 0  # lines about postings that have not been retrieved yet
    left_out: int = 0  # lines that cannot be applied
    remarks: list[str] = field(default_factory=list)  # for the user
    skipped: list[tuple[str, str]] = field(default_factory=list)  # place and reason, of other readers' exports
    _source_ids: dict[str, int] = field(default_factory=dict)

    def source_ids(self, addresses: set[str]) -> dict[str, int]:
        """The known ones of the sources that an archive names by address."""
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


class AboutPostings(NamedTuple):
    """Reads lines about postings, and stores them once their postings are known."""

    read: Callable[[Record, datetime], Values]  # raises BadArchive
    write: Callable[[User, Sequence[tuple[int | None, Values]]], int]  # None: a line about no posting


class Member(NamedTuple):
    name: str
    label: Promise
    write: Callable[[User], Iterator[bytes]]
    take: Callable[[Import], None] | AboutPostings | None = None  # None: for people and other programs

    def written(self, user: User) -> Iterator[bytes]:
        yield from self.write(user)
        if isinstance(self.take, AboutPostings):
            waiting = Waiting.objects.filter(user=user, member=self.name)
            yield from (line_of(each.record) for each in in_batches(waiting))

    def taken(self, running: Import) -> None:
        if isinstance(self.take, AboutPostings):
            for batch in batches(records(running.container, self.name)):
                _take_lines(running, self.name, self.take, batch)
        elif self.take is not None:
            self.take(running)


def _take_lines(running: Import, member: str, about: AboutPostings, lines: list[Record]) -> None:
    named = [identifiers_in(line) if "source" in line.values else ("", ("", "", "")) for line in lines]
    values = [about.read(line, running.now) for line in lines]
    known = running.source_ids({address for address, _ in named if address})
    postings = [ForeignPosting(known.get(address, 0), *identifiers) for address, identifiers in named]
    found = recognize(postings)
    ready: list[tuple[int | None, Values]] = []
    waiting: list[tuple[int, Record]] = []
    for posting, posting_id, line, value in zip(postings, found, lines, values, strict=True):
        if "source" not in line.values or posting_id is not None:
            ready.append((posting_id, value))
        elif posting.source_id:
            waiting.append((posting.source_id, line))
        else:
            running.left_out += 1
    running.restored[member] += about.write(running.user, ready)
    let_wait(running, member, waiting)


def identifiers_in(record: Record) -> tuple[str, tuple[str, str, str]]:
    """The address of a line's source, and guid, link and title of its posting. Raises BadArchive."""
    address = record.text("source", longest=MAX_ADDRESS_LENGTH)
    guid, url, title = (
        record.text(name, longest=MAX_IDENTIFIER_LENGTH, otherwise="") for name in ("guid", "url", "title")
    )
    return address, (guid, url, title)


def let_wait(running: Import, member: str, lines: Sequence[tuple[int, Record]]) -> None:
    """Store lines until their postings arrive, such as by the first retrieval of a new source."""
    if not lines:
        return
    room = MAX_WAITING - Waiting.objects.filter(user=running.user).count()
    kept: dict[tuple[int, str], Waiting] = {}
    for source_id, line in lines:
        data = line_of(line.values)
        if len(data) > MAX_WAITING_BYTES or len(kept) >= room:
            running.left_out += 1
            continue
        named = {name: line.values.get(name) for name in ("guid", "url", "title", "tag", "quote", "prefix")}
        key = sha256(line_of(named)).hexdigest()
        kept[source_id, key] = Waiting(
            user=running.user,
            member=member,
            source_id=source_id,
            key=key,
            record=dict(line.values),
            noted_at=running.now,
            due_at=running.now + FIRST_CHECK_AFTER,
        )
    Waiting.objects.bulk_create(
        kept.values(),
        update_conflicts=True,
        unique_fields=["user", "member", "source", "key"],
        update_fields=["record", "noted_at", "due_at"],
    )
    running.waiting += len(kept)


def reference(posting: Posting) -> dict[str, str]:
    """What identifies a posting on another portal."""
    return {"source": posting.source.url, "guid": posting.guid, "url": posting.url, "title": posting.title}


def in_batches(rows: "QuerySet[Any]", key: str = "pk", size: int = AT_ONCE) -> Iterator[Any]:
    """Rows in the order of an indexed key, a batch of them in memory."""
    last = 0
    while batch := list(rows.filter(**{f"{key}__gt": last}).order_by(key)[:size]):
        yield from batch
        last = getattr(batch[-1], key)


def batches(rows: Iterator[Row]) -> Iterator[list[Row]]:
    while batch := list(islice(rows, AT_ONCE)):
        yield batch
