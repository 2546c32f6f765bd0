"""The loop of a worker, for tasks, commands and tests."""

import logging
import os
import socket
import time
from collections.abc import Callable
from math import inf

from django.db import InterfaceError, OperationalError, connection

from apps.jobs import actions
from apps.jobs.actions import Claim, Stopped
from apps.jobs.kinds import Kind, Stage, kind_of
from apps.jobs.models import Attempt, Job

logger = logging.getLogger(__name__)

RENEW_SECONDS = 5.0  # between two renewals, and so until a worker notices that its job is paused
OnBeat = Callable[[], None]


def worker_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


def work(worker: str, job_id: int | None = None, *, seconds: float = inf, on_beat: OnBeat = lambda: None) -> bool:
    """Work on splits of one job or of all until none is open or the time is over; whether one may still be open.

    The last split is finished unless its job is paused or cancelled.
    """
    until = time.monotonic() + seconds
    advance(job_id)
    while time.monotonic() < until:
        if not work_on_one(worker, job_id, on_beat=on_beat):
            advance(job_id)  # the last split may have been the last of its stage
            if not work_on_one(worker, job_id, on_beat=on_beat):
                return False
    return True


def advance(job_id: int | None) -> None:
    if job_id is None:
        actions.advance_all()
    else:
        actions.advance(job_id)


def work_on_one(worker: str, job_id: int | None = None, *, on_beat: OnBeat = lambda: None) -> bool:
    """Work on the next open split; False if there is none."""
    claim = actions.claim(worker, job_id)
    if claim is None:
        return False
    try:
        kind = kind_of(claim.kind)
        write = _stage_of(kind, claim).work(claim.parameters, _Beat(claim.attempt_id, on_beat))
        actions.commit(claim.attempt_id, write)
    except Stopped as reason:
        logger.info("attempt %d at job %d has ended: %s", claim.attempt_id, claim.job_id, reason)
        actions.end_attempt(claim.attempt_id, Attempt.Outcome.CANCELLED)
    except (OperationalError, InterfaceError) as error:
        # If this cannot be written either, the lease expires and another worker begins again.
        logger.warning("attempt %d at job %d lost the database: %s", claim.attempt_id, claim.job_id, error)
        connection.close()
        actions.end_attempt(claim.attempt_id, Attempt.Outcome.LOST, str(error).strip())
    except Exception as error:
        logger.exception("attempt %d at job %d failed", claim.attempt_id, claim.job_id)
        actions.end_attempt(claim.attempt_id, Attempt.Outcome.FAILED, f"{type(error).__name__}: {error}")
    except BaseException:  # the process has to stop
        actions.end_attempt(claim.attempt_id, Attempt.Outcome.CANCELLED)
        raise
    else:
        if kind.tidy:
            kind.tidy()
    on_beat()
    return True


def _stage_of(kind: Kind, claim: Claim) -> Stage:
    if claim.stage == Job.Stage.MAP:
        return kind.map
    if kind.reduce is None:
        raise LookupError(f"Jobs of the kind {kind.name!r} have nothing to reduce.")
    return kind.reduce


class _Beat:
    """Called between records: renews the lease, and raises `Stopped` when the work should end."""

    def __init__(self, attempt_id: int, on_beat: OnBeat) -> None:
        self._attempt_id, self._on_beat = attempt_id, on_beat
        self._renewed_at = time.monotonic()

    def __call__(self) -> None:
        self._on_beat()
        if time.monotonic() - self._renewed_at >= RENEW_SECONDS:
            actions.renew(self._attempt_id)
            self._renewed_at = time.monotonic()
