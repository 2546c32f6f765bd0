"""A worker at work: split after split, for as long as it may. Whoever calls it: a task, a command, a test."""

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
from apps.jobs.models import Job

logger = logging.getLogger(__name__)

RENEWED_EVERY = 5.0  # s; between two words of a worker, and so until it hears that a job is paused
Tell = Callable[[], None]  # at each beat


def worker_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


def work(worker: str, job_id: int | None = None, *, seconds: float = inf, tell: Tell = lambda: None) -> bool:
    """Work on splits, of one job or of all, until none is open or time is over; whether one may still be.

    What was begun is finished, or ends because its job is paused or cancelled.
    """
    until = time.monotonic() + seconds
    advance(job_id)
    while time.monotonic() < until:
        if not work_on_one(worker, job_id, tell=tell):
            advance(job_id)  # the last split may have been the last of its stage
            if not work_on_one(worker, job_id, tell=tell):
                return False
    return True


def advance(job_id: int | None) -> None:
    if job_id is None:
        actions.advance_all()
    else:
        actions.advance(job_id)


def work_on_one(worker: str, job_id: int | None = None, *, tell: Tell = lambda: None) -> bool:
    """Work on the next open split; False if there is none."""
    claim = actions.claim(worker, job_id)
    if claim is None:
        return False
    try:
        kind = kind_of(claim.kind)
        write = _stage_of(kind, claim).work(claim.parameters, _Beat(claim.attempt_id, tell))
        actions.commit(claim.attempt_id, write)
    except Stopped as reason:
        logger.info("attempt %d at job %d has ended: %s", claim.attempt_id, claim.job_id, reason)
        actions.release(claim.attempt_id)
    except (OperationalError, InterfaceError) as error:
        # If not even this can be said now, the lease ends and others begin again.
        logger.warning("attempt %d at job %d lost the database: %s", claim.attempt_id, claim.job_id, error)
        connection.close()
        actions.lose(claim.attempt_id, str(error).strip())
    except Exception as error:
        logger.exception("attempt %d at job %d failed", claim.attempt_id, claim.job_id)
        actions.fail(claim.attempt_id, f"{type(error).__name__}: {error}")
    except BaseException:  # whoever works here is to stop
        actions.release(claim.attempt_id)
        raise
    else:
        if kind.tidy:
            kind.tidy()
    tell()
    return True


def _stage_of(kind: Kind, claim: Claim) -> Stage:
    if claim.stage == Job.Stage.MAP:
        return kind.map
    if kind.reduce is None:
        raise LookupError(f"Jobs of the kind {kind.name!r} have nothing to reduce.")
    return kind.reduce


class _Beat:
    """What work calls between its records: keeps the lease, and raises `Stopped` when it should end."""

    def __init__(self, attempt_id: int, tell: Tell) -> None:
        self._attempt_id, self._tell = attempt_id, tell
        self._renewed_at = time.monotonic()

    def __call__(self) -> None:
        self._tell()
        if time.monotonic() - self._renewed_at >= RENEWED_EVERY:
            actions.renew(self._attempt_id)
            self._renewed_at = time.monotonic()
