"""Push by publishers: how long a subscription lasts, and the postings that they deliver."""

from datetime import UTC, datetime

from django.db import transaction
from django.db.models import Min

from apps.following import queries as following
from apps.postings import actions as postings
from apps.retrieval.actions import pages
from apps.retrieval.actions.due_times import delays
from apps.retrieval.actions.replanning import replan
from apps.retrieval.models import Retrieval, Schedule
from apps.retrieval.planner.due_times import OBSERVING


def promise(source_id: int, until: datetime | None, *, now: datetime) -> None:
    """Store until when a source's publisher pushes its updates; None: no longer.

    Until then the source is checked once a day, afterwards by the plan again.
    """
    with transaction.atomic():
        row = Schedule.objects.select_for_update().filter(pk=source_id).first()
        if row is None or row.pushed_until == until:
            return
        Schedule.objects.filter(pk=source_id).update(pushed_until=until)
    goes_on = until is not None and row.pushed_until is not None and now < min(until, row.pushed_until)
    if not goes_on:
        replan([source_id], now=now)


@transaction.atomic
def store_sent(document: postings.Document, *, size: int) -> postings.Stored | None:
    """Store delivered postings (of a document of `size` bytes); None if the source is not checked.

    The document may be a part of the feed, so validators and the time of the latest observation stay: the next
    retrieval counts what was delivered in the meantime.
    """
    schedule = (
        Schedule.objects.select_related("source")
        .select_for_update(of=("self",))
        .filter(pk=document.source_id, due_at__isnull=False)
        .first()
    )
    if schedule is None:
        return None
    [stored] = postings.store([document])
    if schedule.source.full_text or following.wants_pages(document.source_id):
        pages.add_teasers(document.source_id, document.received_at, now=datetime.now(UTC))
    observations = Retrieval.objects.filter(source_id=document.source_id, outcome__in=OBSERVING)
    first = observations.aggregate(first=Min("fetched_at"))["first"]
    at = document.received_at
    waited = delays(stored, at, schedule.source.clock_rate, observed_at=schedule.observed_at, first=first)
    Retrieval.objects.create(
        source_id=document.source_id,
        due_at=at,
        dispatched_at=at,
        fetched_at=at,
        stored_at=datetime.now(UTC),
        outcome=Retrieval.Outcome.PUSHED,
        new=stored.new,
        edited=stored.edited,
        dated=len(waited),
        delay_seconds=sum(waited),
        longest_delay_seconds=max(waited, default=0.0),
        wire_bytes=size,
    )
    return stored
