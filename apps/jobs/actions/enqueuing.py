"""Create, pause, resume, cancel, retry and prune jobs."""

from collections.abc import Mapping
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from apps.jobs.kinds import kind_of
from apps.jobs.models import Attempt, Emitted, Job, Split

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
