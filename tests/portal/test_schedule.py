"""The periodic tasks."""

import pytest
from django.db import connection

from portal.celery import app


def test_every_periodic_task_exists():
    app.loader.import_default_modules()
    assert {entry["task"] for entry in app.conf.beat_schedule.values()} <= set(app.tasks)


@pytest.mark.parametrize("task", app.conf["work_of_tasks"])
def test_work_is_looked_for_in_tables_that_exist_for_tasks_that_are_periodic(task, db):
    assert task in {entry["task"] for entry in app.conf.beat_schedule.values()}
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT EXISTS ({app.conf['work_of_tasks'][task]})")
        assert cursor.fetchone() == (False,)
