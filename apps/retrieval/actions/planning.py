"""Plan sources: give them a schedule, take it away, ask now, and tidy up."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Q

from apps.retrieval import queries
from apps.retrieval.models import Retrieval, RobotsRules, Schedule
from apps.sources import actions as sources
from apps.sources.algorithms.addresses import partition
from apps.sources.models import Source

BEING_ASKED = "The feed is being checked at this moment."
ANNOUNCED_GAP = timedelta(minutes=1)  # of a source's own time
PLANNED = ["worker", "first_due_at", "dispatched_at", "due_at", "reason"]
NEAR = timedelta(seconds=5)  # beat looks at least this often; only nearer instants need to wake it


@dataclass(frozen=True, slots=True)
class CheckRequest:
    granted: bool  # the source is asked now
    at: datetime  # when it is asked
    reason: str


def wake_beat(instants: Collection[datetime], now: datetime) -> None:
    """Tell beat of instants nearer than its next look; NOTIFY takes a global lock at commit, hence not always."""
    if any(instant < now + NEAR for instant in instants):
        with connection.cursor() as cursor:
            cursor.execute("NOTIFY retrieval_schedule")


@transaction.atomic
def adopt_sources(source_ids: Collection[int] | None = None, *, now: datetime) -> int:
    """Give sources that somebody wants a schedule and take the others' instants away; all sources by default.

    Returns how many schedules changed.
    """
    sources.follow_sites()
    # Index pages come and go with their site.
    concerned = Q() if source_ids is None else Q(pk__in=source_ids) | Q(site__in=source_ids)
    wanted = queries.to_check().filter(concerned)
    missing = wanted.filter(schedule__isnull=True).values_list("pk", "url")
    added = Schedule.objects.bulk_create(
        [Schedule(source_id=pk, partition=partition(url), due_at=now, reason="first check") for pk, url in missing],
        ignore_conflicts=True,
        batch_size=1_000,
    )
    idle = Schedule.objects.filter(due_at__isnull=True, source__in=wanted).select_related("source")
    resumed = _plan(list(idle.select_for_update(of=("self",))), now, reason="followed again")
    concerned_schedules = Q() if source_ids is None else Q(source_id__in=source_ids) | Q(source__site__in=source_ids)
    unwanted = Schedule.objects.filter(concerned_schedules, due_at__isnull=False).exclude(source__in=wanted)
    stopped = unwanted.update(
        due_at=None, first_due_at=None, dispatched_at=None, reason="nobody follows it, or it is paused"
    )
    if added or resumed:
        wake_beat([now], now)
    return len(added) + resumed + stopped


def ask_soon(source_id: int, *, now: datetime) -> CheckRequest:
    """Ask a source now, or as soon as politeness allows."""
    return _ask(source_id, shortest_gap, queries.WISH, now)


def ask_announced(source_id: int, *, now: datetime) -> CheckRequest:
    """Ask a source whose publisher says that there is something new: now, or a minute after the latest request.

    Its own word permits it to go below the shortest gap.
    """
    return _ask(source_id, announced_gap, queries.ANNOUNCED, now)


def _ask(source_id: int, gap_of: Callable[[Source], timedelta], reason: str, now: datetime) -> CheckRequest:
    schedule = Schedule.objects.select_related("source").select_for_update(of=("self",)).filter(pk=source_id)
    with transaction.atomic():
        row = schedule.get()
        if row.source.state != Source.State.ACTIVE:
            return CheckRequest(False, now, f"The feed is {row.source.get_state_display().lower()}.")
        if row.worker or row.dispatched_at:
            return CheckRequest(True, now, BEING_ASKED)
        earliest = max(filter(None, [now, _end_of_gap(row, gap_of), row.not_before]))
        schedule.update(due_at=earliest, reason=reason)
        wake_beat([earliest], now)
    if earliest == now:
        return CheckRequest(True, now, "The feed is being checked now.")
    return CheckRequest(False, earliest, f"It was checked at {row.asked_at:%H:%M} UTC and cannot be checked again yet.")


def _end_of_gap(schedule: Schedule, gap_of: Callable[[Source], timedelta]) -> datetime | None:
    return None if schedule.asked_at is None else schedule.asked_at + gap_of(schedule.source)


def shortest_gap(source: Source) -> timedelta:
    """The shortest time between two requests to a source, whoever wishes for them."""
    seconds = settings.RETRIEVAL_MIN_GAP if source.min_gap is None else source.min_gap
    return timedelta(seconds=seconds / source.clock_rate)


def announced_gap(source: Source) -> timedelta:
    """The same where the publisher itself says that there is something new."""
    return min(shortest_gap(source), ANNOUNCED_GAP / source.clock_rate)


def _plan(schedules: list[Schedule], now: datetime, *, reason: str) -> int:
    """Make locked schedules due as soon as politeness allows."""
    for schedule in schedules:
        schedule.worker, schedule.first_due_at, schedule.dispatched_at = "", None, None
        schedule.due_at = max(filter(None, [now, _end_of_gap(schedule, shortest_gap), schedule.not_before]))
        schedule.reason = reason
    Schedule.objects.bulk_update(schedules, PLANNED, batch_size=500)
    return len(schedules)


def forget_answers(source_id: int, *, now: datetime) -> None:
    """After a change of address: what another address answered says nothing about this one."""
    url = Source.objects.values_list("url", flat=True).get(pk=source_id)
    fresh = Schedule(source_id=source_id, partition=partition(url))
    kept = {"source", "due_at", "first_due_at", "sequence", "dispatched_at", "worker", "attempts"}
    values = {
        field.name: getattr(fresh, field.name) for field in Schedule._meta.concrete_fields if field.name not in kept
    }
    Schedule.objects.filter(pk=source_id).update(**values)
    Schedule.objects.filter(pk=source_id, due_at__isnull=False).update(due_at=now, reason="its address changed")


def remember_robots(rules: Mapping[str, str], *, now: datetime) -> None:
    RobotsRules.objects.bulk_create(
        [RobotsRules(origin=origin, body=body, fetched_at=now) for origin, body in sorted(rules.items())],
        update_conflicts=True,
        unique_fields=["origin"],
        update_fields=["body", "fetched_at"],
    )


def forget_old_retrievals(*, now: datetime) -> int:
    """Drop the log's oldest rows and robots.txt files that nobody needed for a while."""
    RobotsRules.objects.filter(fetched_at__lt=now - 7 * queries.ROBOTS_KEPT).delete()
    return Retrieval.objects.filter(fetched_at__lt=now - timedelta(days=settings.RETRIEVAL_LOG_DAYS)).delete()[0]
