"""A job at the command line: its bar, while this process works on it beside all others."""

import time

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from apps.jobs import queries
from apps.jobs.actions import working
from apps.jobs.kinds import kind_of
from apps.jobs.models import Job

LOOKED_EVERY = 0.5  # s
ADVANCED_EVERY = 5.0  # s; workers that are lost are replaced, and it is seen that the job is paused


def see_through(job_id: int, console: Console) -> Job:
    """Work on a job until it has ended or was paused, whoever else is at it; the job as it is then."""
    bar = _Bar(job_id, console)
    with bar.progress:
        while (job := bar.look()).state in Job.TO_BE_WORKED_ON:
            if not working.work(working.worker_name(), job_id, seconds=ADVANCED_EVERY, tell=bar.look_if_due):
                time.sleep(LOOKED_EVERY)  # the others are at what is left
    return job


class _Bar:
    def __init__(self, job_id: int, console: Console) -> None:
        self._job_id = job_id
        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            console=console,
        )
        self._task = self.progress.add_task("Cutting", total=None)
        self._looked_at = 0.0

    def look_if_due(self) -> None:
        if time.monotonic() - self._looked_at > LOOKED_EVERY:
            self.look()

    def look(self) -> Job:
        job = Job.objects.get(pk=self._job_id)
        done = queries.progress([job])[job.pk]
        said = f"{job.get_stage_display()}, {kind_of(job.kind).records}"
        self.progress.update(self._task, description=said, completed=done.records_done, total=done.records or None)
        self._looked_at = time.monotonic()
        return job
