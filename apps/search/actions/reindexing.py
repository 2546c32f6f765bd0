"""To look at postings again: at all of them, at those that were somehow missed, or from nothing."""

from django.db import connection, transaction

from apps.database.locks import take
from apps.search.actions.locks import MAINTAINING, WRITING
from apps.search.models import Change
from apps.search.queries.checking import UNSEEN

# In the order of their documents, so that newer ones stay newer; after them, what has none.
_ALL = """
INSERT INTO search_change (posting_id, anew)
SELECT coalesce(posting.id, document.posting_id), true
FROM postings_posting posting
FULL JOIN (SELECT number, posting_id FROM search_document WHERE NOT dead) document ON document.posting_id = posting.id
ORDER BY document.number NULLS LAST, posting.published_at, posting.id
"""
_MISSED = f"""
INSERT INTO search_change (posting_id, anew)
SELECT coalesce(posting.id, document.posting_id), false {UNSEEN} ORDER BY posting.published_at, posting.id
"""


def to_be_read_anew() -> int:
    """How many postings are still to be read again."""
    return Change.objects.filter(anew=True).count()


@transaction.atomic
def read_all_anew() -> int:
    """Let `pull` read every posting again, whatever search knows of it; how many are waiting.

    Search goes on meanwhile, with what was read before. Where some are waiting from another time, these are finished
    and no others begun.
    """
    if not take(WRITING):
        return 0
    if not to_be_read_anew():
        with connection.cursor() as cursor:
            cursor.execute(_ALL)
    return to_be_read_anew()


@transaction.atomic
def note_missed() -> int:
    """Let `pull` look at all postings whose text search does not know, or that are gone; how many they are.

    Nothing is ever missed but by what keeps the database from noting it, such as a backup that was put back in parts.
    """
    take(WRITING)
    with connection.cursor() as cursor:
        cursor.execute(_MISSED)
        return cursor.rowcount


@transaction.atomic
def empty() -> int:
    """Forget the whole index and let `pull` read every posting; how many are waiting. Until then they are not found."""
    take(MAINTAINING)
    take(WRITING)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        # Not by TRUNCATE, which shows an empty table even to those who began to read before it.
        for table in ("row", "generation", "document", "loss", "term", "change", "head"):
            cursor.execute(f"DELETE FROM search_{table}")
        # Another head, though the numbers of documents begin again: nobody may take for them what they remember.
        cursor.execute("INSERT INTO search_head (next_document) VALUES (0)")
        cursor.execute(_ALL)
    return to_be_read_anew()
