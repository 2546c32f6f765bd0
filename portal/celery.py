"""Celery's app and the few fixed jobs of its clock. When each source is asked stands in `Schedule.due_at`."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")

app = Celery("wirebeat")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.conf.beat_schedule = {
    # New, followed, paused and deleted sources get or lose their schedule here, should the page's own call have failed.
    "adopt sources": {"task": "apps.retrieval.tasks.adopt_sources", "schedule": 60.0},
    # The log of retrievals is for people and statistics; it may not grow for ever.
    "forget old retrievals": {"task": "apps.retrieval.tasks.forget_old_retrievals", "schedule": 3600.0},
}
