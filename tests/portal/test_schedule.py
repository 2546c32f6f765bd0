"""The periodic tasks."""

import pytest
from celery.beat import Service
from celery.utils import imports
from django.db import connection

from portal.celery import app


def test_every_periodic_task_exists():
    app.loader.import_default_modules()
    assert {entry["task"] for entry in app.conf.beat_schedule.values()} <= set(app.tasks)


def test_backend_and_scheduler_are_found_without_the_metadata_of_all_packages(db, monkeypatch):
    def refuse(**_):
        raise AssertionError("which takes each process 4 MB")

    monkeypatch.setattr(imports, "entry_points", refuse)
    assert app._get_backend().app is app
    assert Service(app).get_scheduler(lazy=True).app is app


@pytest.mark.parametrize("task", app.conf["work_of_tasks"])
def test_work_is_looked_for_in_tables_that_exist_for_tasks_that_are_periodic(task, db):
    assert task in {entry["task"] for entry in app.conf.beat_schedule.values()}
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT EXISTS ({app.conf['work_of_tasks'][task]})")
        assert cursor.fetchone() == (False,)
