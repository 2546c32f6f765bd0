"""Check the consistency of the index with itself and with the postings, while search is running."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.progress import track

from lab.chaos.index.checking import Check, check, steps


class Command(BaseCommand):
    help = "Compare the search index with its documents and these with the postings; fails where they disagree."

    def handle(self, *args: Any, **options: Any) -> None:
        found = Check()
        for _ in track(check(found), "Checking generations", steps(), console=Console(stderr=True), transient=True):
            pass
        self.stdout.write(
            f"{found.documents:,} documents, {found.generations} generations, {found.postings:,} postings of terms."
        )
        for fault in found.faults:
            self.stdout.write(fault)
        if found.faults:
            raise CommandError("The index is damaged. `manage.py reindex --empty` rebuilds it from the postings.")
        self.stdout.write("The index agrees with itself and with the postings.")
