"""Jobs over the whole archive, their progress and failures."""

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from apps.jobs import queries
from apps.jobs.kinds import Kind, all_kinds
from apps.jobs.models import Attempt, Job, Split
from apps.jobs.queries import Progress

LISTED = 30


@dataclass(frozen=True, slots=True)
class JobRow:
    job: Job
    title: str
    records: str  # name of what is counted
    progress: Progress
    problem: str

    @property
    def is_unfinished(self) -> bool:
        return self.job.state in Job.UNFINISHED

    @property
    def percent(self) -> float:
        """Of the current stage; 100 once the job is done."""
        return 100.0 if self.job.state == Job.State.DONE else 100 * self.progress.share

    @property
    def parameters(self) -> str:
        """The parameters as text."""
        return ", ".join(f"{name} {value}" for name, value in self.job.parameters.items())


@dataclass(frozen=True, slots=True)
class JobsPage:
    rows: tuple[JobRow, ...]
    kinds: tuple[Kind, ...]
    now: datetime

    @property
    def is_under_way(self) -> bool:
        return any(row.is_unfinished for row in self.rows)


@dataclass(frozen=True, slots=True)
class JobPage:
    row: JobRow
    attempts: tuple[Attempt, ...]  # running
    unwell: tuple[Split, ...]  # splits that failed at least once
    now: datetime


def jobs_page(now: datetime) -> JobsPage:
    return JobsPage(_rows(list(queries.everything()[:LISTED])), tuple(all_kinds()), now)


def job_page(job_id: int, now: datetime) -> JobPage | None:
    job = queries.job(job_id)
    if job is None:
        return None
    [row] = _rows([job])
    return JobPage(row, tuple(queries.running(job_id)), tuple(queries.unwell(job_id)), now)


def _rows(jobs: list[Job]) -> tuple[JobRow, ...]:
    progress = queries.progress(jobs)
    kinds = {kind.name: kind for kind in all_kinds()}
    return tuple(
        JobRow(
            job,
            str(kinds[job.kind].title) if job.kind in kinds else job.kind,
            str(kinds[job.kind].records) if job.kind in kinds else _("records"),
            progress[job.pk],
            job.problem,
        )
        for job in jobs
    )
