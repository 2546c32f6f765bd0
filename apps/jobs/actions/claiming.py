"""A worker's attempt at a split: claim it, renew the lease, commit or end it.

Ending or committing an attempt and reopening its split require the lock of the split's row. A worker that was stopped
and wakes up after its lease has expired finds its attempt ended, so nothing of it is committed.
"""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, NamedTuple
from zlib import crc32

from django.db import IntegrityError, transaction
from django.db.models import F, Max, QuerySet
from django.db.models.functions import Now

from apps.database.statements import execute, fetch_rows
from apps.jobs.kinds import Write, kind_of
from apps.jobs.models import Attempt, Emitted, Job, Split

LEASE = timedelta(seconds=60)  # without a renewal, then the worker counts as lost
MAX_FAILURES = 3  # of a split, before it is dead
MAX_LOSSES = 5  # lost workers of a split; more than failures, as the worker may have died of something else
MAX_PROBLEM_LENGTH = 2_000  # characters


class Stopped(Exception):
    """The attempt has ended; its worker has to stop."""


class Claim(NamedTuple):
    """An attempt that this worker holds until the lease expires."""

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
    """Begin an attempt at the next open split of one job, or of the oldest job that has any; None if there is none."""
    rows = fetch_rows(_CHOOSE, {"job_id": job_id})
    if not rows:
        return None
    [chosen] = rows
    Job.objects.filter(pk=chosen.job_id, state=Job.State.WAITING).update(state=Job.State.RUNNING)
    Job.objects.filter(pk=chosen.job_id, begun_at=None).update(begun_at=Now())
    before = Attempt.objects.filter(split_id=chosen.split_id).aggregate(latest=Max("number", default=0))["latest"]
    attempt = Attempt.objects.create(
        split_id=chosen.split_id, number=before + 1, worker=worker[:200], leased_until=Now() + LEASE
    )
    parameters = Split.objects.values_list("parameters", flat=True).get(pk=chosen.split_id)
    return Claim(attempt.pk, chosen.job_id, chosen.kind, chosen.stage, parameters)


def renew(attempt_id: int) -> None:
    """Renew the lease; raises `Stopped` if the attempt has ended or its job is not active."""
    attempts = Attempt.objects.filter(pk=attempt_id, outcome="")
    state = attempts.values_list("split__job__state", flat=True).first()
    if state not in Job.ACTIVE:
        raise Stopped("Another worker continued it." if state is None else f"The job is {state}.")
    if not attempts.update(leased_until=Now() + LEASE):
        raise Stopped("Another worker continued it.")


@transaction.atomic
def commit(attempt_id: int, write: Write) -> None:
    """Commit an attempt with what it writes; raises `Stopped`, without writing, if it has ended or is cancelled."""
    # A worker stopped here would hold its locks forever; the server ends its session instead.
    execute("SELECT set_config('idle_in_transaction_session_timeout', %s, true)", [f"{LEASE.total_seconds():.0f}s"])
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


_COUNTERS = {Attempt.Outcome.FAILED: "failures", Attempt.Outcome.LOST: "losses"}  # of a split


@transaction.atomic
def end_attempt(attempt_id: int, outcome: Attempt.Outcome, problem: str = "") -> None:
    """End an attempt without a result, and open its split to another unless it has failed too often.

    A worker that has to stop cancels its attempt, which does not count against the split.
    """
    split, attempt = _locked(attempt_id)
    if attempt.outcome:
        return
    _end(attempt, outcome, problem)
    if counter := _COUNTERS.get(outcome):
        Split.objects.filter(pk=split.pk).update(**{counter: F(counter) + 1})
    _reopen(split.pk)


def _reopen(split_id: int) -> None:
    """Open a split to another attempt, or mark it dead. The caller holds its lock and has ended an attempt."""
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


# --- jobs -------------------------------------------------------------------------------------------------------------
KEPT = timedelta(days=30)  # of ended jobs


def create(kind: str, parameters: Mapping[str, int] | None = None, *, requested_by: str) -> tuple[Job, bool]:
    """A job, and whether it is new: an unfinished one with the same parameters is returned instead.

    Raises LookupError for an unknown kind, ValueError for an unknown parameter.
    """
    given, known = dict(parameters or {}), kind_of(kind).options
    if unknown := sorted(given.keys() - set(known)):
        raise ValueError(
            f"Jobs of the kind {kind!r} have no {unknown[0]!r}" + (f", only {', '.join(known)}." if known else ".")
        )
    unfinished = Job.objects.filter(kind=kind, parameters=given, state__in=Job.UNFINISHED)
    if job := unfinished.first():
        return job, False
    try:
        with transaction.atomic():
            return Job.objects.create(kind=kind, parameters=given, requested_by=requested_by[:150]), True
    except IntegrityError:  # requested at the same moment by another process
        return unfinished.get(), False


def pause(job_id: int) -> bool:
    """Pause an active job; its workers stop at their next beat. False if it is not active."""
    return bool(_in(job_id, Job.State.WAITING, Job.State.RUNNING).update(state=Job.State.PAUSED))


def resume(job_id: int) -> bool:
    return bool(_in(job_id, Job.State.PAUSED).update(state=Job.State.WAITING))


def cancel(job_id: int) -> bool:
    """Cancel an unfinished job; committed splits stay."""
    return bool(_in(job_id, *Job.UNFINISHED).update(state=Job.State.CANCELLED, ended_at=Now()))


@transaction.atomic
def try_again(job_id: int) -> bool:
    """Retry the dead splits of a failed job; False if it has not failed or runs again already."""
    job = _in(job_id, Job.State.FAILED).select_for_update().first()
    if job is None or Job.objects.filter(kind=job.kind, parameters=job.parameters, state__in=Job.UNFINISHED).exists():
        return False
    Split.objects.filter(job=job, state=Split.State.DEAD).update(
        state=Split.State.WAITING, open=True, failures=0, losses=0
    )
    Job.objects.filter(pk=job_id).update(state=Job.State.WAITING, problem="", ended_at=None)
    return True


@transaction.atomic
def forget_requester(name: str) -> None:
    """Clear the name of a deleted account from its jobs."""
    Job.objects.filter(requested_by=name).update(requested_by="")


def forget_old() -> int:
    """Delete jobs that ended a month ago with their rows; returns how many."""
    old = list(Job.objects.filter(ended_at__lt=Now() - KEPT).values_list("pk", flat=True))
    Emitted.objects.filter(job__in=old).delete()
    Attempt.objects.filter(split__job__in=old).delete()
    Split.objects.filter(job__in=old).delete()
    return Job.objects.filter(pk__in=old).delete()[0]


def _in(job_id: int, *states: Job.State) -> QuerySet[Job]:
    return Job.objects.filter(pk=job_id, state__in=states)
