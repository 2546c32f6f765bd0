"""Jobs over the whole archive, their progress and failures."""

from django.utils.translation import gettext as _

from apps.jobs import queries
from apps.jobs.kinds import all_kinds
from apps.jobs.models import Job
from apps.web.pages import Context

LISTED = 30


def jobs_page() -> Context:
    rows = _rows(list(queries.everything()[:LISTED]))
    return {"rows": rows, "kinds": all_kinds(), "is_under_way": any(row["is_unfinished"] for row in rows)}


def job_page(job_id: int) -> Context | None:
    job = queries.job(job_id)
    if job is None:
        return None
    [row] = _rows([job])
    return {
        "row": row,
        "attempts": tuple(queries.running(job_id)),
        "troubled_splits": tuple(queries.troubled_splits(job_id)),  # splits that failed at least once
    }


def _rows(jobs: list[Job]) -> list[Context]:
    found = queries.progress(jobs)
    kinds = {kind.name: kind for kind in all_kinds()}
    rows = []
    for job in jobs:
        kind, progress = kinds.get(job.kind), found[job.pk]
        row = {
            "job": job,
            "title": str(kind.title) if kind else job.kind,
            "records": str(kind.records) if kind else _("records"),  # name of what is counted
            "progress": progress,
            "percent": 100.0 if job.state == Job.State.DONE else 100 * progress.share,  # of the current stage
            "is_unfinished": job.state in Job.UNFINISHED,
            "parameters": ", ".join(f"{name} {value}" for name, value in job.parameters.items()),
        }
        rows.append(row)
    return rows
