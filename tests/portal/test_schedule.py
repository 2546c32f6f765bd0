"""The periodic tasks."""

from portal.celery import app


def test_every_periodic_task_exists():
    app.loader.import_default_modules()
    assert {entry["task"] for entry in app.conf.beat_schedule.values()} <= set(app.tasks)
