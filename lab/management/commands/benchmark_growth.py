"""What a page view, a search, the deletion of an expired article and its backup cost when the archive is ten times as
large."""

import os
import random
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.core.management.base import CommandError
from django.db import connection

from apps.accounts.models import User
from apps.following.queries import Scope, folds
from apps.following.queries.listing import positions
from apps.reading.pages.river import LENGTH
from apps.retrieval.actions.expiry import forget_expired
from apps.sources.actions.curating import PROGRAM, set_retention
from lab.benchmarks.index.archives import delete_all
from lab.benchmarks.load_test import population, requests
from lab.benchmarks.load_test.requests import PageRequest, VirtualUser
from lab.harness import LabCommand, postgres_pid, table

SAMPLE = 200  # users whose pages are requested
MEASURED = 200  # requests of each page
WORDS = (1, 1, 2)  # of a search
LABELS = {
    "list": "list of all articles, ms",
    "unread": "unread list, ms",
    "search": "search, ms",
    "retention": "deletion of an expired article, ms",
    "backup": "backup of 1,000 articles, ms",
}
UNITS = ("list.cpu_ms", "unread.cpu_ms", "search.cpu_ms", "retention.ms", "backup.ms")


class Command(LabCommand):
    help = " ".join(__doc__.split())
    fills_database = True
    seed = 13

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--small", type=int, default=2_000_000, help="articles (default: %(default)s)")
        parser.add_argument("--large", type=int, default=20_000_000, help="articles (default: %(default)s)")
        parser.add_argument("--sources", type=int, default=5_000, help="that publish them (default: %(default)s)")
        parser.add_argument("--people", type=int, default=300, help="who follow them (default: %(default)s)")
        parser.add_argument(
            "--characters", type=int, default=population.LONGEST_TEXT, help="of a text at most (default: %(default)s)"
        )
        parser.add_argument("--days", type=float, default=30.0, help="whose articles expire (default: %(default)g)")

    def measure(
        self,
        *args: Any,
        small: int,
        large: int,
        sources: int,
        people: int,
        characters: int,
        days: float,
        seed: int,
        **_: Any,
    ) -> Mapping[str, float]:
        if not 0 < small < large or min(sources, people, characters, days) <= 0:
            raise CommandError("--small must be less than --large, and all numbers more than 0.")
        self.sources, self.people, self.characters, self.days, self.drawn = sources, people, characters, days, seed
        figures: dict[str, float] = {}
        for name, postings in (("small", small), ("large", large)):
            found = self._archive(postings)
            figures |= {f"{name}.{key}": value for key, value in found.items()}
            self.save(figures)
            _delete_everything()
        for unit in UNITS:
            figures[f"growth.{unit.partition('.')[0]}"] = figures[f"large.{unit}"] / figures[f"small.{unit}"]
        self._print(figures)
        return figures

    def _archive(self, postings: int) -> dict[str, float]:
        """Fill an empty database, and measure."""
        chance = random.Random(self.drawn)
        begun = time.monotonic()
        filling = population.fill(self, self.sources, postings, self.people, seed=self.drawn, longest=self.characters)
        self.say(f"{postings:,} articles after {time.monotonic() - begun:.0f} s.")
        users = requests.sign_in(chance.sample(filling.user_ids.tolist(), min(SAMPLE, self.people)), chance)
        figures: dict[str, float] = {"postings": postings}
        with requests.portal() as (address, web):
            for name, page in (("list", "river"), ("unread", "unread"), ("search", "search")):
                drawn = _requests(users, page, chance)
                requests.send_sequentially(address, drawn)
                figures |= requests.measure(name, address, drawn, [web.pid, *postgres_pid()])
        figures["backup.s"] = _timed(_back_up)[0]
        figures["backup.ms"] = figures["backup.s"] / postings * 1_000_000
        set_retention("", round(population.YEAR - self.days), by=PROGRAM)
        seconds_taken, deleted = _timed(lambda: forget_expired(now=datetime.now(UTC)))
        figures |= {"retention.s": seconds_taken, "retention.postings": deleted}
        figures["retention.ms"] = seconds_taken / max(1, deleted) * 1_000
        set_retention("", None, by=PROGRAM)
        return figures

    def _print(self, figures: Mapping[str, float]) -> None:
        shown = table(
            "CPU of web server and Postgres per page view; time of the rest",
            "",
            *(f"{figures[f'{name}.postings']:,.0f}" for name in ("small", "large")),
            "growth",
        )
        for unit in UNITS:
            name = unit.partition(".")[0]
            shown.add_row(
                LABELS[name],
                f"{figures[f'small.{unit}']:.3g}",
                f"{figures[f'large.{unit}']:.3g}",
                f"{figures[f'growth.{name}']:.2f}",
            )
        self.console.print(shown)


def _requests(users: list[VirtualUser], page: str, chance: random.Random) -> list[PageRequest]:
    if page == "unread":  # in a small archive many have less than a page unread, which takes less to show
        users = [user for user in users if _has_unread_page(user)] or users
    if page != "search":
        return requests.draw_requests(users, MEASURED, chance, page)
    searches = ["+".join(chance.sample(population.SOUGHT, chance.choice(WORDS))) for _ in range(MEASURED)]
    return [PageRequest(chance.choice(users), page, f"/search/?q={words}") for words in searches]


def _has_unread_page(virtual: VirtualUser) -> bool:
    user = User.objects.get(pk=virtual.user_id)
    return len(positions(user, Scope("all"), unread_only=True, limit=LENGTH, fold=folds(user))) == LENGTH


def _timed(do: Callable[[], int]) -> tuple[float, int]:
    begin = time.perf_counter()
    found = do()
    return time.perf_counter() - begin, found


def _back_up() -> int:
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "wirebeat.tar.gz"
        command = [sys.executable, "manage.py", "backup", str(archive)]
        environment = os.environ | {"WIREBEAT_VAR": folder}  # where the time of the latest backup is noted
        subprocess.run(command, cwd=settings.BASE_DIR, env=environment, check=True, stdout=subprocess.DEVNULL)
        return archive.stat().st_size


def _delete_everything() -> None:
    delete_all()
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE accounts_user, django_session, stories_story, stories_member CASCADE")
    cache.clear()
