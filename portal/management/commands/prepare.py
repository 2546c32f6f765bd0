"""Creates the first admin and the starter catalogue, if they do not exist."""

import secrets
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError

from apps.alerts.channels import all_channels
from apps.database.registry import MissingEntry
from apps.retrieval.policies import all_policies
from apps.sources import actions as sources
from apps.sources.formats import opml
from apps.sources.kinds import all_kinds

CATALOGUE = Path(__file__).resolve().parents[3] / "apps" / "sources" / "catalogue.opml"


class Command(BaseCommand):
    help = "Create the first admin (the password is printed once) and load the starter catalogue."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            for load in (all_kinds, all_channels, all_policies):
                load()
        except MissingEntry as error:  # before a feed is checked with it
            raise CommandError(str(error)) from error
        users = get_user_model()
        if not users.objects.filter(is_superuser=True).exists():
            password = secrets.token_urlsafe(12)
            users.objects.create_superuser("admin", password=password)
            self.stdout.write(f"First start: sign in as 'admin' with the password '{password}' (printed only now).")
        added = sources.load_catalogue(opml.read(CATALOGUE.read_bytes()))
        if added:
            self.stdout.write(f"Loaded a starter catalogue of {added} sources; nobody follows them yet.")
