"""The search index, emptied and filled by the outbox instead of a job."""

import numpy as np
from django.db import connection, transaction
from numpy.typing import NDArray

from apps.database.statements import fetch
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


def posting_ids(documents: NDArray[np.int64]) -> list[int]:
    """The posting of each document by the table of documents, not by the index; 0 for a deleted one."""
    numbers = documents.tolist()
    known = dict(fetch("SELECT number, posting_id FROM search_document WHERE number = ANY(%s)", [numbers]))
    return [known.get(number, 0) for number in numbers]
