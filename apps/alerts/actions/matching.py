"""Match new postings with saved searches.

The holder of a lock processes one batch in one transaction: outbox rows are deleted together with the hits and effects
of rules that follow from them, so a batch is processed wholly or not at all.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache, partial
from typing import Any, NamedTuple

from django.db import transaction

from apps.accounts.queries.time_zones import zone_named
from apps.alerts.actions.delivering import enqueue
from apps.alerts.actions.locks import MATCHING
from apps.alerts.actions.weighing import raise_soon
from apps.alerts.algorithms.percolator.documents import DocumentView, Reading, is_personal, matches
from apps.alerts.algorithms.percolator.index_terms import IndexTerm, NoIndexTerm, Plan, Rarity, words_of
from apps.alerts.channels import MessageKey, Occasion, all_channels
from apps.alerts.models import Browser, Rule
from apps.alerts.queries import candidates as percolator
from apps.alerts.queries.candidates import Candidate
from apps.database.advisory_locks import take
from apps.database.outbox import consume_rows
from apps.database.statements import copy_rows, execute, fetch, fetch_rows
from apps.following.actions.marks import mark_for_all, tag_for_all
from apps.search.algorithms.language import BadQuery, Tree, parse
from apps.search.models import SavedSearch
from apps.search.queries import terms
from apps.stories.actions.learning import hide_for_all


class NewHit(NamedTuple):
    id: int  # Hit
    saved_id: int
    user_id: int
    posting_id: int


def apply_rules(hits: Sequence[NewHit], *, now: datetime) -> None:
    """Mark, hide and tag postings and enqueue notifications by the rule of each search.

    Runs in the caller's transaction, so rules apply exactly to stored hits. The number of statements is fixed.
    """
    with_rules = Rule.objects.filter(pk__in={hit.saved_id for hit in hits})
    rows = with_rules.select_related("saved__user__notification_settings")
    rules = {rule.pk: rule for rule in rows}
    ruled = [(hit, rules[hit.saved_id]) for hit in hits if hit.saved_id in rules]
    _mark(ruled, now)
    browsers = _browsers({rule.saved.user_id for rule in rules.values() if rule.push})
    occasions = [Occasion(rule, browsers[rule.saved.user_id], now) for rule in rules.values() if not rule.stopped_at]
    keys = {
        occasion.rule.pk: [key for channel in all_channels().values() for key in channel.message_keys(occasion)]
        for occasion in occasions
    }
    hits_by_key: defaultdict[MessageKey, list[int]] = defaultdict(list)
    for hit in hits:
        for key in keys.get(hit.saved_id, ()):
            hits_by_key[key].append(hit.id)
    if hits_by_key:
        enqueue(hits_by_key, now=now)


def _mark(ruled: Sequence[tuple[NewHit, Rule]], now: datetime) -> None:
    if read := [(hit.user_id, hit.posting_id) for hit, rule in ruled if rule.mark_read]:
        mark_for_all(read, now=now, read=True)
    if starred := [(hit.user_id, hit.posting_id) for hit, rule in ruled if rule.star]:
        mark_for_all(starred, now=now, starred_at=now)
    if hidden := [(hit.user_id, hit.posting_id) for hit, rule in ruled if rule.hide]:
        hide_for_all(hidden, now=now)
        mark_for_all(hidden, now=now, read=True, hidden=True)
    if tagged := [(hit.user_id, rule.tag, hit.posting_id, now) for hit, rule in ruled if rule.tag]:
        tag_for_all(tagged)


def _browsers(user_ids: Collection[int]) -> defaultdict[int, list[int]]:
    browsers: defaultdict[int, list[int]] = defaultdict(list)
    if user_ids:
        for user_id, browser_id in Browser.objects.filter(user__in=user_ids).values_list("user_id", "pk"):
            browsers[user_id].append(browser_id)
    return browsers


MATCH_BATCH = 200  # outbox rows in one transaction
OLD = timedelta(days=7)  # from publication: hits of older postings apply no rules

_CACHED_QUERIES = 20_000  # parsed


def match(limit: int = MATCH_BATCH, *, wait: bool = True, now: datetime) -> int | None:
    """Consume up to `limit` outbox rows and store hits; how many rows, None as of `consume_rows`.

    A search finds a posting once. An edit may add hits and removes none. Safe to repeat and to kill at any moment.
    """
    return consume_rows("alerts_outboxrow", partial(_match, now), lock=MATCHING, limit=limit, wait=wait)


def _match(now: datetime, changes: list[Any]) -> None:
    if not fetch("SELECT FROM alerts_queryterm LIMIT 1"):
        return
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


# Only postings that the user may open: see `following.queries.readable_by`. A deletion of a posting waits for the
# match, and deletes the hits, too. Known hits are excluded by a join, as there is no other writer: ON CONFLICT DO
# NOTHING takes a third longer.
_WRITE = """
WITH posting AS MATERIALIZED (
    SELECT posting.id, source_id, listed, published_at, retrieved_at
    FROM postings_posting posting JOIN sources_source source ON source.id = source_id WHERE posting.id = ANY(%s)
    ORDER BY posting.id FOR KEY SHARE OF posting
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


@transaction.atomic
def apply_to_past(saved: SavedSearch, posting_ids: Sequence[int], *, now: datetime) -> None:
    """Store hits among postings that came before the search, and apply its rule to them."""
    take(MATCHING)  # hits have one writer
    found = [Candidate(posting_id, saved.pk, saved.user_id, exact=True) for posting_id in posting_ids]
    apply_rules(_write(found, now), now=now)


# --- index terms of searches ------------------------------------------------------------------------------------------
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
    _write_terms(saved_ids, owners, queries, index_terms, refusals)


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


def _write_terms(
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
    if gone:
        raise_soon()
    execute(_KEEP, [list(queries), list(queries.values()), reasons])
    execute("DELETE FROM alerts_queryterm WHERE saved_id = ANY(%s)", [list(saved_ids)])
    rows = (
        (saved_id, owners[saved_id], term, list(beside), languages, exact)
        for saved_id, found in index_terms.items()
        for term, beside, languages, exact in found
    )
    copy_rows(_COPY, ["int8", "int8", "text", "text[]", "int8", "bool"], rows)


# --- old hits ---------------------------------------------------------------------------------------------------------
KEPT = timedelta(days=90)
ALWAYS_KEPT = 100  # of each search, the newest
PRUNE_BATCH = 20_000

# The newest hits are found by the index of each search that has old ones.
_FORGET = """
WITH old AS MATERIALIZED (
    SELECT id, saved_id, posting_id FROM alerts_hit WHERE found_at < %s AND id > %s ORDER BY id LIMIT %s
), bound AS MATERIALIZED (
    SELECT searches.saved_id, newest.posting_id FROM (SELECT DISTINCT saved_id FROM old) searches, LATERAL (
        SELECT posting_id FROM alerts_hit hit WHERE hit.saved_id = searches.saved_id
        ORDER BY posting_id DESC OFFSET %s LIMIT 1
    ) newest
), gone AS (
    DELETE FROM alerts_hit USING old JOIN bound USING (saved_id)
    WHERE alerts_hit.id = old.id AND old.posting_id < bound.posting_id
)
SELECT max(id) FROM old
"""


def forget_old_hits(*, now: datetime) -> None:
    """Delete hits older than 90 days except the newest hundred of each search."""
    last: int | None = 0
    while last is not None:
        last = _forget_some(now - KEPT, last)


@transaction.atomic
def _forget_some(before: datetime, behind: int) -> int | None:
    take(MATCHING)
    last: int | None
    [(last,)] = fetch(_FORGET, [before, behind, PRUNE_BATCH, ALWAYS_KEPT - 1])
    return last
