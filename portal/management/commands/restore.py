from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import psycopg
from django.core.management.base import BaseCommand, CommandError

from portal.backup.archives import BadArchive
from portal.backup.restoring import restore
from portal.launcher import running_database
from portal.launcher.embedded import StartError


class Command(BaseCommand):
    help = "Put a backup in the place of the database and of the documents. Site, workers and beat must not run."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="the archive that `backup` has written")
        parser.add_argument("--replace", action="store_true", help="even if the database is not empty; it is lost then")

    def handle(self, *args: Any, file: Path, replace: bool, **options: Any) -> None:
        try:
            with running_database.database_answers():
                manifest = restore(file, self.stdout.write, replace=replace)
        except (BadArchive, StartError, OSError, psycopg.Error) as error:
            raise CommandError(f"Nothing was restored: {error}") from error
        rows = sum(content.rows for content in manifest.tables.values())
        self.stdout.write(
            f"Restored the backup of {manifest.made_at}: {len(manifest.tables)} tables with {rows:,} rows, equal in"
            f" counts and hashes, and {manifest.documents:,} documents."
        )
