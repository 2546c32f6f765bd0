"""A reader of a running demo, and the browser that shows its pages."""

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from django.conf import settings
from django.core.management.base import CommandError
from django.db.models import QuerySet
from django.test import Client

from apps.accounts.models import User
from apps.sources.models import Source
from lab.worlds.actions import follow_in_folders
from lab.worlds.addresses import DOMAIN
from lab.worlds.vocabulary import ENGLISH

USER = "demo"
DEMO = "manage.py replay --synthetic 60 --speed 240 --history-days 28 --learn"


def chromium() -> str:
    """The whole browser: its shell without windows is not what readers use."""
    found = os.environ.get("WIREBEAT_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        raise CommandError("Install chromium, or name it in WIREBEAT_CHROMIUM.")
    return found


def replayed_feeds() -> QuerySet[Source]:
    feeds = Source.objects.filter(url__contains=f".{DOMAIN}:", language=ENGLISH.language).order_by("pk")
    if not feeds:
        raise CommandError(f"There are no replayed feeds: run {DEMO}")
    return feeds


@contextmanager
def admin_who_follows(feeds: Iterable[Source]) -> Iterator[str]:
    """The session of a new admin who follows feeds, in folders by category; both are deleted afterwards."""
    User.objects.filter(username=USER).delete()
    user = User.objects.create(username=USER, is_staff=True)
    try:
        follow_in_folders(user, feeds, now=datetime.now(UTC))
        client = Client()
        client.force_login(user)
        yield client.cookies[settings.SESSION_COOKIE_NAME].value
    finally:
        user.delete()
