"""Reads of jobs: open work, progress, and durations of earlier jobs."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from django.db.models import Count, DurationField, ExpressionWrapper, F, Q, QuerySet, Sum
from django.db.models.functions import Now

from apps.jobs.models import Attempt, Emitted, Job, Split

_TOOK = ExpressionWrapper(F("ended_at") - F("begun_at"), output_field=DurationField())
_AGE = ExpressionWrapper(Now() - F("begun_at"), output_field=DurationField())


def everything() -> QuerySet[Job]:
    """All jobs, the newest first."""
    return Job.objects.order_by("-pk")


def job(job_id: int) -> Job | None:
    return Job.objects.filter(pk=job_id).first()


def unfinished() -> list[Job]:
    return list(Job.objects.filter(state__in=Job.UNFINISHED).order_by("pk"))


def counts_by_state(jobs: Sequence[Job]) -> dict[str, int]:
    return dict.fromkeys(Job.UNFINISHED, 0) | Counter(job.state for job in jobs)


def active_ids() -> list[int]:
    """Jobs that are neither paused nor ended, the oldest first."""
    return list(Job.objects.filter(state__in=Job.ACTIVE).order_by("pk").values_list("pk", flat=True))


def open_splits(most: int) -> int:
    """The number of splits that a worker could begin now, up to `most`."""
    found = Split.objects.filter(open=True, job__state__in=Job.ACTIVE, stage=F("job__stage"))
    return len(found.values_list("pk", flat=True)[:most])


def emitted_by_part(job: Job) -> list[tuple[int, int]]:
    """The number of emitted values of each part."""
    rows = Emitted.objects.filter(job=job).order_by("part").values("part").annotate(count=Count("pk"))
    return list(rows.values_list("part", "count"))


def emitted(job_id: int, part: int) -> Iterator[tuple[str, list[Any]]]:
    """The values of each key of a part, from all splits."""
    rows = Emitted.objects.filter(job=job_id, part=part).order_by("key", "pk").values_list("key", "value")
    for key, pairs in groupby(rows.iterator(), key=itemgetter(0)):
        yield key, [value for _, value in pairs]


# --- progress ---------------------------------------------------------------------------------------------------------
class Progress(NamedTuple):
    """Of a job's present stage."""

    splits: int
    done: int
    dead: int
    records: int
    records_done: int
    workers: int  # attempts that hold a lease
    seconds_left: float | None  # estimated for the present number of workers; None while unknown

    @property
    def share(self) -> float:
        """Done, 0 to 1."""
        if self.records:
            return self.records_done / self.records
        return self.done / self.splits if self.splits else 0.0


def progress(jobs: Sequence[Job]) -> dict[int, Progress]:
    """Progress of jobs by id. Two queries, and another for each that runs."""
    ids = [each.pk for each in jobs]
    of_stage = Split.objects.filter(job__in=ids, stage=F("job__stage"))
    is_done = Q(state=Split.State.DONE)
    rows = (
        of_stage.order_by()
        .values("job")
        .annotate(
            splits=Count("pk"),
            done=Count("pk", filter=is_done),
            dead=Count("pk", filter=Q(state=Split.State.DEAD)),
            records_in_all=Sum("records"),
            records_done=Sum("records", filter=is_done, default=0),
            size_left=Sum("size", filter=~is_done, default=0.0),
            seconds_left=Sum("estimate", filter=~is_done),
        )
    )
    found = {row["job"]: row for row in rows}
    working = Attempt.objects.filter(split__job__in=ids, outcome="").order_by()
    workers = Counter(working.values_list("split__job", flat=True))
    return {each.pk: _progress(each, found.get(each.pk), workers[each.pk]) for each in jobs}


def _progress(job: Job, row: Mapping[str, Any] | None, workers: int) -> Progress:
    if row is None:
        return Progress(0, 0, 0, 0, 0, workers, None)
    counts = {name: row[name] for name in ("splits", "done", "dead", "records_done")}
    left = _seconds_left(job, row, workers)
    return Progress(**counts, records=row["records_in_all"], workers=workers, seconds_left=left)


def _seconds_left(job: Job, row: Mapping[str, Any], workers: int) -> float | None:
    if job.state not in Job.UNFINISHED:
        return None
    seconds = row["seconds_left"]
    if seconds is None and (per_size := seconds_per_size(job)) is not None:
        seconds = per_size * row["size_left"]
    return None if seconds is None else seconds / max(workers, 1)


def troubled_splits(job_id: int) -> list[Split]:
    """Splits that failed or were lost, with their attempts; those with most failures first."""
    bad = Split.objects.filter(Q(failures__gt=0) | Q(losses__gt=0) | Q(state=Split.State.DEAD), job_id=job_id)
    return list(bad.prefetch_related("attempts").order_by("-failures", "-losses", "pk")[:50])


def running(job_id: int) -> list[Attempt]:
    """Running attempts, the longest first."""
    found = Attempt.objects.filter(split__job_id=job_id, outcome="").select_related("split")
    return list(found.order_by("begun_at")[:100])


# --- durations --------------------------------------------------------------------------------------------------------
def claimed_in_rounds(kind: str, stage: str, rounds: int, most: int) -> list[list[Any]]:
    """Rows of `key`, `size` and `took`: durations of the splits of the latest jobs of a kind, the oldest job first."""
    counted = Attempt.objects.filter(outcome=Attempt.Outcome.DONE)
    jobs = Job.objects.filter(kind=kind, splits__stage=stage, splits__attempts__in=counted).distinct()
    rows = counted.annotate(key=F("split__key"), size=F("split__size"), took=_TOOK).order_by("-pk")
    return [
        list(rows.filter(split__job=job, split__stage=stage).values_list("key", "size", "took", named=True)[:most])
        for job in list(jobs.order_by("-pk")[:rounds])[::-1]
    ]


def recorded_times() -> Iterator[dict[str, Any]]:
    """Durations of the splits of all jobs, the earliest first, as `benchmark_split` reads them."""
    rows = Attempt.objects.filter(outcome=Attempt.Outcome.DONE).annotate(took=_TOOK).order_by("ended_at", "pk")
    values = rows.values(host=F("split__key"), kind=F("split__job__kind"), size=F("split__size"), seconds=F("took"))
    for row in values.iterator():
        yield row | {"seconds": row["seconds"].total_seconds()}


def seconds_per_size(job: Job) -> float | None:
    """Seconds per unit of size in the job's present stage so far."""
    done = Attempt.objects.filter(split__job=job, split__stage=job.stage, outcome=Attempt.Outcome.DONE)
    sums = done.aggregate(took=Sum(_TOOK), size=Sum("split__size"))
    return sums["took"].total_seconds() / sums["size"] if sums["took"] and sums["size"] else None


def length_of(split: Split, per_size: float | None) -> float | None:
    """The estimated seconds of a split."""
    return split.estimate if split.estimate is not None else per_size and per_size * split.size


def ages_of_single_attempts(job: Job, max_failures: int) -> list[tuple[Split, float]]:
    """Closed splits with one running attempt and few failures, with the seconds since it began."""
    alone = Split.objects.filter(job=job, stage=job.stage, open=False, failures__lt=max_failures)
    rows = (
        Attempt.objects.filter(outcome="", split__in=alone)
        .annotate(age=_AGE, others=Count("split__attempts", filter=Q(split__attempts__outcome="")))
        .filter(others=1)
        .select_related("split")
    )
    return [(row.split, row.age.total_seconds()) for row in rows]
