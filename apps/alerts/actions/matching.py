"""Match new postings with saved searches.

The holder of a lock processes one batch in one transaction: outbox rows are deleted together with the hits and effects
of rules that follow from them, so a batch is processed wholly or not at all.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache, partial
from typing import Any, NamedTuple

from apps.accounts.queries.time_zones import zone_named
from apps.alerts.actions.locks import MATCHING
from apps.alerts.actions.rule_effects import NewHit, apply_rules
from apps.alerts.algorithms.percolator import DocumentView, Reading, is_personal, matches
from apps.alerts.queries import candidates as percolator
from apps.alerts.queries.candidates import Candidate
from apps.database.outbox import consume_rows
from apps.database.statements import fetch, fetch_rows
from apps.search.algorithms.language import Tree, parse

MATCH_BATCH = 200  # outbox rows in one transaction
OLD = timedelta(days=7)  # from publication: hits of older postings apply no rules

_CACHED_QUERIES = 20_000  # parsed


def match(limit: int = MATCH_BATCH, *, wait: bool = True, now: datetime) -> int | None:
    """Consume up to `limit` outbox rows and store hits; how many rows, None as of `consume_rows`.

    A search finds a posting once. An edit may add hits and removes none. Safe to repeat and to kill at any moment.
    """
    return consume_rows("alerts_outboxrow", partial(_match, now), lock=MATCHING, limit=limit, wait=wait)


def _match(now: datetime, changes: list[Any]) -> None:
    postings = percolator.readings({change.posting_id for change in changes})
    hits = _write(matching_searches(postings, now), now)
    _act([hit for hit in hits if postings[hit.posting_id].published_at >= now - OLD], now)


class _Parsed(NamedTuple):
    tree: Tree
    is_personal: bool  # depends on its owner's marks and follows


@lru_cache(_CACHED_QUERIES)
def _parsed(query: str) -> _Parsed:
    tree = parse(query)
    return _Parsed(tree, is_personal(tree))


def matching_searches(postings: Mapping[int, Reading], now: datetime) -> list[Candidate]:
    """The searches that postings match, regardless of permissions. Writes nothing."""
    candidates = percolator.candidates(postings)
    doubtful = [candidate for candidate in candidates if not candidate.exact]
    verified = _verified(doubtful, postings, now) if doubtful else []
    return [candidate for candidate in candidates if candidate.exact] + verified


def _verified(doubtful: Sequence[Candidate], postings: Mapping[int, Reading], now: datetime) -> list[Candidate]:
    searches = percolator.searches_of({candidate.saved_id for candidate in doubtful})
    parsed = {saved_id: _parsed(search.query) for saved_id, search in searches.items()}
    people = {candidate.user_id for candidate in doubtful if parsed[candidate.saved_id].is_personal}
    views = percolator.DocumentViews(sorted(people), postings)
    nows = {zone: now.astimezone(zone_named(zone)) for zone in {search.time_zone for search in searches.values()}}
    found = []
    for candidate in doubtful:
        posting_id, saved_id, user_id, _ = candidate
        (tree, is_own), posting = parsed[saved_id], postings[posting_id]
        view = views.of(user_id, posting_id, posting) if is_own else DocumentView()
        if matches(tree, posting, view, now=nows[searches[saved_id].time_zone]):
            found.append(candidate)
    return found


# Only postings that the user may open: see `following.queries.readable_by`. Known hits are excluded by a join, as there
# is no other writer: ON CONFLICT DO NOTHING takes a third longer.
_WRITE = """
WITH posting AS MATERIALIZED (
    SELECT posting.id, source_id, listed, published_at, retrieved_at
    FROM postings_posting posting JOIN sources_source source ON source.id = source_id WHERE posting.id = ANY(%s)
), known AS MATERIALIZED (
    SELECT saved_id, posting_id FROM alerts_hit WHERE posting_id = ANY(%s)
)
INSERT INTO alerts_hit (saved_id, posting_id, source_id, published_at, retrieved_at, found_at)
SELECT saved_id, posting_id, source_id, published_at, retrieved_at, %s
FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[]) found (posting_id, saved_id, user_id)
JOIN posting ON posting.id = posting_id JOIN accounts_user person ON person.id = user_id
WHERE is_active AND (listed
        OR EXISTS (SELECT FROM following_follow follow WHERE follow.user_id = person.id
            AND follow.source_id = posting.source_id)
        OR EXISTS (SELECT FROM following_mark mark WHERE mark.user_id = person.id AND mark.posting_id = posting.id
            AND starred_at IS NOT NULL))
    AND NOT EXISTS (SELECT FROM known WHERE known.saved_id = found.saved_id AND known.posting_id = posting.id)
RETURNING id, saved_id, posting_id
"""


def _write(found: Sequence[Candidate], now: datetime) -> list[NewHit]:
    """Store hits; returns the new ones."""
    if not found:
        return []
    posting_ids, saved_ids, user_ids, _ = map(list, zip(*sorted(found), strict=True))
    owners = dict(zip(saved_ids, user_ids, strict=True))
    distinct = sorted(set(posting_ids))
    rows = fetch_rows(_WRITE, [distinct, distinct, now, posting_ids, saved_ids, user_ids])
    return sorted(NewHit(row.id, row.saved_id, owners[row.saved_id], row.posting_id) for row in rows)


def _act(news: Sequence[NewHit], now: datetime) -> None:
    """Apply rules. Most searches have none, so those are filtered first."""
    if not news:
        return
    saved_ids = sorted({hit.saved_id for hit in news})
    ruled = {id for (id,) in fetch("SELECT saved_id FROM alerts_rule WHERE saved_id = ANY(%s)", [saved_ids])}
    if ruled:
        apply_rules([hit for hit in news if hit.saved_id in ruled], now=now)
