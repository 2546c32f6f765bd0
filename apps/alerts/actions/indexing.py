"""Write the index terms of saved searches, by which new postings find them."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from apps.alerts.actions.locks import MATCHING
from apps.alerts.algorithms.percolator import IndexTerm, NoIndexTerm, Plan, Rarity, words_of
from apps.database.outbox import consume_rows
from apps.database.statements import copy_rows, execute, fetch_rows
from apps.search.algorithms.language import BadQuery, parse
from apps.search.queries import terms

PREPARE_BATCH = 500  # revisions in one transaction
MAX_REFUSAL_LENGTH = 300  # characters


def prepare(limit: int = PREPARE_BATCH, *, wait: bool = True) -> int | None:
    """Consume up to `limit` revisions: write index terms of searches, and delete rows of deleted searches.

    Returns how many, None if `wait` is off and another worker holds the lock. Safe to repeat and to kill at any moment.
    """
    # The newest first: a search just saved does not wait for a rebuild of all.
    return consume_rows("alerts_revision", _prepare, lock=MATCHING, limit=limit, wait=wait, order="id DESC")


def _prepare(revisions: list[Any]) -> None:
    saved_ids = sorted({revision.saved_id for revision in revisions})
    # A concurrent deletion of a search waits, and deletes these rows, too.
    rows = fetch_rows("SELECT id, user_id, query FROM search_savedsearch WHERE id = ANY(%s) FOR KEY SHARE", [saved_ids])
    owners, queries = {row.id: row.user_id for row in rows}, {row.id: row.query for row in rows}
    index_terms, refusals = _index_terms(queries)
    _write(saved_ids, owners, queries, index_terms, refusals)


@transaction.atomic
def prepare_all() -> None:
    """Add a revision of every search: the best index terms change with the frequencies of words."""
    execute("INSERT INTO alerts_revision (saved_id) SELECT id FROM search_savedsearch ORDER BY id")


def _index_terms(queries: Mapping[int, str]) -> tuple[dict[int, list[IndexTerm]], dict[int, str]]:
    """The index terms of each search, and why some have none."""
    plans: dict[int, Plan] = {}
    refusals: dict[int, str] = {}
    for saved_id, query in queries.items():
        try:
            plans[saved_id] = Plan(parse(query))
        except (BadQuery, NoIndexTerm) as error:  # the language may have changed since it was saved
            refusals[saved_id] = str(error)
    known = terms.counted(words_of({term for plan in plans.values() for term in plan.terms()}))
    rarity = Rarity({term: counted.documents for term, counted in known.items()})
    return {saved_id: plan.index_terms(rarity.documents) for saved_id, plan in plans.items()}, refusals


_COPY = "COPY alerts_queryterm (saved_id, user_id, term, beside, languages, exact) FROM STDIN (FORMAT BINARY)"
_KEEP = """
INSERT INTO alerts_percolatorquery (saved_id, query, refusal, importance)
SELECT *, 1.0 FROM unnest(%s::bigint[], %s::text[], %s::text[])
ON CONFLICT (saved_id) DO UPDATE SET query = excluded.query, refusal = excluded.refusal
WHERE (alerts_percolatorquery.query, alerts_percolatorquery.refusal) IS DISTINCT FROM (excluded.query, excluded.refusal)
"""


def _write(
    saved_ids: Sequence[int],
    owners: Mapping[int, int],
    queries: Mapping[int, str],
    index_terms: Mapping[int, list[IndexTerm]],
    refusals: Mapping[int, str],
) -> None:
    reasons = [refusals.get(saved_id, "")[:MAX_REFUSAL_LENGTH] for saved_id in queries]
    gone = [saved_id for saved_id in saved_ids if saved_id not in queries]
    # Hits found while their search was being deleted.
    execute("DELETE FROM alerts_hit WHERE saved_id = ANY(%s)", [gone])
    execute(_KEEP, [list(queries), list(queries.values()), reasons])
    execute("DELETE FROM alerts_queryterm WHERE saved_id = ANY(%s)", [list(saved_ids)])
    rows = (
        (saved_id, owners[saved_id], term, list(beside), languages, exact)
        for saved_id, found in index_terms.items()
        for term, beside, languages, exact in found
    )
    copy_rows(_COPY, ["int8", "int8", "text", "text[]", "int8", "bool"], rows)
