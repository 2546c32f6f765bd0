"""The search index, emptied and filled by the outbox instead of a job."""

from django.db import connection, transaction

from apps.search.actions.reindexing import clear

# In the order of their documents, so that newer ones stay newer; after them, those without.
_ALL = """
INSERT INTO search_outboxrow (posting_id, rebuild)
SELECT coalesce(posting.id, document.posting_id), true
FROM postings_posting posting
FULL JOIN (SELECT number, posting_id FROM search_document WHERE NOT dead) document ON document.posting_id = posting.id
ORDER BY document.number NULLS LAST, posting.published_at, posting.id
"""


@transaction.atomic
def empty() -> None:
    """Empty the index and add outbox rows for all postings. They are not found until consumed."""
    clear()
    with connection.cursor() as cursor:
        cursor.execute(_ALL)
