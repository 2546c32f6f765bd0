from argparse import ArgumentParser
from importlib import import_module
from typing import Any

import psycopg
from django.apps import apps
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from apps.database import schema
from portal import databases
from portal.launcher import preparation, running_database
from portal.launcher.embedded import StartError


class Command(BaseCommand):
    help = "Bring the database to the schema of this version; with --check only say what that would do."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--check", action="store_true", help="change nothing")

    def handle(self, *args: Any, check: bool, **options: Any) -> None:
        self.stdout.write(f"Wirebeat {settings.VERSION}")
        try:
            with running_database.database_answers(), databases.connect() as own:
                if problem := databases.newer_schema(own):
                    raise CommandError(problem)
                missing = sorted(schema.known() - schema.applied(own))
                self.stdout.write(f"{len(missing)} migrations are to be applied.")
                for app, name in missing:
                    module = import_module(f"{apps.get_app_config(app).name}.migrations.{name}")
                    former = getattr(module.Migration, "contracts", "")
                    note = f"stop processes of {former} and older first" if former else "other processes may go on"
                    self.stdout.write(f"  {app}.{name}: {note}")
                if not check:
                    preparation.main(["migrate"])
                    self.stdout.write("The database has the schema of this version.")
        except (StartError, psycopg.Error) as error:
            raise CommandError(f"The upgrade is not possible: {error}") from error
