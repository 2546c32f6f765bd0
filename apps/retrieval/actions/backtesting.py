"""Replay every policy on the portal's own log each night: which was the best one, and what delayed postings."""

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import numpy as np
from django.db.models import Max

from apps.database.advisory_locks import try_advisory_lock
from apps.database.statements import query, query_as
from apps.retrieval import queries
from apps.retrieval.actions import histories
from apps.retrieval.actions.plan import current_plan
from apps.retrieval.algorithms.arrays import BoolArray, FloatArray
from apps.retrieval.algorithms.calendar import DAY, epoch_of, hours_of
from apps.retrieval.algorithms.sia.learning import learn
from apps.retrieval.algorithms.simulation.accounting import simulate_times
from apps.retrieval.algorithms.simulation.comparison import LEAST_GAP, LONGEST_GAP, Fold, Job, measures
from apps.retrieval.algorithms.traces import Trace
from apps.retrieval.algorithms.weekly_profiles.learning import WEEKS
from apps.retrieval.models import Backtest, Plan, Retrieval
from apps.retrieval.planner.due_times import OBSERVING
from apps.retrieval.planner.state import TABLES, WORTH, parameters
from apps.retrieval.planner.trials import prepared
from apps.retrieval.policies import OURS, SEED, all_policies
from apps.retrieval.queries.savings import bytes_saved

BACKTEST = 0x4241434B  # advisory lock
MEASURED = "measured"
SAMPLE = 300  # sources
MAX_CPU_SECONDS = 120.0  # after which no further policy is begun
SETTLED = 3.0  # h of the sources' own time, after which most postings of a day were retrieved
SHORTEST = 6.0  # h of a young portal's log


class _Source(NamedTuple):
    source_id: int
    clock_rate: float
    worth: float
    least: float  # h


class _Attempts(NamedTuple):
    """The retrievals of one source, in order; h on its own axis."""

    due: FloatArray
    fetched: FloatArray
    observed: BoolArray  # whether the retrieval showed the source's content
    requested: BoolArray


def _is_anything_new() -> bool:
    latest = Backtest.objects.aggregate(latest=Max("at"))["latest"]
    return Retrieval.objects.filter(dated__gt=0, **({"fetched_at__gt": latest} if latest else {})).exists()


def backtest(*, now: datetime) -> Backtest | None:
    """Replay the latest settled day; None if there is too little to replay, or another process does it."""
    with try_advisory_lock(BACKTEST) as granted:
        sources = _sample(now) if granted and _is_anything_new() else []
        if not sources:
            return None
        plan, rate = current_plan(), sources[0].clock_rate
        attempts = _attempted(sources, now)
        end = float(hours_of(now.timestamp(), rate)) - SETTLED
        seen = [each.fetched[each.observed] for each in attempts]
        start = max(end - DAY, np.concatenate(seen).min(initial=end))
        fold = _fold(sources, plan, start, end, now)
        requested = sum(
            int((each.requested & (each.fetched > start) & (each.fetched <= end)).sum()) for each in attempts
        )
        if end - start < SHORTEST or not fold.test.times.size or not requested:
            return None
        per_day = requested / len(sources) / fold.days
        results = _replayed(fold, per_day)
        measured = measures(simulate_times(fold.test, [np.append(times, end + SETTLED) for times in seen]), fold)
        return Backtest.objects.create(
            at=now,
            begins_at=datetime.fromtimestamp(epoch_of(start, rate), UTC),
            ends_at=datetime.fromtimestamp(epoch_of(end, rate), UTC),
            sources=len(sources),
            retrievals=per_day,
            results=results | {MEASURED: measured},
            shares=_shares(fold, attempts, per_day, results[OURS]["mean"]),
            saved=bytes_saved(now - timedelta(days=1), now),
            patterns=_patterns(fold),
        )


def _sample(now: datetime) -> list[_Source]:
    """Sources of the most usual clock rate, without those with push; of many, the same ones every night."""
    known = f"""
        SELECT source.id AS source_id, source.clock_rate, ({WORTH})::float8 AS worth,
            coalesce(source.min_gap, %(min_gap)s)::float8 / 3600 AS least
        FROM {TABLES} WHERE {queries.TO_BE_PLANNED}"""
    found = query_as(
        _Source,
        f"""WITH known AS ({known})
        SELECT * FROM known
        WHERE clock_rate = (SELECT mode() WITHIN GROUP (ORDER BY clock_rate) FROM known)
        ORDER BY hashint8(source_id), source_id LIMIT %(sample)s""",
        parameters(now=now, sample=SAMPLE),
    )
    return sorted(found)


