"""Reads all postings again. May be stopped at any time, and goes on where it was when it is started again."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from rich.console import Console
from rich.progress import Progress

from apps.search import actions
from apps.search.algorithms.index.levels import MIDDLE


class Command(BaseCommand):
    help = (
        "Read all postings into the search index again, as after a change of how words are read. Search goes on with"
        " what it knows meanwhile. Where an earlier run was stopped, it is finished."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--empty",
            action="store_true",
            help="forget the index first, for one that is damaged; postings are not found until they are read again",
        )

    def handle(self, *args: Any, empty: bool, **options: Any) -> None:
        waiting = actions.empty() if empty else actions.read_all_anew()
        with Progress(console=Console(stderr=True)) as progress:
            task = progress.add_task("Reading postings", total=waiting)
            read = 0
            while pulled := actions.pull():
                if not pulled.looked_at:
                    break
                read += pulled.looked_at
                progress.update(task, completed=min(read, waiting))
                actions.maintain(at_least=MIDDLE)
        actions.maintain()
        self.stdout.write(f"{waiting:,} postings were read.")
