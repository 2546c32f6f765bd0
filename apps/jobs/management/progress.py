"""Progress bar of a job at the command line, while this process works on it, too."""

import time

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from apps.jobs import queries
from apps.jobs.actions import working
from apps.jobs.kinds import kind_of
from apps.jobs.models import Job

REFRESH_SECONDS = 1.0  # until the bar moves, lost workers are replaced and a pause is noticed


def follow_job(job_id: int, console: Console) -> Job:
    """Work on a job, beside other workers, until it has ended or was paused; returns the job."""
    times = (TaskProgressColumn(), TimeRemainingColumn())
    with Progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), *times, console=console) as bar:
        task = bar.add_task("Cutting", total=None)
        while True:
            job = Job.objects.get(pk=job_id)
            done = queries.progress([job])[job_id]
            text = f"{job.get_stage_display()}, {kind_of(job.kind).records}"
            bar.update(task, description=text, completed=done.records_done, total=done.records or None)
            if job.state not in Job.ACTIVE:
                return job
            if not working.work(working.worker_name(), job_id, seconds=REFRESH_SECONDS):
                time.sleep(REFRESH_SECONDS)  # other workers hold the remaining splits
