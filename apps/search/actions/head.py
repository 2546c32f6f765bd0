"""The head: allocates numbers of documents, and versions the segments."""

from apps.database.statements import execute, fetch


def reserve(count: int) -> tuple[int, int]:
    """The head, and the first of `count` new numbers. The caller holds the writers' lock."""
    update = "UPDATE search_head SET next_document = next_document + %s RETURNING id, next_document - %s"
    insert = "INSERT INTO search_head (next_document) VALUES (%s) RETURNING id, 0"
    [row] = fetch(update, [count, count]) or fetch(insert, [count])
    return row


def revise() -> None:
    """Invalidate caches of generations, frequencies and dead documents.

    The row stays locked until the end of the transaction, so take the writers' lock first. A revision is never reused,
    even after a failed transaction.
    """
    execute("UPDATE search_head SET revision = nextval('search_revision')")
