"""Celery tasks: each calls one action."""

import time
from typing import Any

from celery import shared_task
from django.utils.timezone import now

from apps.jobs.actions.periodic import task_of
from apps.recommendations import actions

MAX_SECONDS = 60.0  # the next message continues


learn_likenesses = task_of("apps.recommendations.tasks.learn_likenesses", actions.learn_likenesses, timed=False)
measure_growth = task_of("apps.recommendations.tasks.measure_growth", actions.measure_growth)


@shared_task
def match(**_: Any) -> None:
    """Sketch sources, then match users with them."""
    until = time.monotonic() + MAX_SECONDS
    while actions.sketch_sources(now=now()) and time.monotonic() < until:
        pass
    while time.monotonic() < until and actions.match_people(now=now()):
        pass
