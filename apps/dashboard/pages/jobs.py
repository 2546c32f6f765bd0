"""Jobs over the whole archive, their progress and failures."""

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from apps.jobs import queries
from apps.jobs.kinds import all_kinds
from apps.jobs.models import Job
from apps.jobs.queries import Progress
from apps.web.pages import Context

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


def jobs_page(now: datetime) -> Context:
    rows = _rows(list(queries.everything()[:LISTED]))
    return {"rows": rows, "kinds": all_kinds(), "is_under_way": any(row.is_unfinished for row in rows), "now": now}


def job_page(job_id: int, now: datetime) -> Context | None:
    job = queries.job(job_id)
    if job is None:
        return None
    [row] = _rows([job])
    return {
        "row": row,
        "attempts": tuple(queries.running(job_id)),
        "unwell": tuple(queries.unwell(job_id)),  # splits that failed at least once
        "now": now,
    }


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
