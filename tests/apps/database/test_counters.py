"""Durations of requests and tasks, counted by all processes together."""

import multiprocessing
import threading
import time
from collections import defaultdict

import pytest
from django.core.cache import cache
from prometheus_client.parser import text_string_to_metric_families

from apps.database import counters


@pytest.fixture(autouse=True)
def fresh():
    counters.flush()
    cache.clear()
    yield
    counters.flush()


def found(family):
    """The counts of a family by its labels and upper bounds; the sums at "sum"."""
    [metric] = [each for each in counters.metrics() if each.name == f"wirebeat_{family}"]
    counts = defaultdict(dict)
    for sample in metric.samples:
        labels = dict(sample.labels)
        bound = labels.pop("le", sample.name.rpartition("_")[2])
        counts[tuple(labels.values())][bound] = sample.value
    return counts


def test_durations_are_sorted_into_buckets_up_to_their_bounds():
    for seconds in (0.01, 0.011, 5.0, 1_000.0):
        counters.observe("http_request_seconds", ("river", "2xx"), seconds)
    counts = found("http_request_seconds")["river", "2xx"]
    assert counts["sum"] == pytest.approx(1_005.021)
    assert [counts[bound] for bound in ("0.01", "0.025", "3.0", "10.0", "+Inf", "count")] == [1, 2, 2, 3, 4, 4]


def observe_elsewhere():
    counters.observe("task_seconds", ("search.tasks.consume", "done"), 0.1)
    counters.flush()


def test_processes_add_up():
    processes = [multiprocessing.get_context("fork").Process(target=observe_elsewhere) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert found("task_seconds")["search.tasks.consume", "done"]["count"] == 3


def test_they_arrive_by_themselves(monkeypatch):
    monkeypatch.setattr(counters, "threading", threading)
    monkeypatch.setattr(counters, "FLUSH_SECONDS", 0.01)
    counters.observe("task_waiting_seconds", ("a",), 0.1)
    until = time.monotonic() + 30
    while counters._pending and time.monotonic() < until:
        time.sleep(0.01)
    while not found("task_waiting_seconds") and time.monotonic() < until:  # the thread may still be sending
        time.sleep(0.01)
    assert found("task_waiting_seconds")["a",]["count"] == 1


def test_nothing_is_lost_while_valkey_is_away(settings):
    present = settings.CACHES
    settings.CACHES = {"default": present["default"] | {"LOCATION": "redis://127.0.0.1:1/0"}}
    counters.observe("task_waiting_seconds", ("a",), 0.1)
    counters.flush()
    assert found("task_waiting_seconds") == {}
    settings.CACHES = present
    assert found("task_waiting_seconds")["a",]["count"] == 1


@pytest.mark.django_db
def test_pages_are_counted_by_view_and_status(client):
    for address in ("/", "/", "/posting/999999999/", "/no/such/page/"):
        client.get(address)
    families = {family.name: family for family in text_string_to_metric_families(client.get("/metrics").text)}
    counts = {
        (sample.labels["view"], sample.labels["status"]): sample.value
        for sample in families["wirebeat_http_request_seconds"].samples
        if sample.name.endswith("_count")
    }
    assert counts["home", "2xx"] == 2
    assert counts["posting", "4xx"] == 1
    assert len(counts) == 2
