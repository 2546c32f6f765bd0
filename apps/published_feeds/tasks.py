"""Celery tasks: each calls one action."""

from apps.jobs.actions.periodic import task_of
from apps.published_feeds import actions

announce = task_of("apps.published_feeds.tasks.announce", actions.announce_due)
forget_unused = task_of("apps.published_feeds.tasks.forget_unused", actions.forget_unused)
