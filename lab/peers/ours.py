"""This portal, as `up` starts it with an empty data folder."""

import os
import random
import re
import socket
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management.base import CommandError
from django.db import connection
from django.urls import reverse

from apps.accounts.models import User
from apps.database.statements import fetch
from apps.following.models import Folder, Follow
from apps.postings.models import Posting
from apps.sources.formats import opml
from apps.sources.models import Source
from lab.benchmarks import bursts
from lab.benchmarks.load_test import requests
from lab.benchmarks.load_test.browser import Browser
from lab.harness import running
from lab.peers.archive import Archive, Archived
from lab.peers.base import PeerWithPages, Programs, wait_until
from lab.peers.sites import number_of
from lab.peers.verdict import Stored
from lab.worlds.leases import lease
from lab.worlds.queries import CHUNK, unread_changes

NAME, PASSWORD = "importer", "brings three hundred feeds along"
PATIENCE = 60.0  # s without another posting after which no more are expected
STORED_AT_ONCE = 5_000  # postings of an archive
TWO_YEARS = timedelta(days=730)
SAMPLE = 10  # folders or feeds whose pages are requested

_RETRIEVED = """
SELECT count(DISTINCT source_id) FROM retrieval_retrieval
WHERE fetched_at >= %s AND source_id = ANY(%s) AND outcome <> 'deferred'
"""
_ADD = """
COPY postings_posting (source_id, identity, link_key, content_hash, text_hash, guid, url, title, author, html, text,
    language, categories, image_url, comments_url, enclosures, published_at, claimed_at, retrieved_at) FROM STDIN
"""


