"""Index all postings again. May be interrupted, and resumes when started again."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console

from apps.jobs.management.progress import follow_job
from apps.jobs.models import Job
from apps.search import actions


class Command(BaseCommand):
    help = (
        "Index all postings again, as after a change of the analysis, together with all workers. Search uses the"
        " present index meanwhile. An interrupted run is resumed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--empty",
            action="store_true",
            help="empty the index first if it is damaged; postings are not found until they are indexed again",
        )

    def handle(self, *args: Any, empty: bool, **options: Any) -> None:
        job = follow_job(
            actions.reindexing.begin(from_nothing=empty, requested_by="manage.py reindex"), Console(stderr=True)
        )
        if job.state != Job.State.DONE:
            raise CommandError(f"Job {job.pk} is {job.get_state_display().lower()}. {job.problem}".strip())
        while actions.reindexing.consume():  # changes since the job
            pass
        actions.segment_building.maintain()
        self.stdout.write(f"{job.result.get('postings', 0):,} postings were read.")
