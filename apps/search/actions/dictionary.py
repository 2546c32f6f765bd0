"""Terms and their numbers."""

from collections.abc import Collection
from functools import partial

from django.db import transaction
from django.db.models.functions import Left

from apps.database.statements import copy_rows, fetch, fetch_rows
from apps.postings.models import Posting
from apps.search.algorithms.spelling import counted_words
from apps.search.models import SpelledWord

MAX_CACHED = 300_000  # terms, about 40 MB

# ON CONFLICT would take a number from the sequence for each existing term, too.
_READ_OR_ADD = """
WITH known AS MATERIALIZED (SELECT term, id FROM search_term WHERE term = ANY(%s)),
added AS (
    INSERT INTO search_term (term, document_frequency)
    SELECT term, 0 FROM unnest(%s::text[]) term WHERE NOT EXISTS (SELECT FROM known WHERE known.term = term.term)
    RETURNING term, id
)
SELECT term, id FROM known UNION ALL SELECT term, id FROM added
"""

_READ = """
SELECT head.id AS head, term.term, term.id AS number
FROM search_head head JOIN search_term term ON term = ANY(%s) ORDER BY head.id
"""

_cached: dict[int, dict[str, int]] = {}  # by head: an emptied index has other numbers


def numbers_of(terms: Collection[str], head: int) -> dict[str, int]:
    """The number of each of the terms, after adding new ones. The caller holds the writers' lock."""
    cached = _cached.get(head, {})
    found = {term: cached[term] for term in terms if term in cached}
    if len(found) == len(terms):
        return found
    missing = sorted(term for term in terms if term not in found)
    read: dict[str, int] = dict(fetch(_READ_OR_ADD, [missing, missing]))
    transaction.on_commit(partial(_remember, head, read))
    return found | read


def warm(terms: Collection[str]) -> None:
    """Cache the numbers of known terms before taking the writers' lock.

    Head and numbers are read in one statement, as the index may be emptied meanwhile.
    """
    head = next(iter(_cached), None)
    missing = sorted(term for term in terms if term not in _cached.get(head or 0, {}))
    rows = fetch_rows(_READ, [missing])
    if rows:
        _remember(rows[0].head, {row.term: row.number for row in rows})


def _remember(head: int, found: dict[str, int]) -> None:
    """Cache numbers once they are committed, as those of a failed transaction are void."""
    cached = _cached.get(head, {})
    if len(cached) + len(found) > MAX_CACHED:
        cached = {}
    cached.update(found)
    _cached.clear()
    _cached[head] = cached


_SETTLE = """
WITH lost AS (DELETE FROM search_loss RETURNING term_id, documents),
changed AS (
    SELECT term_id, sum(documents)::int AS documents FROM (
        SELECT term_id, -documents AS documents FROM lost UNION ALL SELECT * FROM unnest(%s::int[], %s::int[])
    ) changes (term_id, documents)
    GROUP BY term_id HAVING sum(documents) <> 0
),
added AS (
    UPDATE search_term SET document_frequency = document_frequency + changed.documents
    FROM changed WHERE search_term.id = changed.term_id
)
SELECT EXISTS (SELECT FROM lost)
"""


def settle(terms: list[int], documents: list[int]) -> bool:
    """Add document frequencies of a new segment and subtract `Loss` rows; whether there were any.

    Both at once, as most frequencies do not change where documents replace equal ones. The caller holds the maintenance
    lock.
    """
    [(found,)] = fetch(_SETTLE, [terms, documents])
    return bool(found)


# --- vocabulary of spelling suggestions -------------------------------------------------------------------------------
MAX_READ = 50_000  # postings, the newest
READ = 1_000  # characters of the text of each
MAX_KEPT = 100_000  # words
MIN_DOCUMENTS = 3  # of a word; a rarer one may be a misspelling


def learn_spelling() -> int:
    """Replace the vocabulary by the words of the newest postings; returns its size."""
    listed = Posting.objects.filter(source__listed=True)  # suggestions are public
    newest = listed.order_by("-pk").values_list("title", Left("text", READ))[:MAX_READ]
    counts = counted_words(f"{title}\n{text}" for title, text in newest.iterator(2_000))
    kept = [(word, documents) for word, documents in counts.most_common(MAX_KEPT) if documents >= MIN_DOCUMENTS]
    with transaction.atomic():
        SpelledWord.objects.all().delete()
        copy_rows("COPY search_spelledword (word, documents) FROM STDIN (FORMAT BINARY)", ["text", "int4"], kept)
    return len(kept)
