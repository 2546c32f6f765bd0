"""Celery tasks."""

from apps.following import actions
from apps.jobs.actions.periodic import task_of

forget_undo = task_of("apps.following.tasks.forget_undo", actions.forget_undo)
advance_all = task_of("apps.following.tasks.advance_all", actions.advance_all)
