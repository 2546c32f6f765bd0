"""Take the text out of kept pages again, after a change of the way in which that is done."""

from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.progress import track

from apps.postings import queries as postings
from apps.retrieval import actions, sandbox
from apps.sources import queries as sources


class Command(BaseCommand):
    help = "Extract the text of postings from their kept pages again, of all sources or of one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--source", type=int, metavar="ID", help="of this source alone")

    def handle(self, *args: Any, source: int | None, **_: Any) -> None:
        if source is not None and not sources.everything().filter(pk=source).exists():
            raise CommandError(f"There is no source {source}.")
        console = Console()
        total = postings.with_documents(source).count()
        changed = failed = 0
        for result in track(actions.reextract(source, now=datetime.now(UTC)), "pages", total=total, console=console):
            changed += result.changed
            if result.problem:
                failed += 1
                console.print(f"posting {result.posting_id}: {result.problem}")
        sandbox.stop()
        console.print(f"{total:,} pages read again: {changed:,} texts written, {failed:,} pages could not be used.")
