from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from portal.backup.writing import back_up
from portal.launcher import running_database
from portal.launcher.embedded import StartError


class Command(BaseCommand):
    help = "Write a snapshot of the database and the documents into one archive. The portal may run meanwhile."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="the archive, wirebeat.tar.gz say; one that is there is replaced")

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        try:
            with running_database.database_answers():
                manifest = back_up(file, self.stdout.write)
        except (StartError, OSError, psycopg.Error) as error:
            raise CommandError(f"There is no backup: {error}") from error
        # For the dashboard, which shows the age of the latest backup.
        settings.VAR_DIR.mkdir(parents=True, exist_ok=True)
        (settings.VAR_DIR / "latest_backup").write_text(f"{manifest.made_at}\n", encoding="ascii")
        rows = sum(content.rows for content in manifest.tables.values())
        self.stdout.write(
            f"{file} holds {len(manifest.tables)} tables with {rows:,} rows and {manifest.documents:,} documents"
            f" in {file.stat().st_size:,} bytes."
        )
        if manifest.missing:
            self.stdout.write(f"{manifest.missing:,} documents had no file.")
