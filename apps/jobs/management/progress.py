"""Progress bar of a job at the command line, while this process works on it, too."""

import time

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from apps.jobs import queries
from apps.jobs.actions import working
from apps.jobs.kinds import kind_of
from apps.jobs.models import Job

REFRESH_SECONDS = 0.5
ADVANCE_SECONDS = 5.0  # until lost workers are replaced and a pause is noticed


def see_through(job_id: int, console: Console) -> Job:
    """Work on a job, beside other workers, until it has ended or was paused; returns the job."""
    bar = _Bar(job_id, console)
    with bar.progress:
        while (job := bar.refresh()).state in Job.ACTIVE:
            if not working.work(working.worker_name(), job_id, seconds=ADVANCE_SECONDS, on_beat=bar.refresh_if_due):
                time.sleep(REFRESH_SECONDS)  # other workers hold the remaining splits
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
        self._refreshed_at = 0.0

    def refresh_if_due(self) -> None:
        if time.monotonic() - self._refreshed_at > REFRESH_SECONDS:
            self.refresh()

    def refresh(self) -> Job:
        job = Job.objects.get(pk=self._job_id)
        done = queries.progress([job])[job.pk]
        text = f"{job.get_stage_display()}, {kind_of(job.kind).records}"
        self.progress.update(self._task, description=text, completed=done.records_done, total=done.records or None)
        self._refreshed_at = time.monotonic()
        return job
