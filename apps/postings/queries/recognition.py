"""Postings of another portal's archive, found here by guid or link."""

from collections.abc import Sequence
from typing import NamedTuple

from apps.database.statements import fetch_rows
from apps.postings.algorithms.identity import keys
from apps.sources.formats.feed import ParsedEntry


class ForeignPosting(NamedTuple):
    """A posting as another portal stores it."""

    source_id: int
    guid: str
    url: str
    title: str


_FIND = """
SELECT wanted.place, wanted.rank, posting.id AS posting_id
FROM unnest(%s::int[], %s::int[], %s::bigint[], %s::bytea[]) wanted(place, rank, source_id, key)
JOIN postings_posting posting ON posting.source_id = wanted.source_id AND posting.identity = wanted.key
UNION ALL
SELECT wanted.place, 9, posting.id
FROM unnest(%s::int[], %s::bigint[], %s::bytea[]) wanted(place, source_id, key)
JOIN postings_posting posting ON posting.source_id = wanted.source_id AND posting.link_key = wanted.key
    AND posting.link_key <> ''
ORDER BY place, rank DESC, posting_id DESC -- the most special last, so that it stays
"""


def recognize(foreign: Sequence[ForeignPosting]) -> list[int | None]:
    """The id of each posting here, or None: by its guid, with link and title where that is not enough, or its link.

    One query, however many there are.
    """
    identities: list[tuple[int, int, int, bytes]] = []
    links: list[tuple[int, int, bytes]] = []
    for place, posting in enumerate(foreign):
        [key] = keys([ParsedEntry(guid=posting.guid, link=posting.url, title=posting.title)])
        identities += [(place, rank, posting.source_id, identity) for rank, identity in enumerate(key.identities)]
        if key.link_key:
            links.append((place, posting.source_id, key.link_key))
    columns = [list(column) for column in zip(*identities, strict=True)] or [[], [], [], []]
    columns += [list(column) for column in zip(*links, strict=True)] or [[], [], []]
    found: list[int | None] = [None] * len(foreign)
    for row in fetch_rows(_FIND, columns):
        found[row.place] = row.posting_id
    return found


def link_key_of(address: str) -> bytes:
    """The link key of postings that link to an address; empty if the address identifies none."""
    [key] = keys([ParsedEntry(link=address)])
    return key.link_key
