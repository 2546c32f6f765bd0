"""The cost of planning one source after its retrieval, or all after a change of the plan; and its accuracy."""

import json as json_format
import os
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import numpy as np
from django.conf import settings
from django.core.management.base import CommandError
from django.db import connection
from numpy.typing import NDArray

from apps.retrieval import actions
from apps.retrieval.algorithms.calendar import WEEK
from apps.retrieval.algorithms.planner.activity import Activity
from apps.retrieval.algorithms.planner.lookahead import LOSS_HOURS, NODES, cheapest_plans, path
from apps.retrieval.algorithms.planner.price import root_mass
from apps.retrieval.algorithms.weekly_profiles.learning import (
    WeeklyProfiles,
    five_minute_rates,
    learn_priors,
    learn_profiles,
    pack_hourly,
    pack_minutes,
)
from apps.retrieval.models import Plan, Schedule
from apps.retrieval.planner.due_times import Retrieved, Terms, after_retrievals
from apps.retrieval.planner.state import ScheduleState
from apps.retrieval.scheduler.beat import MESSAGE_SIZE
from lab.evaluations.retrieval.synthetic import generate
from lab.harness import LabCommand

FloatArray = NDArray[np.float64]

WEEKS = 8  # of history
DISTINCT_PROFILES = 2_000
PROFILES = 1_000  # on which the planner is compared with the plain programme

FILL = """
INSERT INTO sources_source (url, kind, state, title, site_url, description, language, category, image_url, weight,
    interest, listed, always_retrieved, clock_rate, full_text, stop_regex, recipe)
SELECT 'http://source' || n || '.example/feed', 'feed', 'active', '', '', '', '', '', '', exp(random() - 0.5), 1,
    false, true, 1, false, '', '{}'
FROM generate_series(1, %(sources)s) n;
INSERT INTO retrieval_schedule (source_id, partition, due_at, sequence, worker, reason, etag, last_modified, body_hash,
    consecutive_failures, slowdown, validated, moved_to, moved_count, skip_hours, skip_days, ahead, worth, observed_at,
    earliest_at, activity_seen, activity_expected, hub_url, topic_url)
SELECT id, id %% 64, now() + random() * interval '1 hour', 1, '', '', '', '', '', 0, 1, true, '', 0, 0, 0, '{}', weight,
    now() - interval '1 hour', now(), 10 + 20 * random(), 10 + 20 * random(), '', ''
FROM sources_source;
INSERT INTO retrieval_weeklyprofile (source_id, hourly, minutes, weekly, root_mass, utc_offset, "window", timetable,
    period, chances, learned_at)
SELECT source.id, hourly, minutes, weekly, root_mass, utc_offset, 15 + source.id %% 50, '', 0, '', now()
FROM (SELECT id, row_number() OVER (ORDER BY id) - 1 AS number FROM sources_source) source
JOIN unnest(%(hourly)s::bytea[], %(minutes)s::bytea[], %(weekly)s::float8[], %(root_mass)s::float8[],
    %(utc_offset)s::int2[]) WITH ORDINALITY profile(hourly, minutes, weekly, root_mass, utc_offset, place)
    ON place - 1 = source.number %% %(profiles)s;
ANALYZE;
"""
# Prints how many were planned, and the CPU seconds until all due times had moved, before their price is rehearsed.
REPLAN = """
import django
django.setup()
import time
from datetime import UTC, datetime
from apps.retrieval.actions import replanning
rehearse, moved = replanning.rehearse_price, []
def rehearse_later(**given):
    moved.append(time.process_time())
    return rehearse(**given)
replanning.rehearse_price = rehearse_later
print([replanning.replan_changed(now=datetime.now(UTC)), *moved])
"""