def _attempted(sources: Sequence[_Source], now: datetime) -> list[_Attempts]:
    """The retrievals of each source since before the replayed day, without deferred ones."""
    rate = sources[0].clock_rate
    rows = query(
        """SELECT source_id, extract(epoch FROM due_at)::float8 AS due,
            extract(epoch FROM fetched_at)::float8 AS fetched, outcome = ANY(%(observing)s) AS observed,
            outcome <> ALL(%(unrequested)s) AS requested
        FROM retrieval_retrieval
        WHERE source_id = ANY(%(ids)s) AND fetched_at > %(since)s AND fetched_at <= %(now)s AND outcome <> %(deferred)s
        ORDER BY source_id, fetched_at""",
        {
            "observing": list(OBSERVING),
            "unrequested": list(queries.UNREQUESTED),
            "ids": [source.source_id for source in sources],
            "since": now - timedelta(hours=2 * DAY / rate),
            "now": now,
            "deferred": Retrieval.Outcome.DEFERRED,
        },
    )
    owners, due, fetched, observed, requested = np.array(rows, dtype=np.float64).reshape(-1, 5).T
    every = (hours_of(due, rate), hours_of(fetched, rate), observed > 0, requested > 0)
    return [_Attempts(*(column[owners == source.source_id] for column in every)) for source in sources]


def _fold(sources: Sequence[_Source], plan: Plan, start: float, end: float, now: datetime) -> Fold:
    ids, rate = [source.source_id for source in sources], sources[0].clock_rate
    known = histories.read(ids, clock_rate=rate, weeks=WEEKS + 1, now=now)
    return Fold(
        trace=Trace.of([str(id) for id in ids], known.utc_parts),
        start=start,
        end=end,
        weights=np.array([source.worth for source in sources]),
        least=np.maximum([source.least for source in sources], LEAST_GAP),
        longest=plan.longest_gap,
    )


def _replayed(fold: Fold, per_day: float) -> dict[str, dict[str, float]]:
    """`measures` of each policy at as many retrievals, ours first."""
    begun, found = time.process_time(), {}
    for name, policy in all_policies().items():
        if policy.is_replayed and time.process_time() - begun < MAX_CPU_SECONDS:
            found[name] = measures(prepared(policy, Job(fold, is_short=True))(per_day), fold)
    return found


def _shares(fold: Fold, attempts: Sequence[_Attempts], per_day: float, bound_minutes: float) -> dict[str, float]:
    """The shares of the measured delay due to failed attempts, to late ones, and to the bounds of gaps."""
    failures = lateness = total = 0.0
    for times, made in zip(fold.test.parts, attempts, strict=True):
        fetched, observed = made.fetched, made.fetched[made.observed]
        seen = np.searchsorted(observed, times)
        times, seen = times[seen < observed.size], seen[seen < observed.size]
        first = np.searchsorted(fetched, times)
        total += float((observed[seen] - times).sum())
        failures += float((observed[seen] - fetched[first]).sum())
        lateness += float((fetched[first] - np.clip(made.due[first], times, fetched[first])).sum())
    unbound = replace(fold, least=LEAST_GAP, longest=LONGEST_GAP)
    free = prepared(all_policies()[OURS], Job(unbound, is_short=True))(per_day).delays.mean() * 60
    planned = max(total - failures - lateness, 0.0)
    causes = {"failures": failures, "lateness": lateness, "bounds": planned * max(0.0, 1 - free / bound_minutes)}
    return {cause: hours / max(total, 1e-9) for cause, hours in causes.items()}


def _patterns(fold: Fold) -> list[tuple[int, list[float]]]:
    """The daily patterns of k-means and their numbers of sources, those of most sources first."""
    learned = learn(fold.learning, fold.start, random=np.random.default_rng(SEED))
    sizes = np.bincount(learned.membership, minlength=len(learned.centroids)).tolist()
    return sorted(zip(sizes, learned.centroids.round(4).tolist(), strict=True), reverse=True)
