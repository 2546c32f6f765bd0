"""Advance a job by its rows: cut it into splits, replace lost workers, begin the next stage, end it.

May be called by any process at any time; an advisory lock per job lets one run.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Q
from django.db.models.functions import Now

from apps.database.advisory_locks import take
from apps.database.statements import fetch
from apps.jobs import queries
from apps.jobs.actions.claiming import MAX_FAILURES, MAX_PROBLEM_LENGTH, end_attempt
from apps.jobs.algorithms import estimates
from apps.jobs.kinds import Kind, Piece, kind_of
from apps.jobs.models import Attempt, Emitted, Job, Split

logger = logging.getLogger(__name__)

ADVANCING = 0x4A4F_4253 << 32  # and the number of the job
NEAR_THE_END = 0.1  # of a stage's splits; while no more than these are left, slow ones may have another attempt
TOO_SLOW = 1.5  # times the expected duration
MAX_PROBLEMS = 20  # sentences in a job's result


def advance_all() -> None:
    for job_id in queries.active_ids():
        advance(job_id)


def advance(job_id: int) -> None:
    """Update a job's rows to the state of its splits."""
    try:
        with transaction.atomic():
            if take(ADVANCING + job_id, wait=False):
                _advance(job_id)
    except (OperationalError, InterfaceError):  # the database is down or busy
        raise
    except Exception as error:  # such as an unknown kind: another attempt would fail, too
        logger.exception("job %d cannot go on", job_id)
        _end(job_id, Job.State.FAILED, problem=f"It cannot be split: {error}")


def _advance(job_id: int) -> None:
    job = Job.objects.filter(pk=job_id, state__in=Job.ACTIVE).first()
    if job is None:
        return
    kind = kind_of(job.kind)
    if job.stage == Job.Stage.CUT:
        _cut(job, kind, Job.Stage.MAP, kind.map.cut(job.parameters))
    for attempt_id in _lost(job):
        end_attempt(attempt_id, Attempt.Outcome.LOST, "Its worker stopped responding.")
    states = Counter(job.splits.filter(stage=job.stage).values_list("state", flat=True))
    if states[Split.State.WAITING] or states[Split.State.RUNNING]:
        if kind.backups:
            _back_up(job, states)
    elif states[Split.State.DEAD]:
        _end(job.pk, Job.State.FAILED, problem=_problem(job, states[Split.State.DEAD]))
    elif job.stage == Job.Stage.MAP and kind.reduce:
        parts = queries.emitted_by_part(job) if kind.parts else ()
        emitted = [Piece({"job": job.pk, "part": part}, count, float(count)) for part, count in parts]
        _cut(job, kind, Job.Stage.REDUCE, emitted if kind.parts else kind.reduce.cut(job.parameters))
    else:
        _end(job.pk, Job.State.DONE, result=_result(job))
        Emitted.objects.filter(job=job).delete()


# --- cutting ----------------------------------------------------------------------------------------------------------
def _cut(job: Job, kind: Kind, stage: Job.Stage, cut: Iterable[Piece]) -> None:
    pieces = list(cut)
    estimates = expected(job.kind, stage, pieces)
    # The longest first; where no times are known, the largest.
    lengths = estimates or [piece.size for piece in pieces]
    order = sorted(range(len(pieces)), key=lambda number: 0.0 if kind.in_order else -lengths[number])
    turns = {number: turn for turn, number in enumerate(order)}
    Split.objects.bulk_create(
        [
            Split(
                job=job,
                stage=stage,
                number=number,
                key=piece.key[:255],
                parameters=dict(piece.parameters),
                records=piece.records,
                size=piece.size,
                estimate=estimates[number] if estimates else None,
                turn=turns[number],
            )
            for number, piece in enumerate(pieces)
        ],
        batch_size=2_000,
    )
    Job.objects.filter(pk=job.pk).update(stage=stage)
    job.stage = stage


