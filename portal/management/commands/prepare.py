"""Creates the first admin and the starter catalogue, if they do not exist, and follows its starter edition."""

import secrets
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError
from django.utils.timezone import now

from apps.alerts.channels import all_channels
from apps.alerts.send_to import all_services
from apps.database.registry import MissingEntry
from apps.retrieval import actions as retrieval
from apps.retrieval.policies import all_policies
from apps.sources import actions as sources
from apps.sources.formats import opml
from apps.sources.kinds import all_kinds

CATALOGUE = Path(__file__).resolve().parents[3] / "apps" / "sources" / "catalogue.opml"


class Command(BaseCommand):
    help = "Create the first admin (its password is put into a file) and load the starter catalogue."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--without-catalogue", action="store_true", help="for a demo, whose feeds are others")

    def handle(self, *args: Any, without_catalogue: bool, **options: Any) -> None:
        try:
            for load in (all_kinds, all_channels, all_services, all_policies):
                load()
        except MissingEntry as error:  # before a feed is checked with it
            raise CommandError(str(error)) from error
        users = get_user_model()
        if not users.objects.filter(is_superuser=True).exists():
            file = settings.VAR_DIR / "admin_password"  # no log must have it
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch(mode=0o600)
            file.write_text(f"{(password := secrets.token_urlsafe(12))}\n", encoding="ascii")
            users.objects.create_superuser("admin", password=password)
            self.stdout.write(f"First start: sign in as 'admin' with the password in {file}, and delete that file.")
        if without_catalogue:
            return
        catalogue = opml.read(CATALOGUE.read_bytes())
        if added := sources.editing.load_catalogue(catalogue):
            self.stdout.write(f"Loaded a starter catalogue of {added} sources; they have no followers yet.")
        if sources.editing.retrieve_starter_edition(catalogue, retrieved=settings.STARTER_EDITION):
            retrieval.adopt_sources(now=now())
