"""Celery tasks: each calls one action."""

from apps.jobs.actions.periodic import task_of
from apps.recommendations import actions

learn_likenesses = task_of("apps.recommendations.tasks.learn_likenesses", actions.learn_likenesses, timed=False)
measure_growth = task_of("apps.recommendations.tasks.measure_growth", actions.measure_growth)
