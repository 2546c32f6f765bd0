"""Celery tasks."""

from apps.following import actions
from apps.following.actions.counting import join_changes as join
from apps.jobs.actions.periodic import task_of

forget_undo = task_of("apps.following.tasks.forget_undo", actions.marking.forget_undo)
advance_all = task_of("apps.following.tasks.advance_all", actions.marking.advance_all)
join_changes = task_of("apps.following.tasks.join_changes", join, timed=False)
