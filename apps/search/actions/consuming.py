"""Consume the outbox: new, edited and deleted postings."""

from typing import Any

from apps.database.outbox import consume_rows
from apps.search.actions.deletions import kill
from apps.search.actions.locks import WRITING
from apps.search.actions.writing import DocumentBatch, pairs

CONSUMED_AT_ONCE = 2_048  # outbox rows in one transaction


def consume(limit: int = CONSUMED_AT_ONCE, *, wait: bool = True) -> int | None:
    """Consume up to `limit` outbox rows; returns how many, None if `wait` is off and another worker holds the lock.

    Documents are searchable once this is committed. They are numbered in the order of commits, as writers hold a lock:
    a reader that sees a document sees all of smaller numbers.
    """
    return consume_rows("search_outboxrow", _index, lock=WRITING, limit=limit, wait=wait, order="rebuild, id")


def _index(changes: list[Any]) -> None:
    posting_ids = list(dict.fromkeys(change.posting_id for change in changes))
    to_rebuild = {change.posting_id for change in changes if change.rebuild}
    found = pairs(posting_ids)
    ended, batch = [], DocumentBatch()
    for posting_id in posting_ids:
        posting, document = found[posting_id]
        if posting and document and document.version == posting.version and posting_id not in to_rebuild:
            continue
        if document:
            ended.append(document.number)
        if posting:
            batch.add(posting)
    kill(ended)
    batch.write(batch.all)
