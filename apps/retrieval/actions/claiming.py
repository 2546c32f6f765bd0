"""Begin claimed sources, send heartbeats of workers, and release what a stopped worker has begun."""

import json
import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings

from apps.database.statements import execute, query, query_as
from apps.retrieval.algorithms.politeness import Limits, Memory
from apps.retrieval.http.fetching import Validators
from apps.retrieval.http.results import Assignment, numbers_in
from apps.retrieval.queries import USER_REQUEST
from apps.retrieval.scheduler.claims import LEASE, Claim
from apps.sources.formats.feed import UpdateHints
from apps.sources.kinds import kind_of
from apps.sources.queries import KEPT_DAYS

logger = logging.getLogger(__name__)

FORGET_WORKERS_AFTER = timedelta(days=1)

# The second condition: this call has already begun it, but the result was lost with the connection.
_START = f"""
UPDATE retrieval_schedule schedule
SET sequence = claim.sequence + 1, worker = %(worker)s, requested_at = %(now)s, dispatched_at = NULL,
    attempts = least(schedule.attempts + 1, 1000),
    due_at = %(now)s
        + greatest(%(lease)s, make_interval(secs => coalesce(source.min_gap, %(min_gap)s) / source.clock_rate))
FROM unnest(%(ids)s::bigint[], %(sequences)s::int[], %(due)s::float8[], %(dispatched)s::float8[])
    claim(source_id, sequence, due_at, dispatched_at), sources_source source
WHERE schedule.source_id = claim.source_id AND source.id = claim.source_id AND source.state = 'active'
    AND (schedule.sequence = claim.sequence
        OR (schedule.sequence, schedule.worker, schedule.requested_at) = (claim.sequence + 1, %(worker)s, %(now)s))
RETURNING source.id AS source_id, schedule.sequence, source.url, claim.due_at, claim.dispatched_at, schedule.etag,
    schedule.last_modified, schedule.body_hash, schedule.consecutive_failures, schedule.slowdown, schedule.validated,
    schedule.moved_to, schedule.moved_count, schedule.repeats, schedule.ttl, schedule.skip_hours, schedule.skip_days,
    schedule.failing_since, source.min_gap, source.clock_rate, source.title = '' OR source.site_url = '' AS nameless,
    schedule.observed_at IS NULL AND schedule.consecutive_failures = 0 AS is_first, source.kind, source.recipe,
    source.site_id, {KEPT_DAYS} AS expiry_days,
    CASE schedule.reason WHEN %(requested)s THEN 'reader' ELSE 'plan' END AS origin,
    source.full_text OR EXISTS (
        SELECT FROM following_follow follow
        WHERE follow.source_id = source.id AND follow.full_text = 'page') AS full_text,
    (SELECT count(*) FROM following_follow follow
        WHERE follow.source_id = coalesce(source.site_id, source.id)) AS followers
"""


def start(claims: Sequence[Claim], *, worker: str, now: datetime) -> list[Assignment]:
    """Begin claimed sources; from here on a second message with the same claims matches nothing.

    The next due time is written before the request is sent: should all else fail, the source is due again after the
    lease, and not before politeness allows. Repeated with the same `now`, it returns the same.
    """
    ids, sequences, due, dispatched = zip(*claims, strict=True)
    parameters: dict[str, Any] = {
        "worker": worker,
        "now": now,
        "lease": LEASE,
        "min_gap": settings.RETRIEVAL_MIN_GAP,
        "requested": USER_REQUEST,
        "ids": list(ids),
        "sequences": list(sequences),
        "due": list(due),
        "dispatched": list(dispatched),
    }
    begun = query_as(dict[str, Any], _START, parameters)
    if len(begun) < len(claims):
        matched = {row["source_id"] for row in begun}
        _count_unmatched([claim for claim in claims if claim.source_id not in matched], now)
    return [_assignment(row, now) for row in begun]


