"""The site's processes below `manage.py up`: they outlive their master until its successor has loaded all code.

That takes seconds, and far longer on a busy machine. Nobody should wait for it, since these can still answer.
"""

import os

from gunicorn.workers.gthread import ThreadWorker

SYSTEM = 1  # id of the process that adopts orphans where nobody else does


class LastingWorker(ThreadWorker):
    """Ends when the supervisor says so, or has ended itself; elsewhere it ends with its master, as gunicorn's own."""

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)
        self._supervisor = os.getppid()  # still within the master, before the fork

    def is_parent_alive(self) -> bool:
        parent = os.getppid()
        return parent in (self.ppid, self._supervisor) and parent != SYSTEM
