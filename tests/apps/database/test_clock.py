"""Whatever a machine believes the time to be, work is planned by the database's clock."""

import time
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.db import connection

from apps.database.clock import ASKED_EVERY, DatabaseClock

A_MOMENT = timedelta(seconds=5)  # on a busy machine

pytestmark = pytest.mark.django_db


def test_a_machine_whose_clock_is_wrong_knows_the_time():
    right = datetime.now(UTC)
    with time_machine.travel(right - timedelta(days=2), tick=True):
        clock = DatabaseClock()
        assert abs(clock.now() - right) < A_MOMENT
        assert abs(clock.counted() - right) < A_MOMENT


def test_the_database_is_not_asked_each_time(django_assert_num_queries):
    clock = DatabaseClock()
    with django_assert_num_queries(1):
        instants = [clock.now(), clock.counted(), clock.now()]
    assert instants == sorted(instants)


def test_the_database_is_asked_again_after_a_while(monkeypatch):
    clock = DatabaseClock()
    first = clock.now()
    counted = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: counted() + 2 * ASKED_EVERY)
    assert clock.counted() - first >= timedelta(seconds=2 * ASKED_EVERY)
    assert clock.now() - first < A_MOMENT
    assert connection.vendor == "postgresql"
