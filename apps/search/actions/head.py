"""The one row that gives out numbers of documents, and tells what was sealed at one time from what is at another."""

from django.db import connection

from apps.database.statements import fetch


def reserve(count: int) -> tuple[int, int]:
    """The head, and the first of so many new numbers. The caller holds the lock of the writers."""
    statement = "UPDATE search_head SET next_document = next_document + %s RETURNING id, next_document - %s"
    rows = fetch(statement, [count, count])
    if not rows:
        rows = fetch("INSERT INTO search_head (next_document) VALUES (%s) RETURNING id, 0", [count])
    return rows[0]


def revise() -> None:
    """Let nobody take what they remember of generations, frequencies and the dead for what they are from now on.

    The row is locked until the end of the transaction: whoever still has to wait for the writers' lock has that to do
    first. Revisions are never given twice, not even after a transaction that failed.
    """
    with connection.cursor() as cursor:
        cursor.execute("UPDATE search_head SET revision = nextval('search_revision')")