# --- workers that are lost or slow ------------------------------------------------------------------------------------
def _lost(job: Job) -> list[int]:
    """Attempts whose lease has expired. A split whose row is locked is being committed, so its worker is alive."""
    rows = fetch(
        "SELECT attempt.id FROM jobs_attempt attempt JOIN jobs_split split ON split.id = attempt.split_id"
        " WHERE split.job_id = %s AND attempt.outcome = '' AND attempt.leased_until < statement_timestamp()"
        " FOR UPDATE OF split SKIP LOCKED",
        [job.pk],
    )
    return [attempt_id for (attempt_id,) in rows]


def _back_up(job: Job, states: Counter[str]) -> None:
    """Near the end of a stage, open slow splits to a second worker; the first to commit counts.

    Not while splits wait, as no worker is free then.
    """
    running = states[Split.State.RUNNING]
    if states[Split.State.WAITING] or running > max(1, NEAR_THE_END * states.total()):
        return
    per_size = queries.seconds_per_size(job)
    ages = queries.ages_of_single_attempts(job, MAX_FAILURES)
    slow = [
        split.pk for split, age in ages if (length := queries.length_of(split, per_size)) and age > TOO_SLOW * length
    ]
    # A locked split is being committed and needs no other attempt.
    free = Split.objects.select_for_update(skip_locked=True).filter(pk__in=slow, state=Split.State.RUNNING)
    Split.objects.filter(pk__in=[split.pk for split in free]).update(open=True)


# --- ends -------------------------------------------------------------------------------------------------------------
def _end(job_id: int, state: Job.State, *, problem: str = "", result: dict[str, object] | None = None) -> None:
    """End a job unless it was paused or cancelled meanwhile."""
    Job.objects.filter(pk=job_id, state__in=Job.ACTIVE).update(
        state=state, ended_at=Now(), problem=problem[:MAX_PROBLEM_LENGTH], result=result or {}
    )


def _problem(job: Job, dead: int) -> str:
    failed = Attempt.objects.filter(~Q(problem=""), split__job=job, split__state=Split.State.DEAD)
    latest = failed.select_related("split").order_by("-pk").first()
    detail = f" The latest, {latest.split}: {latest.problem}" if latest else ""
    return f"{dead:,} split{'s' * (dead > 1)} failed.{detail}"


def _result(job: Job) -> dict[str, object]:
    """The sums of the splits' outputs, and the first of their problems."""
    sums: Counter[str] = Counter()
    problems: list[str] = []
    for output in job.splits.order_by("stage", "number").values_list("output", flat=True).iterator():
        problems += output.pop("problems", [])
        sums.update(output)
    return dict(sums) | ({"problems": problems[:MAX_PROBLEMS]} if problems else {})


# --- estimated durations of splits from those of earlier jobs ---------------------------------------------------------
ROUNDS = 5  # the latest jobs; older ones count less
MAX_READ = 20_000  # attempts of each


def expected(kind: str, stage: str, pieces: Sequence[Piece]) -> list[float] | None:
    """Estimated seconds of each; None while no job of the kind has finished.

    The time per unit of size is learnt by key or by size, whichever explains more.
    """
    learnt: dict[str, estimates.Learnt] = {}
    for took in queries.claimed_in_rounds(kind, stage, ROUNDS, MAX_READ):
        seconds = np.array([each.took.total_seconds() / max(each.size, 1e-9) for each in took])
        for name, values in _attributes(took).items():
            learnt[name] = estimates.learn(values, seconds, learnt.get(name))
    if not learnt or not pieces:
        return None
    name = estimates.best_explaining_attribute(learnt)
    per_size = estimates.estimated(learnt[name], _attributes(pieces)[name])
    return [seconds * piece.size for seconds, piece in zip(per_size.tolist(), pieces, strict=True)]


def _attributes(pieces: Sequence[Any]) -> dict[str, estimates.Keys]:
    return {
        "key": estimates.keys_of(piece.key for piece in pieces),
        "size": estimates.size_buckets(np.array([piece.size for piece in pieces])),
    }
