"""The only writers of jobs. Each may be called twice."""

from apps.jobs.actions.advancing import advance, advance_all
from apps.jobs.actions.asking import cancel, create, forget_asker, forget_old, pause, resume, try_again
from apps.jobs.actions.claiming import Claim, Stopped, claim, commit, fail, lose, release, renew

__all__ = [
    "Claim",
    "Stopped",
    "advance",
    "advance_all",
    "cancel",
    "claim",
    "commit",
    "create",
    "fail",
    "forget_asker",
    "forget_old",
    "lose",
    "pause",
    "release",
    "renew",
    "resume",
    "try_again",
]
