"""Reads all postings again. May be stopped at any time, and goes on where it was when it is started again."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console

from apps.jobs.management.progress import see_through
from apps.jobs.models import Job
from apps.search import actions


class Command(BaseCommand):
    help = (
        "Read all postings into the search index again, as after a change of how words are read, together with all"
        " workers there are. Search goes on with what it knows meanwhile. Where an earlier run was stopped, it is"
        " finished."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--empty",
            action="store_true",
            help="forget the index first, for one that is damaged; postings are not found until they are read again",
        )

    def handle(self, *args: Any, empty: bool, **options: Any) -> None:
        job = see_through(actions.begin(from_nothing=empty, asked_by="manage.py reindex"), Console(stderr=True))
        if job.state != Job.State.DONE:
            raise CommandError(f"Job {job.pk} is {job.get_state_display().lower()}. {job.problem}".strip())
        while (pulled := actions.consume()) and pulled.looked_at:  # what has changed since
            pass
        actions.maintain()
        self.stdout.write(f"{job.result.get('postings', 0):,} postings were read.")
