"""Take the text out of kept pages again, after a change of the way in which that is done."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console

from apps.jobs import actions
from apps.jobs.management.progress import see_through
from apps.jobs.models import Job
from apps.retrieval import sandbox
from apps.sources import queries as sources


class Command(BaseCommand):
    help = (
        "Extract the text of postings from their kept pages again, of all sources or of one, together with all workers"
        " there are. Where an earlier run was stopped, it is finished."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--source", type=int, metavar="ID", help="of this source alone")

    def handle(self, *args: Any, source: int | None, **_: Any) -> None:
        if source is not None and not sources.everything().filter(pk=source).exists():
            raise CommandError(f"There is no source {source}.")
        asked, _is_new = actions.create(
            "extract", {} if source is None else {"source": source}, asked_by="manage.py reextract"
        )
        actions.resume(asked.pk)
        job = see_through(asked.pk, Console(stderr=True))
        sandbox.stop()
        if job.state != Job.State.DONE:
            raise CommandError(f"Job {job.pk} is {job.get_state_display().lower()}. {job.problem}".strip())
        pages, texts, unusable = (job.result.get(name, 0) for name in ("pages", "texts", "unusable"))
        for problem in job.result.get("problems", []):
            self.stdout.write(problem)
        self.stdout.write(f"{pages:,} pages read again: {texts:,} texts written, {unusable:,} pages could not be used.")
