"""Search reads what it has not seen: new postings, edits, deletions."""

from dataclasses import dataclass

from django.db import connection, transaction

from apps.database.advisory_locks import take
from apps.database.statements import fetch_rows
from apps.search.actions.deletions import kill
from apps.search.actions.locks import WRITING
from apps.search.actions.writing import Sayings, pairs

CONSUMED_AT_ONCE = 2_048  # changes in one transaction


@dataclass(frozen=True, slots=True)
class Consumed:
    """What one pull did."""

    looked_at: int = 0  # changes
    added: int = 0  # documents; an edit adds one and ends one
    ended: int = 0


@transaction.atomic
def consume(limit: int = CONSUMED_AT_ONCE, *, wait: bool = True) -> Consumed | None:
    """Take up to `limit` changes and bring the index up to date with them; None if somebody else is at it.

    What it wrote is found as soon as this is committed. Documents are numbered in the order of commits, since one
    writer follows the other: whoever sees a document sees all of smaller numbers.
    """
    if not take(WRITING, wait=wait):
        return None
    changes = fetch_rows("SELECT id, posting_id, anew FROM search_outboxrow ORDER BY anew, id LIMIT %s", [limit])
    if not changes:
        return Consumed()
    posting_ids = list(dict.fromkeys(change.posting_id for change in changes))
    anew = {change.posting_id for change in changes if change.anew}
    found = pairs(posting_ids)
    ended, sayings = [], Sayings()
    for posting_id in posting_ids:
        posting, document = found[posting_id]
        if posting and document and document.is_of(posting) and posting_id not in anew:
            continue
        if document:
            ended.append(document.number)
        if posting:
            sayings.add(posting)
    kill(ended)
    sayings.write(sayings.all)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM search_outboxrow WHERE id = ANY(%s)", [[change.id for change in changes]])
    return Consumed(len(changes), len(sayings.all), len(ended))
