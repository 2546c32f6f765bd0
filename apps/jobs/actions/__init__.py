"""The only writers of jobs. Each is idempotent."""

from apps.jobs.actions.advancing import advance, advance_all
from apps.jobs.actions.claiming import Claim, Stopped, claim, commit, end_attempt, renew
from apps.jobs.actions.enqueuing import cancel, create, forget_old, forget_requester, pause, resume, try_again
