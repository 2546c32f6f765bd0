"""What a worker does with a split: takes it, is heard of, and ends its attempt in one of several ways.

Whoever ends an attempt, commits it or opens its split again holds the lock of the split's row. A worker that was
stopped and wakes up after its lease was given away finds its attempt ended, so nothing of it is committed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from zlib import crc32

from django.db import connection, transaction
from django.db.models import F, Max
from django.db.models.functions import Now

from apps.database.statements import rows_of
from apps.jobs.kinds import Write, kind_of
from apps.jobs.models import Attempt, Emitted, Job, Split

LEASE = timedelta(seconds=60)  # without being heard of, then a worker is dead
MAX_FAILURES = 3  # of a split, then it is given up
MAX_LOSSES = 5  # likewise; more than failures, since a worker may well have died of something else
MAX_PROBLEM_LENGTH = 2_000  # characters


class Stopped(Exception):
    """The attempt has ended, whatever its worker does."""


@dataclass(frozen=True, slots=True)
class Claim:
    """An attempt that is ours until its lease ends, and what it is about."""

    attempt_id: int
    job_id: int
    kind: str
    stage: str
    parameters: Mapping[str, Any]


_CHOOSE = """
WITH chosen AS (
    SELECT split.id FROM jobs_split split JOIN jobs_job job ON job.id = split.job_id
    WHERE split.open AND job.state IN ('waiting', 'running') AND split.stage = job.stage
        AND (%(job_id)s::bigint IS NULL OR job.id = %(job_id)s)
    ORDER BY job.id, split.turn LIMIT 1 FOR UPDATE OF split SKIP LOCKED
)
UPDATE jobs_split split SET open = false, state = 'running' FROM chosen, jobs_job job
WHERE split.id = chosen.id AND job.id = split.job_id
RETURNING split.id AS split_id, job.id AS job_id, job.kind, split.stage
"""


@transaction.atomic
def claim(worker: str, job_id: int | None = None) -> Claim | None:
    """Begin an attempt at the next open split, of one job or of the oldest that has any; None if there is none."""
    with connection.cursor() as cursor:
        cursor.execute(_CHOOSE, {"job_id": job_id})
        chosen = next(iter(rows_of(cursor)), None)
    if chosen is None:
        return None
    Job.objects.filter(pk=chosen.job_id, state=Job.State.WAITING).update(state=Job.State.RUNNING)
    Job.objects.filter(pk=chosen.job_id, begun_at=None).update(begun_at=Now())
    before = Attempt.objects.filter(split_id=chosen.split_id).aggregate(latest=Max("number", default=0))["latest"]
    attempt = Attempt.objects.create(
        split_id=chosen.split_id, number=before + 1, worker=worker[:200], leased_until=Now() + LEASE
    )
    parameters = Split.objects.values_list("parameters", flat=True).get(pk=chosen.split_id)
    return Claim(attempt.pk, chosen.job_id, chosen.kind, chosen.stage, parameters)


def renew(attempt_id: int) -> None:
    """Be heard of.

    Raises
    ------
    Stopped
        If the attempt has ended, or its job is not to be worked on now.
    """
    attempts = Attempt.objects.filter(pk=attempt_id, outcome="")
    state = attempts.values_list("split__job__state", flat=True).first()
    if state not in Job.TO_BE_WORKED_ON:
        raise Stopped("Another worker continued it." if state is None else f"The job is {state}.")
    if not attempts.update(leased_until=Now() + LEASE):
        raise Stopped("Another worker continued it.")


@transaction.atomic
def commit(attempt_id: int, write: Write) -> None:
    """Make an attempt the one that counts, together with what it writes.

    Raises
    ------
    Stopped
        If it has ended, or its job was cancelled; nothing is written then.
    """
    with connection.cursor() as cursor:
        # A worker that is stopped in the middle would hold its locks for ever; the server ends its session instead.
        cursor.execute(
            "SELECT set_config('idle_in_transaction_session_timeout', %s, true)", [f"{LEASE.total_seconds():.0f}s"]
        )
    split, attempt = _locked(attempt_id)
    if attempt.outcome or split.state == Split.State.DONE or split.job.state == Job.State.CANCELLED:
        raise Stopped("It was no longer needed.")
    output = dict(write())
    if emitted := output.pop("emitted", ()):
        _emit(split.job, emitted)
    _end(attempt, Attempt.Outcome.DONE)
    for other in split.attempts.filter(outcome=""):
        _end(other, Attempt.Outcome.OVERTAKEN)
    Split.objects.filter(pk=split.pk).update(state=Split.State.DONE, open=False, output=output)


def _emit(job: Job, pairs: Iterable[tuple[str, Any]]) -> None:
    parts = kind_of(job.kind).parts
    rows = (Emitted(job=job, part=crc32(key.encode()) % parts, key=key, value=value) for key, value in pairs)
    Emitted.objects.bulk_create(rows, batch_size=2_000)


@transaction.atomic
def fail(attempt_id: int, problem: str) -> None:
    """Note that an attempt failed, and let another be begun unless it was the last."""
    split, attempt = _locked(attempt_id)
    if not attempt.outcome:
        _end(attempt, Attempt.Outcome.FAILED, problem)
        Split.objects.filter(pk=split.pk).update(failures=F("failures") + 1)
        reopen(split.pk)


@transaction.atomic
def release(attempt_id: int) -> None:
    """End an attempt that was stopped: no fault of the split, which others may go on with at once."""
    split, attempt = _locked(attempt_id)
    if not attempt.outcome:
        _end(attempt, Attempt.Outcome.CANCELLED)
        reopen(split.pk)


@transaction.atomic
def lose(attempt_id: int, problem: str) -> None:
    """End an attempt of a worker that was not heard of any more, or that could not reach the database."""
    split, attempt = _locked(attempt_id)
    if not attempt.outcome:
        _end(attempt, Attempt.Outcome.LOST, problem)
        Split.objects.filter(pk=split.pk).update(losses=F("losses") + 1)
        reopen(split.pk)


def reopen(split_id: int) -> None:
    """Let another attempt be begun, or give the split up. The caller holds its lock and has ended an attempt."""
    split = Split.objects.get(pk=split_id)
    if split.state != Split.State.RUNNING or split.attempts.filter(outcome="").exists():
        return
    is_dead = split.failures >= MAX_FAILURES or split.losses >= MAX_LOSSES
    split.state, split.open = (Split.State.DEAD, False) if is_dead else (Split.State.WAITING, True)
    split.save(update_fields=["state", "open"])


def _locked(attempt_id: int) -> tuple[Split, Attempt]:
    splits = Split.objects.select_related("job").select_for_update(of=("self",))
    split = splits.get(attempts=attempt_id)
    return split, Attempt.objects.get(pk=attempt_id)


def _end(attempt: Attempt, outcome: Attempt.Outcome, problem: str = "") -> None:
    Attempt.objects.filter(pk=attempt.pk).update(
        outcome=outcome, ended_at=Now(), problem=problem[:MAX_PROBLEM_LENGTH], leased_until=Now()
    )
