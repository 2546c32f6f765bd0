from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from portal.backup.archives import BadArchive
from portal.backup.restoring import restore, test_archive
from portal.launcher import running_database
from portal.launcher.embedded import StartError


class Command(BaseCommand):
    help = "Put a backup in the place of the database and of the documents. Site, workers and beat must not run."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="the archive that `backup` has written")
        parser.add_argument(
            "--test",
            action="store_true",
            help="restore into a database beside the present one, compare and migrate it, and drop it again",
        )
        parser.add_argument("--replace", action="store_true", help="even if the database is not empty; it is lost then")

    def handle(self, *args: Any, file: Path, test: bool, replace: bool, **options: Any) -> None:
        try:
            with running_database.database_answers():
                if test:
                    manifest = test_archive(file, self.stdout.write)
                    (settings.VAR_DIR / "latest_restore_test").touch()  # its age is a metric
                else:
                    manifest = restore(file, self.stdout.write, replace=replace)
        except (BadArchive, StartError, OSError, psycopg.Error) as error:
            raise CommandError(f"Nothing was restored: {error}") from error
        rows = sum(content.rows for content in manifest.tables.values())
        done = "Could restore" if test else "Restored"
        self.stdout.write(
            f"{done} the backup of {manifest.made_at}: {len(manifest.tables)} tables with {rows:,} rows, equal in"
            f" counts and hashes, and {manifest.documents:,} documents."
        )
