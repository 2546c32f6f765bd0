"""Consume the outbox: new, edited and deleted postings."""

from dataclasses import dataclass

from django.db import connection, transaction

from apps.database.advisory_locks import take
from apps.database.statements import fetch_rows
from apps.search.actions.deletions import kill
from apps.search.actions.locks import WRITING
from apps.search.actions.writing import DocumentBatch, pairs

CONSUMED_AT_ONCE = 2_048  # outbox rows in one transaction


@dataclass(frozen=True, slots=True)
class Consumed:
    changes: int = 0  # outbox rows consumed
    added: int = 0  # documents; an edit adds one and ends one
    ended: int = 0


@transaction.atomic
def consume(limit: int = CONSUMED_AT_ONCE, *, wait: bool = True) -> Consumed | None:
    """Consume up to `limit` outbox rows; None if `wait` is off and another worker holds the lock.

    Documents are searchable once this is committed. They are numbered in the order of commits, as writers hold a lock:
    a reader that sees a document sees all of smaller numbers.
    """
    if not take(WRITING, wait=wait):
        return None
    changes = fetch_rows("SELECT id, posting_id, rebuild FROM search_outboxrow ORDER BY rebuild, id LIMIT %s", [limit])
    if not changes:
        return Consumed()
    posting_ids = list(dict.fromkeys(change.posting_id for change in changes))
    to_rebuild = {change.posting_id for change in changes if change.rebuild}
    found = pairs(posting_ids)
    ended, batch = [], DocumentBatch()
    for posting_id in posting_ids:
        posting, document = found[posting_id]
        if posting and document and document.is_of(posting) and posting_id not in to_rebuild:
            continue
        if document:
            ended.append(document.number)
        if posting:
            batch.add(posting)
    kill(ended)
    batch.write(batch.all)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM search_outboxrow WHERE id = ANY(%s)", [[change.id for change in changes]])
    return Consumed(len(changes), len(batch.all), len(ended))
