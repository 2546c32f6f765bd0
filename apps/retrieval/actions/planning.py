"""Schedule sources, stop them, request checks, and delete old rows."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from apps.database.statements import execute
from apps.retrieval import queries
from apps.retrieval.models import Crawl, Retrieval, RobotsRules, Schedule
from apps.sources import actions as sources
from apps.sources.algorithms.addresses import partition
from apps.sources.models import Source

BEING_CHECKED = "The feed is being checked at this moment."
ANNOUNCED_GAP = timedelta(minutes=1)  # of a source's own time
PLANNED = ["worker", "first_due_at", "dispatched_at", "due_at", "reason"]
NEAR = timedelta(seconds=5)  # beat checks at least this often; only nearer due times need to wake it


@dataclass(frozen=True, slots=True)
class CheckRequest:
    granted: bool  # the source is checked now
    at: datetime
    reason: str


def wake_beat(due_times: Collection[datetime], now: datetime) -> None:
    """Notify beat of due times before its next check, and only of those: NOTIFY takes a global lock at commit."""
    if any(due_at < now + NEAR for due_at in due_times):
        execute("NOTIFY retrieval_schedule")


@transaction.atomic
def adopt_sources(source_ids: Collection[int] | None = None, *, now: datetime) -> int:
    """Schedule followed sources and stop the others, all by default; returns how many schedules changed."""
    sources.editing.follow_sites(source_ids)
    # Index pages are scheduled and stopped with their site.
    concerned = Q() if source_ids is None else Q(pk__in=source_ids) | Q(site__in=source_ids)
    wanted = queries.to_check().filter(concerned)
    missing = wanted.filter(schedule__isnull=True).values_list("pk", "url")
    added = Schedule.objects.bulk_create(
        [Schedule(source_id=pk, partition=partition(url), due_at=now, reason="first check") for pk, url in missing],
        ignore_conflicts=True,
        batch_size=1_000,
    )
    idle = Schedule.objects.filter(due_at__isnull=True, source__in=wanted).select_related("source")
    resumed = _resume(list(idle.select_for_update(of=("self",))), now)
    concerned_schedules = Q() if source_ids is None else Q(source_id__in=source_ids) | Q(source__site__in=source_ids)
    unwanted = Schedule.objects.filter(concerned_schedules, due_at__isnull=False).exclude(source__in=wanted)
    stopped = unwanted.update(
        due_at=None, first_due_at=None, dispatched_at=None, reason="it has no followers, or it is paused"
    )
    if added or resumed:
        wake_beat([now], now)
    return len(added) + resumed + stopped


def request_check(source_id: int, *, now: datetime) -> CheckRequest:
    """Check a source now, or as soon as politeness allows."""
    return _request_check(source_id, shortest_gap, queries.USER_REQUEST, now)


def request_announced_check(source_id: int, *, now: datetime) -> CheckRequest:
    """Check a source whose publisher announced an update: now, or a minute after the latest request.

    The announcement permits to go below the shortest gap.
    """
    return _request_check(source_id, announced_gap, queries.ANNOUNCED, now)


def _request_check(source_id: int, gap_of: Callable[[Source], timedelta], reason: str, now: datetime) -> CheckRequest:
    schedule = Schedule.objects.select_related("source").select_for_update(of=("self",)).filter(pk=source_id)
    with transaction.atomic():
        row = schedule.get()
        if row.source.state != Source.State.ACTIVE:
            return CheckRequest(False, now, f"The feed is {row.source.get_state_display().lower()}.")
        if row.worker or row.dispatched_at:
            return CheckRequest(True, now, BEING_CHECKED)
        earliest = _earliest_request(row, gap_of, now)
        schedule.update(due_at=earliest, reason=reason)
        wake_beat([earliest], now)
    if earliest == now:
        return CheckRequest(True, now, "The feed is being checked now.")
    return CheckRequest(
        False, earliest, f"It was checked at {row.requested_at:%H:%M} UTC and cannot be checked again yet."
    )


def _earliest_request(schedule: Schedule, gap_of: Callable[[Source], timedelta], now: datetime) -> datetime:
    """When politeness allows the next request."""
    end = schedule.requested_at and schedule.requested_at + gap_of(schedule.source)
    return max(filter(None, (now, end, schedule.not_before)))


def earliest_check(schedule: Schedule, now: datetime) -> datetime:
    """When politeness and the latest response allow the next request."""
    return max(filter(None, (_earliest_request(schedule, shortest_gap, now), schedule.earliest_at)))


def shortest_gap(source: Source) -> timedelta:
    """The shortest time between two requests to a source, whatever their reason."""
    seconds = settings.RETRIEVAL_MIN_GAP if source.min_gap is None else source.min_gap
    return timedelta(seconds=seconds / source.clock_rate)


def announced_gap(source: Source) -> timedelta:
    """The same after an announcement of its publisher."""
    return min(shortest_gap(source), ANNOUNCED_GAP / source.clock_rate)


def _resume(schedules: list[Schedule], now: datetime) -> int:
    """Make locked schedules due as soon as politeness allows."""
    for schedule in schedules:
        schedule.worker, schedule.first_due_at, schedule.dispatched_at = "", None, None
        schedule.due_at = _earliest_request(schedule, shortest_gap, now)
        schedule.reason = "followed again"
    Schedule.objects.bulk_update(schedules, PLANNED, batch_size=500)
    return len(schedules)


def forget_answers(source_id: int, *, now: datetime) -> None:
    """Reset the schedule state after a change of address."""
    url = Source.objects.values_list("url", flat=True).get(pk=source_id)
    fresh = Schedule(source_id=source_id, partition=partition(url))
    kept = {"source", "due_at", "first_due_at", "sequence", "dispatched_at", "worker", "attempts"}
    values = {
        field.name: getattr(fresh, field.name) for field in Schedule._meta.concrete_fields if field.name not in kept
    }
    Schedule.objects.filter(pk=source_id).update(**values)
    Schedule.objects.filter(pk=source_id, due_at__isnull=False).update(due_at=now, reason="its address changed")


def lock_sources(source_ids: Collection[int]) -> None:
    """Keep workers from storing anything of these sources until the transaction ends.

    The result of a retrieval whose source is deleted by then is dropped, as its schedule is deleted, too.
    """
    list(Schedule.objects.select_for_update().filter(pk__in=source_ids).order_by("pk").values_list("pk"))
    list(Crawl.objects.select_for_update().filter(pk__in=source_ids).order_by("pk").values_list("pk"))


def forget_validators(source_id: int) -> None:
    """Have the next response parsed even if it equals the latest, after a change of how a source is read."""
    Schedule.objects.filter(pk=source_id).update(etag="", last_modified="", body_hash=b"")


def remember_robots(rules: Mapping[str, str], *, now: datetime) -> None:
    RobotsRules.objects.bulk_create(
        [RobotsRules(origin=origin, body=body, fetched_at=now) for origin, body in sorted(rules.items())],
        update_conflicts=True,
        unique_fields=["origin"],
        update_fields=["body", "fetched_at"],
    )


def forget_old_retrievals(*, now: datetime) -> int:
    """Delete the oldest rows of the log and old robots.txt files."""
    RobotsRules.objects.filter(fetched_at__lt=now - 7 * queries.ROBOTS_KEPT).delete()
    return Retrieval.objects.filter(fetched_at__lt=now - timedelta(days=settings.RETRIEVAL_LOG_DAYS)).delete()[0]
