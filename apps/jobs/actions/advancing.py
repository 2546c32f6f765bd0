"""A job goes on: it is cut, lost workers are replaced, stages follow each other. All of it from the rows as they are.

Anybody may call this at any time, and as often; one at a time does it, by a lock of the job's own.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator

from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import Q
from django.db.models.functions import Now

from apps.database.advisory_locks import take
from apps.jobs import queries
from apps.jobs.actions.claiming import MAX_FAILURES, MAX_PROBLEM_LENGTH, lose
from apps.jobs.actions.estimating import expected
from apps.jobs.kinds import Kind, Piece, kind_of
from apps.jobs.models import Attempt, Emitted, Job, Split

logger = logging.getLogger(__name__)

ADVANCING = 0x4A4F_4253 << 32  # and the number of the job
NEAR_THE_END = 0.1  # of a stage's splits; while no more than these are left, slow ones may have another attempt
TOO_SLOW = 1.5  # times what was expected
MAX_PROBLEMS = 20  # sentences in a job's result


def advance_all() -> None:
    for job_id in queries.to_be_worked_on():
        advance(job_id)


def advance(job_id: int) -> None:
    """Bring a job's rows up to date with what has happened."""
    try:
        with transaction.atomic():
            if take(ADVANCING + job_id, wait=False):
                _advance(job_id)
    except (OperationalError, InterfaceError):  # the database is away, or busy
        raise
    except Exception as error:  # such as a kind that nobody knows: it would be the same the next time
        logger.exception("job %d cannot go on", job_id)
        _end(job_id, Job.State.FAILED, problem=f"It cannot be split: {error}")


def _advance(job_id: int) -> None:
    job = Job.objects.filter(pk=job_id, state__in=Job.TO_BE_WORKED_ON).first()
    if job is None:
        return
    kind = kind_of(job.kind)
    if job.stage == Job.Stage.CUT:
        _cut(job, kind, Job.Stage.MAP, kind.map.cut(job.parameters))
    for attempt_id in _lost(job):
        lose(attempt_id, "Its worker stopped responding.")
    states = Counter(job.splits.filter(stage=job.stage).values_list("state", flat=True))
    if states[Split.State.WAITING] or states[Split.State.RUNNING]:
        if kind.backups:
            _back_up(job, states)
    elif states[Split.State.DEAD]:
        _end(job.pk, Job.State.FAILED, problem=_problem(job, states[Split.State.DEAD]))
    elif job.stage == Job.Stage.MAP and kind.reduce:
        pieces = _emitted(job) if kind.parts else kind.reduce.cut(job.parameters)
        _cut(job, kind, Job.Stage.REDUCE, pieces)
    else:
        _end(job.pk, Job.State.DONE, result=_result(job))
        Emitted.objects.filter(job=job).delete()


# --- cutting ----------------------------------------------------------------------------------------------------------
def _cut(job: Job, kind: Kind, stage: Job.Stage, cut: Iterable[Piece]) -> None:
    pieces = list(cut)
    estimates = expected(job.kind, stage, pieces)
    # Of what is about as long, and where nothing is known of times, the larger one first.
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


def _emitted(job: Job) -> Iterator[Piece]:
    for part, count in queries.emitted_by_part(job):
        yield Piece({"job": job.pk, "part": part}, count, float(count))


# --- workers that are lost or slow ------------------------------------------------------------------------------------
def _lost(job: Job) -> list[int]:
    """Attempts whose lease has ended. A split whose row is locked is just being committed, so its worker is alive."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT attempt.id FROM jobs_attempt attempt JOIN jobs_split split ON split.id = attempt.split_id"
            " WHERE split.job_id = %s AND attempt.outcome = '' AND attempt.leased_until < statement_timestamp()"
            " FOR UPDATE OF split SKIP LOCKED",
            [job.pk],
        )
        return [attempt_id for (attempt_id,) in cursor.fetchall()]


def _back_up(job: Job, states: Counter[str]) -> None:
    """Near the end of a stage, have another worker begin what takes too long; whoever is first is the one that counts.

    Not of what is about to be waited for, since nobody would be free to begin it.
    """
    running = states[Split.State.RUNNING]
    if states[Split.State.WAITING] or running > max(1, NEAR_THE_END * states.total()):
        return
    pace = queries.pace(job)
    ages = queries.ages_of_single_attempts(job, MAX_FAILURES)
    slow = [split.pk for split, age in ages if (length := queries.length_of(split, pace)) and age > TOO_SLOW * length]
    # A split that is being committed just now needs no other attempt.
    free = Split.objects.select_for_update(skip_locked=True).filter(pk__in=slow, state=Split.State.RUNNING)
    Split.objects.filter(pk__in=[split.pk for split in free]).update(open=True)


# --- ends -------------------------------------------------------------------------------------------------------------
def _end(job_id: int, state: Job.State, *, problem: str = "", result: dict[str, object] | None = None) -> None:
    """Not where a person has paused or cancelled it meanwhile."""
    Job.objects.filter(pk=job_id, state__in=Job.TO_BE_WORKED_ON).update(
        state=state, ended_at=Now(), problem=problem[:MAX_PROBLEM_LENGTH], result=result or {}
    )


def _problem(job: Job, dead: int) -> str:
    failed = Attempt.objects.filter(~Q(problem=""), split__job=job, split__state=Split.State.DEAD)
    latest = failed.select_related("split").order_by("-pk").first()
    said = f" The latest, {latest.split}: {latest.problem}" if latest else ""
    return f"{dead:,} split{'s' * (dead > 1)} failed.{said}"


def _result(job: Job) -> dict[str, object]:
    """The sums of what the splits put out, and the first of their problems."""
    sums: Counter[str] = Counter()
    problems: list[str] = []
    for output in job.splits.order_by("stage", "number").values_list("output", flat=True).iterator():
        problems += output.pop("problems", [])
        sums.update(output)
    return dict(sums) | ({"problems": problems[:MAX_PROBLEMS]} if problems else {})
