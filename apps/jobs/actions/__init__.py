"""The only writers of jobs. Each is idempotent."""

from apps.jobs.actions.advancing import advance, advance_all
from apps.jobs.actions.claiming import (
    Claim,
    Stopped,
    cancel,
    claim,
    commit,
    create,
    end_attempt,
    forget_old,
    forget_requester,
    pause,
    renew,
    resume,
    try_again,
)
