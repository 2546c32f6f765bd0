"""Connections of workers to Postgres: kept from task to task, and replaced when they are lost."""

from collections import deque

import psycopg
import pytest
from celery.fixups.django import DjangoWorkerFixup
from celery.signals import task_postrun, task_prerun
from django.db import InterfaceError, OperationalError, connection

from portal import celery
from portal.celery import app


def session() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return cursor.fetchone()[0]


def end(session: int) -> None:
    """As a restart of Postgres does."""
    given = connection.get_connection_params()
    own = {name: given[name] for name in ("dbname", "host", "port", "user", "password") if name in given}
    with psycopg.connect(**own) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [session])


def test_a_thread_keeps_its_connection_from_task_to_task(transactional_db):
    fixup, before = DjangoWorkerFixup(app), session()
    for _ in range(5):
        fixup.close_database()  # what Celery does before and after each task
        task_prerun.send(sender=None)
        assert session() == before


def test_a_connection_that_was_lost_costs_no_task(transactional_db):
    lost = session()
    end(lost)
    with pytest.raises((OperationalError, InterfaceError)):
        session()
    task_prerun.send(sender=None)
    assert session() != lost


def test_a_connection_that_was_lost_between_two_tasks_is_replaced_unnoticed(transactional_db):
    lost = session()
    end(lost)
    task_prerun.send(sender=None)
    assert session() != lost


def test_only_a_busy_thread_keeps_its_session(transactional_db, monkeypatch):
    monkeypatch.delattr(celery._of_thread, "ended_at", raising=False)
    for _ in range(celery.BUSY_TASKS - 1):
        session()
        task_postrun.send(sender=None)
        assert connection.connection is None
    kept = session()
    for _ in range(2):
        task_postrun.send(sender=None)  # soon after the others
        assert session() == kept
    rarely = (-celery.RARE_SECONDS * number for number in reversed(range(celery.BUSY_TASKS)))
    monkeypatch.setattr(celery._of_thread, "ended_at", deque(rarely, maxlen=celery.BUSY_TASKS))
    task_postrun.send(sender=None)
    assert connection.connection is None
