"""Work is planned by the database's clock, even where a machine's own clock is wrong."""

import time
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.db import connection

from apps.database.clock import READ_EVERY_SECONDS, DatabaseClock

A_MOMENT = timedelta(seconds=5)  # on a busy machine

pytestmark = pytest.mark.django_db


def test_a_wrong_machine_clock_is_corrected():
    right = datetime.now(UTC)
    with time_machine.travel(right - timedelta(days=2), tick=True):
        clock = DatabaseClock()
        assert abs(clock.now() - right) < A_MOMENT
        assert abs(clock.counted() - right) < A_MOMENT


def test_repeated_calls_send_one_query(django_assert_num_queries):
    clock = DatabaseClock()
    with django_assert_num_queries(1):
        times = [clock.now(), clock.counted(), clock.now()]
    assert times == sorted(times)


def test_an_old_reading_is_refreshed(monkeypatch):
    clock = DatabaseClock()
    first = clock.now()
    counted = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: counted() + 2 * READ_EVERY_SECONDS)
    assert clock.counted() - first >= timedelta(seconds=2 * READ_EVERY_SECONDS)
    assert clock.now() - first < A_MOMENT
    assert connection.vendor == "postgresql"