def _assignment(row: dict[str, Any], now: datetime) -> Assignment:
    """An assignment from a row of `_START`; most of its fields have the names of the columns."""
    limits = _limits(row.pop("min_gap"), is_feed=kind_of(row["kind"]).is_feed)
    if isinstance(row["recipe"], str):
        row["recipe"] = json.loads(row["recipe"])
    validators = Validators(row.pop("etag"), row.pop("last_modified"))
    memory = Memory(**{field.name: row.pop(field.name) for field in fields(Memory)})
    hints = UpdateHints(
        ttl=row.pop("ttl"), skip_hours=numbers_in(row.pop("skip_hours")), skip_days=numbers_in(row.pop("skip_days"))
    )
    row["due_at"] = datetime.fromtimestamp(row["due_at"], UTC)
    row["dispatched_at"] = datetime.fromtimestamp(row["dispatched_at"], UTC)
    row["body_hash"] = bytes(row["body_hash"])
    limits = limits.scaled(row["clock_rate"])
    return Assignment(**row, started_at=now, validators=validators, memory=memory, hints=hints, limits=limits)


def _limits(min_gap: int | None, *, is_feed: bool) -> Limits:
    """The default politeness, unless an admin has set the source's shortest gap.

    Few web pages have validators, so without any only feeds are checked more rarely.
    """
    if min_gap is None and is_feed:
        return Limits(min_gap=settings.RETRIEVAL_MIN_GAP)
    gap = settings.RETRIEVAL_MIN_GAP if min_gap is None else min_gap
    return Limits(min_gap=gap, unvalidated_gap=gap)


# --- messages that match no claim -------------------------------------------------------------------------------------
_WHY = """
SELECT claim.source_id, CASE
    WHEN schedule.source_id IS NULL THEN 'deleted'
    WHEN schedule.sequence < claim.sequence THEN 'uncommitted'
    WHEN schedule.sequence = claim.sequence THEN 'paused'
    WHEN schedule.sequence = claim.sequence + 1 AND schedule.worker <> '' THEN 'begun'
    ELSE 'superseded' END AS reason
FROM unnest(%s::bigint[], %s::int[]) claim(source_id, sequence)
LEFT JOIN retrieval_schedule schedule ON schedule.source_id = claim.source_id
"""
_COUNT = """
INSERT INTO retrieval_unmatchedclaims AS known (reason, count, latest_at)
SELECT reason, count, %s FROM unnest(%s::text[], %s::bigint[]) new(reason, count) ORDER BY reason
ON CONFLICT (reason) DO UPDATE SET count = known.count + excluded.count, latest_at = excluded.latest_at
"""


def _count_unmatched(claims: Sequence[Claim], now: datetime) -> None:
    """Count claims of a message that match no row, and log why.

    A second message of a claim matches nothing by design ("begun", "superseded"); "uncommitted" would mean that
    messages are published before their claims are visible.
    """
    why = query(_WHY, [[claim.source_id for claim in claims], [claim.sequence for claim in claims]])
    reasons: Counter[str] = Counter(row.reason for row in why)
    execute(_COUNT, [now, list(reasons), list(reasons.values())])
    level = logging.WARNING if "uncommitted" in reasons else logging.INFO
    summary = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
    logger.log(level, "%d claims of a message match no row: %s", len(claims), summary)


# --- workers ----------------------------------------------------------------------------------------------------------
_HEARTBEAT = """
INSERT INTO retrieval_worker (name, seen_at) VALUES (%s, clock_timestamp())
ON CONFLICT (name) DO UPDATE SET seen_at = excluded.seen_at
"""
_RELEASE = """
UPDATE retrieval_schedule SET due_at = %(now)s, sequence = sequence + 1, worker = '',
    attempts = greatest(attempts - %(graceful)s, 0), reason = 'its worker stopped'
WHERE worker = %(worker)s AND due_at IS NOT NULL
"""


def heartbeat(worker: str) -> None:
    """Show that a worker is alive; by the database's clock, as those of machines differ."""
    execute(_HEARTBEAT, [worker])


def release_worker(worker: str, *, now: datetime, graceful: bool = False) -> int:
    """Make due at once what a worker had begun when it ended.

    A request may be sent twice then; waiting for the shortest gap would cost readers an hour. A `graceful` stop was
    caused by none of these sources.
    """
    released = execute(_RELEASE, {"worker": worker, "now": now, "graceful": int(graceful)})
    execute("DELETE FROM retrieval_worker WHERE name = %s OR seen_at < %s", [worker, now - FORGET_WORKERS_AFTER])
    if released:
        execute("NOTIFY retrieval_schedule")
    return released
