"""Terms and the numbers they were given."""

from collections.abc import Collection
from functools import partial

from django.db import transaction

from apps.database.statements import fetch, fetch_rows

MAX_REMEMBERED = 300_000  # terms, about 40 MB

# Not by ON CONFLICT, which takes a number for each term that is there already, too.
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

_remembered: dict[int, dict[str, int]] = {}  # by head: an index that was emptied gives other numbers


def numbers_of(terms: Collection[str], head: int) -> dict[str, int]:
    """The number of each of the terms; new ones are given one. The caller holds the lock of the writers."""
    remembered = _remembered.get(head, {})
    found = {term: remembered[term] for term in terms if term in remembered}
    if len(found) == len(terms):
        return found
    missing = sorted(term for term in terms if term not in found)
    read: dict[str, int] = dict(fetch(_READ_OR_ADD, [missing, missing]))
    transaction.on_commit(partial(_remember, head, read))
    return found | read


def get_ready(terms: Collection[str]) -> None:
    """Remember the numbers of terms that have some, so that who holds the lock of the writers need not look for them.

    Head and numbers are read at one instant, or numbers of an index that is emptied meanwhile were taken for others.
    """
    head = next(iter(_remembered), None)
    missing = sorted(term for term in terms if term not in _remembered.get(head or 0, {}))
    rows = fetch_rows(_READ, [missing])
    if rows:
        _remember(rows[0].head, {row.term: row.number for row in rows})


def _remember(head: int, found: dict[str, int]) -> None:
    """Only once they are committed: the numbers of a transaction that failed are given to nobody."""
    remembered = _remembered.get(head, {})
    if len(remembered) + len(found) > MAX_REMEMBERED:
        remembered = {}
    remembered.update(found)
    _remembered.clear()
    _remembered[head] = remembered


_SETTLE = """
WITH lost AS (DELETE FROM search_loss RETURNING term_id, documents),
changed AS (
    SELECT term_id, sum(documents)::int AS documents FROM (
        SELECT term_id, -documents AS documents FROM lost UNION ALL SELECT * FROM unnest(%s::int[], %s::int[])
    ) both_of_them (term_id, documents)
    GROUP BY term_id HAVING sum(documents) <> 0
),
added AS (
    UPDATE search_term SET document_frequency = document_frequency + changed.documents
    FROM changed WHERE search_term.id = changed.term_id
)
SELECT EXISTS (SELECT FROM lost)
"""


def settle(terms: list[int], documents: list[int]) -> bool:
    """Add to the numbers of sealed documents that hold each term, less those that are lost; whether any were.

    Both in one go: where documents take the place of others that say the same, most numbers need no change. The caller
    holds the lock of maintenance.
    """
    [(found,)] = fetch(_SETTLE, [terms, documents])
    return bool(found)
