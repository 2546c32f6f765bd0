"""The loop of a worker, for tasks, commands and tests."""

import logging
import os
import socket
import time
from math import inf

from django.db import InterfaceError, OperationalError, connection

from apps.database.time_limits import stopping, within
from apps.jobs import actions
from apps.jobs.actions.claiming import Stopped
from apps.jobs.kinds import kind_of
from apps.jobs.models import Attempt, Job

logger = logging.getLogger(__name__)

RENEW_SECONDS = 5.0  # between two renewals, and so until a worker notices that its job is paused


def worker_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


def work(worker: str, job_id: int | None = None, *, seconds: float = inf) -> bool:
    """Work on splits of one job or of all until none is open or the time is over; whether one may be open.

    The last split is finished unless its job is paused or cancelled.
    """
    may_go_on = within(seconds)
    advance(job_id)
    while may_go_on():
        if not work_on_one(worker, job_id):
            advance(job_id)  # the last split may have been the last of its stage
            if not work_on_one(worker, job_id):
                return False
    return True


def advance(job_id: int | None) -> None:
    if job_id is None:
        actions.advancing.advance_all()
    else:
        actions.advancing.advance(job_id)


def work_on_one(worker: str, job_id: int | None = None) -> bool:
    """Work on the next open split; False if there is none."""
    claim = actions.claiming.claim(worker, job_id)
    if claim is None:
        return False
    try:
        kind = kind_of(claim.kind)
        stage = kind.map if claim.stage == Job.Stage.MAP else kind.reduce
        if stage is None:
            raise LookupError(f"Jobs of the kind {kind.name!r} have nothing to reduce.")
        write = stage.work(claim.parameters, _Heartbeat(claim.attempt_id))
        actions.claiming.commit(claim.attempt_id, write)
    except Stopped as reason:
        logger.info("attempt %d at job %d has ended: %s", claim.attempt_id, claim.job_id, reason)
        actions.claiming.end_attempt(claim.attempt_id, Attempt.Outcome.CANCELLED)
    except (OperationalError, InterfaceError) as error:
        # If this cannot be written either, the lease expires and another worker begins again.
        logger.warning("attempt %d at job %d lost the database: %s", claim.attempt_id, claim.job_id, error)
        connection.close()
        actions.claiming.end_attempt(claim.attempt_id, Attempt.Outcome.LOST, str(error).strip())
    except Exception as error:
        logger.exception("attempt %d at job %d failed", claim.attempt_id, claim.job_id)
        actions.claiming.end_attempt(claim.attempt_id, Attempt.Outcome.FAILED, f"{type(error).__name__}: {error}")
    except BaseException:  # shutdown
        actions.claiming.end_attempt(claim.attempt_id, Attempt.Outcome.CANCELLED)
        raise
    else:
        if kind.after_split:
            kind.after_split()
    return True


class _Heartbeat:
    """Called between records: renews the lease, and raises `Stopped` when the work should end."""

    def __init__(self, attempt_id: int) -> None:
        self._attempt_id = attempt_id
        self._renewed_at = time.monotonic()

    def __call__(self) -> None:
        if stopping.is_set():
            raise Stopped("Its worker stops.")
        if time.monotonic() - self._renewed_at >= RENEW_SECONDS:
            actions.claiming.renew(self._attempt_id)
            self._renewed_at = time.monotonic()
