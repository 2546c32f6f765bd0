"""Days of a portal without a network and without waiting: its sources are retrieved at the very times they are due."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from apps.retrieval.actions import control_price, start, store
from apps.retrieval.http.fetching import Fetched
from apps.retrieval.http.results import Assignment, decide
from apps.retrieval.models import Plan, Schedule
from apps.retrieval.scheduler.beat import MESSAGE_SIZE
from apps.retrieval.scheduler.claims import Claim
from lab.worlds.addresses import Addresses
from lab.worlds.feed import Feed
from lab.worlds.queries import requests_made
from lab.worlds.rendering import render
from lab.worlds.server import REAL_TIME

TOGETHER = timedelta(minutes=1)  # sources due within it are stored in one transaction
SHOWN = 20  # postings per document


class VirtualDays:
    """`feeds` by the ids of their sources, which have been retrieved before; `now` moves by hours.

    The price is controlled each hour, as by beat; profiles stay as they are.
    """

    def __init__(self, feeds: Mapping[int, Feed], addresses: Addresses, now: datetime) -> None:
        self.now = now
        self._feeds = feeds
        self._addresses = addresses

    def run(self, hours: float) -> int:
        """Retrieve all that falls due in some hours; returns how many requests were made."""
        began, until = self.now, self.now + timedelta(hours=hours)
        while self.now < until:
            next_hour = min(self.now + timedelta(hours=1), until)
            while due := self._due(next_hour):
                for first in range(0, len(due), MESSAGE_SIZE):
                    self._retrieve(due[first : first + MESSAGE_SIZE])
            self.now = next_hour
            control_price(now=self.now)
        return requests_made(began, until)

    def note_change(self) -> None:
        """The plan was changed now, in virtual time: its price is controlled by what was retrieved since then."""
        Plan.objects.update(changed_at=self.now)

    def _due(self, until: datetime) -> list[Schedule]:
        waiting = Schedule.objects.filter(due_at__lt=until).order_by("due_at")
        first = waiting.first()
        return list(waiting.filter(due_at__lte=first.due_at + TOGETHER)) if first and first.due_at else []

    def _retrieve(self, schedules: list[Schedule]) -> None:
        at = {row.pk: max(row.due_at, self.now) for row in schedules if row.due_at}
        claims = [Claim(row.pk, row.sequence, at[row.pk].timestamp(), at[row.pk].timestamp()) for row in schedules]
        begun = start(claims, worker="virtual", now=max(at.values()))
        store([decide(each, self._answer(each, at[each.source_id]), jitter=0.0) for each in begun])

    def _answer(self, assignment: Assignment, at: datetime) -> Fetched:
        feed = self._feeds[assignment.source_id]
        count = feed.count_until(at.timestamp())
        etag = f'"{count}"'
        if assignment.validators.etag == etag:
            return Fetched(assignment.url, at, 304, {"etag": etag}, begun_at=at)
        body = render(feed, max(count - SHOWN, 0), count, REAL_TIME, self._addresses)
        headers = {"etag": etag, "content-type": "application/xml"}
        return Fetched(assignment.url, at, 200, headers, body, wire_bytes=len(body), begun_at=at)
