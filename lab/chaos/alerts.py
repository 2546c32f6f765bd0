"""Alerts delivered by a real beat and real workers, which are killed repeatedly."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.message import EmailMessage
from types import TracebackType
from typing import Self

import numpy as np
from django.db.models import F
from numpy.typing import NDArray

from apps.accounts.models import User
from apps.alerts import actions
from apps.alerts.actions.delivering import retry
from apps.alerts.actions.rules import set_notification_settings, set_rule
from apps.alerts.models import Attempt, Hit, Message, OutboxRow
from apps.database.statements import fetch
from apps.postings.actions import Document, store
from apps.search.actions.saved import save_search
from apps.search.models import SavedSearch
from apps.sources.actions.editing import add_source
from apps.sources.formats.feed import ParsedEntry
from apps.sources.models import Source
from lab.worlds.receivers import ABrowser, Call, MailServer, Receiver, a_browser

WORKERS, THREADS = 2, 8
CHANNELS = frozenset({"mail", "webhook", "push"})
NOISE = ("words", "that", "everybody", "writes", "and", "nobody", "waits", "for", "weather", "tomorrow")


@dataclass
class Deliveries:
    """How often the recipients accepted each message, by its key."""

    chance: random.Random
    browsers: dict[str, ABrowser] = field(default_factory=dict)  # by the path of their address
    keys: Counter[str] = field(default_factory=Counter)
    refused: int = 0

    def call(self, call: Call) -> int | None:
        """Refuse every second call of a webhook, half of these by closing the connection; a browser must decrypt."""
        if browser := self.browsers.get(call.path):
            assert browser.read(call.body)["tag"].replace("-", "") == call.id
        elif self.chance.random() < 0.5:
            self.refused += 1
            return 503 if self.chance.random() < 0.5 else None
        self.keys[call.id.replace("-", "")] += 1
        return 201

    def mail(self, mail: EmailMessage) -> str:
        self.keys[str(mail["Message-ID"]).strip("<>").partition("@")[0].replace("-", "")] += 1
        return "250 OK"


def add_users(count: int, mail: MailServer, web: Receiver, accepted: Deliveries) -> None:
    """Add users with a saved search for a distinct word each, notified through all channels."""
    now = datetime.now(UTC)
    for number in range(count):
        user = User.objects.create(username=f"person{number}", email=f"person{number}@reader.example")
        saved = save_search(user, _word(number), _word(number), order=SavedSearch.Order.NEWEST, now=now)
        accepted.browsers[f"/browser/{number}"] = a_browser(user, web.url(f"/browser/{number}"), now=now)
        set_rule(user, saved.pk, mail="once", push=True, webhook_url=web.url(f"/hook/{number}"))
        set_notification_settings(user, most_a_day=1_000)
    web.behave, mail.behave = accepted.call, accepted.mail


def _word(number: int) -> str:
    return f"topic{number}"


class Publisher:
    """Stores postings as retrievals would, each with words that some users search for."""

    def __init__(self, searches: int, chance: random.Random) -> None:
        self._searches, self._chance, self._count, self.expected = searches, chance, 0, 0
        self._source_id = add_source(Source(url="https://publisher.example/feed", listed=True))

    def publish(self, how_many: int) -> None:
        now, entries = datetime.now(UTC), []
        for _ in range(how_many):
            self._count += 1
            waited_for = self._chance.sample(range(self._searches), 2)
            words = [*map(_word, waited_for), *self._chance.choices(NOISE, k=40)]
            self.expected += len(waited_for)
            title, guid = f"Report {self._count}", str(self._count)
            entries.append(ParsedEntry(guid=guid, title=title, content=" ".join(words), published=now))
        store([Document(self._source_id, entries, "https://publisher.example/", "", "en", now)])


class Fleet:
    """A beat and some workers."""

    def __init__(self, environment: Mapping[str, str], chance: random.Random) -> None:
        self._environment, self._chance = dict(environment), chance
        self._workers: list[subprocess.Popen[bytes]] = []
        self.kills = 0

    def __enter__(self) -> Self:
        self._beat = self._start("beat", "--pidfile=")
        self._workers = [self._start_worker() for _ in range(WORKERS)]
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for process in [self._beat, *self._workers]:
            process.kill()
            process.wait()

    def kill_one(self) -> None:
        """Kill a worker with SIGKILL and start another one."""
        number = self._chance.randrange(WORKERS)
        self._workers[number].send_signal(signal.SIGKILL)
        self._workers[number].wait()
        self._workers[number] = self._start_worker()
        self.kills += 1

    def _start_worker(self) -> subprocess.Popen[bytes]:
        options = ["--pool", "threads", "--concurrency", str(THREADS), "--without-gossip", "--without-mingle"]
        return self._start("worker", "-n", f"worker{time.monotonic_ns()}", *options)

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "celery", "-A", "portal", *arguments, "--loglevel", "error"]
        return subprocess.Popen(command, env=os.environ | self._environment, stdout=subprocess.DEVNULL)


def expire_back_off() -> None:
    """Make retries due now, without their back-off of up to an hour, and retry failed messages as a user can."""
    waiting = Message.objects.filter(state="waiting", lease_until=None, attempts__gt=0, due_at__gt=F("created_at"))
    waiting.update(due_at=datetime.now(UTC))
    for message in Message.objects.filter(state="failed").select_related("user"):
        retry(message.user, message.pk, now=datetime.now(UTC))


def is_done() -> bool:
    return not OutboxRow.objects.exists() and not Message.objects.filter(state__in=["waiting", "failed"]).exists()


@dataclass(frozen=True)
class Outcome:
    hits: int
    messages: int
    lost: int  # pairs of a hit and a channel without a sent message
    doubled: int  # such pairs with two messages
    repeated: int  # messages accepted twice, under the same key
    unexplained: int  # accepted but unknown messages, and sent ones that were not accepted
    delays: NDArray[np.float64]  # s, from retrieval to the first attempt of delivery


_DELIVERIES = """
SELECT hit.id, message.channel, count(*) FROM alerts_hit hit JOIN alerts_message message ON hit.id = ANY(message.hits)
WHERE message.state = 'sent' GROUP BY 1, 2
"""
_DELAYS = """
SELECT extract(epoch FROM min(attempt.at) - max(posting.retrieved_at))::float
FROM alerts_message message JOIN alerts_attempt attempt ON attempt.message_id = message.id,
    unnest(message.hits) delivered (id) JOIN alerts_hit hit ON hit.id = delivered.id
    JOIN postings_posting posting ON posting.id = hit.posting_id
WHERE message.created_at > %s GROUP BY message.id
"""


def outcome(accepted: Deliveries, since: datetime) -> Outcome:
    """Compare messages and hits; delays are those of messages created after `since`."""
    deliveries = Counter({(hit, channel): count for hit, channel, count in fetch(_DELIVERIES)})
    hits = list(Hit.objects.values_list("pk", flat=True))
    sent = {key.hex for key in Message.objects.filter(state="sent").values_list("key", flat=True)}
    return Outcome(
        len(hits),
        len(sent),
        sum(1 for hit in hits for channel in CHANNELS if not deliveries[hit, channel]),
        sum(1 for count in deliveries.values() if count > 1),
        sum(1 for count in accepted.keys.values() if count > 1),
        len(sent ^ set(accepted.keys)),
        np.array([delay for (delay,) in fetch(_DELAYS, [since])]),
    )


def attempts() -> int:
    return Attempt.objects.count()


def prepare_all() -> None:
    while actions.matching.prepare():
        pass