class Command(LabCommand):
    help = "Measure the CPU of planning one retrieval and of pricing and planning all sources, and the planner's gap."
    fills_database = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--sources", type=int, default=100_000)

    def measure(self, *args: Any, sources: int, **options: Any) -> Mapping[str, float]:
        random = np.random.default_rng(1)
        figures = {"gap_max": gap_max(random)}
        with self.console.status(f"making {sources:,} sources"):
            profiles = some_profiles(min(sources, DISTINCT_PROFILES), random)
            figures["ms_per_retrieval"] = ms_per_retrieval(profiles, random, at_once=MESSAGE_SIZE)
            figures["ms_per_retrieval_alone"] = ms_per_retrieval(profiles, random, at_once=1)
            fill(profiles, sources, random)
        with self.console.status("pricing and planning all of them"):
            figures |= self._replan(sources)
        self.show(f"Planning, {sources:,} sources", figures, "{:.4g}")
        return figures

    def _replan(self, sources: int) -> dict[str, float]:
        """Change the budget, and let a process of its own follow."""
        actions.change_plan(budget=8.0)
        before = datetime.now(UTC)
        process = subprocess.Popen(
            [sys.executable, "-c", REPLAN],
            cwd=settings.BASE_DIR,
            env=os.environ | {"DJANGO_SETTINGS_MODULE": "portal.settings"},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout
        planned, moved = json_format.loads(process.stdout.read().splitlines()[-1])
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode or planned != sources:
            raise CommandError(f"{planned} of {sources} sources were planned, exit code {process.returncode}")
        gaps = [
            (due - observed) / timedelta(hours=1)
            for due, observed in Schedule.objects.values_list("due_at", "observed_at")[:: max(1, sources // 10_000)]
            if due and observed
        ]
        return {
            "due_times_100k_cpu_s": moved * 100_000 / sources,
            "replan_100k_cpu_s": (usage.ru_utime + usage.ru_stime) * 100_000 / sources,
            "replan_100k_rss_mb": usage.ru_maxrss / 1024,
            "replan_100k_wall_s": (datetime.now(UTC) - before).total_seconds() * 100_000 / sources,
            "price": Plan.objects.get().price or 0.0,
            "median_gap_hours": float(np.median(gaps)),
        }


def some_profiles(count: int, random: np.random.Generator) -> WeeklyProfiles:
    """Profiles learnt from made-up sources."""
    trace, _ = generate("drift", sources=count, weeks=WEEKS)
    now = WEEKS * WEEK
    return learn_profiles(trace, now, learn_priors(trace, now, random=random))


def fill(profiles: WeeklyProfiles, sources: int, random: np.random.Generator) -> None:
    """Add sources that have just been retrieved; some share a profile."""
    masses = root_mass(five_minute_rates(profiles.hourly, profiles.minutes), WEEK)
    values = {
        "sources": sources,
        "profiles": len(profiles.hourly),
        "hourly": [pack_hourly(hourly) for hourly in profiles.hourly],
        "minutes": [pack_minutes(minutes) for minutes in profiles.minutes],
        "weekly": profiles.hourly.sum(axis=1).tolist(),
        "root_mass": masses.tolist(),
        "utc_offset": (60 * random.integers(-8, 10, len(profiles.hourly))).tolist(),
    }
    with connection.cursor() as cursor:
        cursor.execute(FILL, values)


def ms_per_retrieval(profiles: WeeklyProfiles, random: np.random.Generator, *, at_once: int) -> float:
    """Mean CPU time to plan a source from its rows, in batches as `store` does."""
    now = datetime.now(UTC)
    packed = [
        (pack_hourly(hourly), pack_minutes(minutes))
        for hourly, minutes in zip(profiles.hourly, profiles.minutes, strict=True)
    ]
    seen = random.integers(0, 3, len(packed)).tolist()
    began = time.process_time()
    for start in range(0, len(packed), at_once):
        part = slice(start, start + at_once)
        retrieved = [
            Retrieved(just_retrieved(*profile, now), now, now + timedelta(hours=1), observed=True, seen=count)
            for profile, count in zip(packed[part], seen[part], strict=True)
        ]
        after_retrievals(retrieved, Terms(price=0.5, longest=24.0))
    return 1_000 * (time.process_time() - began) / len(packed)


def just_retrieved(hourly: bytes, minutes: bytes, now: datetime) -> ScheduleState:
    return ScheduleState(
        source_id=1,
        clock_rate=1.0,
        min_gap=3_600.0,
        worth=1.0,
        observed_at=now - timedelta(hours=2),
        earliest_at=now - timedelta(hours=1),
        activity=Activity(),
        hourly=hourly,
        minutes=minutes,
        root_mass=1.0,
        utc_offset=60,
        window=20,
        timetable=b"",
        period=0.0,
        chances=b"",
        kind="feed",
        pushed_until=None,
    )


def gap_max(random: np.random.Generator) -> float:
    """The worst relative excess of the planner's cost over that of a plain quadratic programme, on the same grid."""
    worst = 0.0
    for _ in range(PROFILES):
        expected = np.cumsum(random.gamma(random.uniform(0.1, 2), size=NODES + 1) * (random.random(NODES + 1) < 0.7))
        expected = expected - expected[0] * (random.random() < 0.5)  # else some are waiting already
        step, price = random.uniform(0.02, 1.5), random.gamma(1.0) * 20
        least, window = int(random.integers(1, 13)), random.choice([np.inf, 5.0, 30.0])
        values = (np.array([value]) for value in (step, price, least, window))
        _, _, former = cheapest_plans(expected[:, None], *values)
        nodes = path(former[:, 0].tolist())
        best = plain_programme(expected, step, price, least, window)
        worst = max(worst, cost_of([0, *nodes], expected, step, price, window) / best - 1)
    return worst


def cost_of(nodes: list[int], expected: FloatArray, step: float, price: float, window: float) -> float:
    """The cost of retrievals at nodes of a grid: posting-hours of delay, prices, and lost postings."""
    total = 0.0
    for begin, end in pairwise(nodes):
        # Postings that wait at node 0 were not collected there: they wait until the first retrieval.
        collected = expected[begin : end + 1] - (expected[begin] if begin else 0.0)
        total += float(np.trapezoid(collected, dx=step)) + price + LOSS_HOURS * max(float(collected[-1]) - window, 0.0)
    return total


def plain_programme(expected: FloatArray, step: float, price: float, least: int, window: float) -> float:
    """The cost of the cheapest retrievals at nodes at least `least` apart, the last one at the grid's end."""
    best = np.full(len(expected), np.inf)
    best[0] = 0.0
    for end in range(least, len(expected)):
        for begin in range(end - least + 1):
            if np.isfinite(best[begin]):
                best[end] = min(best[end], best[begin] + cost_of([begin, end], expected, step, price, window))
    return float(best[-1])