class Ours(PeerWithPages):
    """It must run in the data folder that WIREBEAT_VAR names, as the settings of this process follow it."""

    name = "ours"
    label = "Wirebeat"

    @classmethod
    def missing(cls, programs: Programs) -> str:
        return ""

    def start(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        up = {"up": [sys.executable, "manage.py", "up", "--port", str(port)]}
        # Peers have no feeds but those of their user.
        started = self.enter(running(up, WIREBEAT_STARTER_EDITION="no"))["up"]
        self.processes = [started.pid]
        wait_until(lambda: started.poll() is not None or self._answers(), "the portal answers")
        if started.poll() is not None:
            raise CommandError("The portal did not start.")
        self.enter(lease(self.world.addresses.open_host))
        self.user = User.objects.create_user(NAME, password=PASSWORD)

    def _answers(self) -> bool:
        with suppress(OSError), urllib.request.urlopen(f"{self.address}/", timeout=60) as answer:
            return bool(answer.status == 200)
        return False

    # --- feeds --------------------------------------------------------------------------------------------------------
    def import_list(self, expected: int) -> None:
        browser, page = self._browser(), reverse("opml")
        browser.get(page)
        written = opml.write(self.world.subscriptions(), datetime.now(UTC))
        began = datetime.now(UTC)
        report = browser.post(page, {"file": SimpleUploadedFile("feeds.opml", written, content_type="text/x-opml")})
        if f"<strong>{len(self.world.sites)}</strong>" not in report:
            raise CommandError("The list was not imported.")
        self._wait_for(expected, began)

    def refresh(self, expected: int) -> None:
        due = bursts.set_due(list(self._numbers()))
        self._wait_for(expected, datetime.fromtimestamp(due, UTC))

    def settle(self) -> None:
        bursts.settle(list(self._numbers()))
        wait_until(lambda: not any(unread_changes().values()), "all changes of postings are read")

    def stored(self) -> Iterator[Stored]:
        numbers = self._numbers()
        rows = Posting.objects.filter(source__in=numbers).values_list("source_id", "title", "url")
        for source_id, title, link in rows.iterator(CHUNK):
            yield Stored(numbers[source_id], title, link)

    def disk(self) -> int:
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")
        return int(fetch("SELECT pg_database_size(current_database())")[0][0]) + _size_of(_documents())

    def _wait_for(self, expected: int, began: datetime) -> None:
        """Wait until every feed was retrieved and the postings are stored, or no more come for some time."""
        sources, seen, changed_at = list(self._numbers()), -1, time.monotonic()

        def are_stored() -> bool:
            nonlocal seen, changed_at
            stored = Posting.objects.filter(source__in=sources).count()
            if stored != seen:
                seen, changed_at = stored, time.monotonic()
            waited = time.monotonic() - changed_at
            retrieved = int(fetch(_RETRIEVED, [began, sources])[0][0])
            return (stored >= expected and retrieved >= len(sources)) or waited > PATIENCE

        wait_until(are_stored, "all feeds are stored")

    def _numbers(self) -> dict[int, int]:
        """The numbers of the feeds by their source's id."""
        rows = Source.objects.filter(follows__user=self.user).values_list("pk", "url")
        return {source_id: number_of(url) for source_id, url in rows}

    # --- pages --------------------------------------------------------------------------------------------------------
    def fill(self, archive: Archive) -> None:
        ids = {number: source_id for source_id, number in self._numbers().items()}
        for part in archive.parts(STORED_AT_ONCE):
            with connection.cursor() as cursor, cursor.copy(_ADD) as copy:
                for posting in part:
                    if posting.site.number in ids:
                        copy.write_row(self._row(posting, ids[posting.site.number]))
        self.settle()
        Follow.objects.filter(user=self.user).update(unread_from=datetime.now(UTC) - TWO_YEARS, read_through=0)
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")

    def _row(self, posting: Archived, source_id: int) -> tuple[Any, ...]:
        number, position = posting.site.number, posting.position
        link = self.world.addresses.article(number, position)
        digest = b"%016x" % (number * 10**9 + position)  # there are no copies
        words = (posting.title, "", posting.html, posting.text, posting.site.feed.language, "{}", "", "", "[]")
        times = (posting.published,) * 3
        return (source_id, digest, b"", digest, digest, link, link, *words, *times)

    def sign_in(self) -> None:
        self.user.refresh_from_db()
        session = requests.sign_in([self.user.pk], random.Random(0))[0].session
        self.headers = {"Cookie": f"{settings.SESSION_COOKIE_NAME}={session}", "Accept-Encoding": "gzip"}

    def pages(self) -> dict[str, list[str]]:
        folders = Folder.objects.filter(user=self.user).order_by("name").values_list("pk", flat=True)
        sources = sorted(self._numbers())
        return {
            "list": [reverse("river")],
            "unread": [f"{reverse('river')}?show=unread"],
            "folder": [reverse("river_folder", args=[folder]) for folder in folders[:SAMPLE]],
            "feed": [reverse("river_source", args=[source]) for source in sources[:SAMPLE]],
        }

    def search_page(self, words: str) -> str:
        return f"{reverse('search')}?q={words.replace(' ', '+')}"

    def count_articles(self, page: str) -> int:
        pattern = reverse("posting", args=[0]).replace("0", r"(\d+)")
        return len(set(re.findall(pattern, page)))

    def mark_all_read(self) -> None:
        browser = self._browser()
        page = browser.get(reverse("river"))
        found = re.search(r'name="shown_at" value="([^"]+)"', page)
        if not found:
            raise CommandError("The list page has no button that marks all read.")
        fields = {"scope": "all-", "shown_at": found[1], "next": reverse("river")}
        scope = re.search(r'name="scope" value="([^"]+)"', page)
        browser.post(reverse("mark_all"), fields | ({"scope": scope[1]} if scope else {}))

    def _browser(self) -> Browser:
        browser, page = Browser(self.address), reverse("account_login")
        browser.get(page)
        browser.post(page, {"login": NAME, "password": PASSWORD})
        return browser


def _documents() -> Path:
    return Path(os.environ["WIREBEAT_VAR"]) / "documents"


def _size_of(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
