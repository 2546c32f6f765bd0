"""Feeds that fall due together: what is measured of them, alone and by the commands with all processes."""

import http.client
import time
from contextlib import closing

import pytest
from django.utils.timezone import now

from apps.retrieval.actions import adopt_sources
from apps.retrieval.models import Schedule
from apps.sources.actions.editing import add_sources
from apps.sources.models import Source
from lab.benchmarks import bursts
from lab.benchmarks.lateness import WINDOW, Burst, figures, measure
from lab.management.commands.benchmark_import import losses
from lab.worlds.lines import Request
from lab.worlds.server_process import POSTINGS, feed_arrivals, fetch_all, serving_apart
from tests.builders import a_posting, a_source

runs_a_portal = pytest.mark.timeout(600)  # s, its first start and the windows in which feeds are waited for included
KEYS = ["due", "begun_p50_s", "begun_p99_s", "begun_max_s", "stored_max_s", "not_begun"]


def add(server):
    urls = [server.addresses.feed(feed.number) for feed in server.feeds]
    ids = add_sources([Source(url=url, always_retrieved=True) for url in urls])
    adopt_sources(ids, now=now())
    return dict(zip(ids, (feed.number for feed in server.feeds), strict=True))


def get(server, source, path):
    with closing(http.client.HTTPConnection("127.0.0.1", server.addresses.port, timeout=10)) as connection:
        connection.request("GET", path, headers={"Host": server.addresses.site(source).removeprefix("http://")})
        return connection.getresponse().read()


def test_a_feed_that_is_never_requested_counts_as_the_worst_case():
    burst = measure(100.0, [1, 2, 3], {1: 100.5, 2: 100.0 + 2 * WINDOW}, {1: 101.0})
    assert burst == Burst([0.5, WINDOW, WINDOW], [1.0, WINDOW, WINDOW], not_begun=2)
    found = figures([burst, Burst([0.1], [0.2], 0)], "hanging_")
    assert list(found) == [f"hanging_{key}" for key in KEYS]
    assert (found["hanging_due"], found["hanging_begun_max_s"], found["hanging_not_begun"]) == (4, WINDOW, 2)


@pytest.mark.django_db(transaction=True)
def test_without_a_worker_no_feed_is_begun(monkeypatch):
    monkeypatch.setattr(bursts, "WINDOW", 0.5)
    with serving_apart(2, seed=1) as server:
        numbers = add(server)
        bursts.settle(numbers)
        assert not Schedule.objects.filter(due_at__lte=now()).exists()
        found = bursts.burst(server, numbers)
    assert (found.not_begun, found.begun) == (2, [WINDOW, WINDOW])
    assert Schedule.objects.filter(due_at__lte=now()).count() == 2


def test_a_feed_is_begun_when_its_server_has_the_request_for_it():
    with serving_apart(2, seed=1, changes=1) as server:
        fetch_all(server, server.feeds)  # the baseline is no retrieval of the portal
        get(server, 1, "/robots.txt")
        began = time.time()
        before = get(server, 1, "/feed")
        ended = time.time()
        server.publish()
        assert get(server, 1, "/feed") != before
        requests = server.take_requests()
    arrived = feed_arrivals(requests)
    assert list(arrived) == [1]
    assert began <= arrived[1] <= ended
    assert feed_arrivals(requests, since=ended)[1] > ended, "a request before the due time begins nothing"


@pytest.mark.django_db
def test_lost_and_doubled_articles_of_an_import_are_counted():
    with serving_apart(2, seed=1) as server:
        published = server.published()
        port, source = server.addresses.port, a_source(url=server.addresses.feed(1))
        of_first = [line for line in published[1:] if line.source == 1]
        served = Request(time.time(), 1, "feed", "GET", "/feed", 200, 0, POSTINGS)
        for line in [*of_first[1:], of_first[-1]]:
            a_posting(source, guid=line.guid, url=line.link)
    # One of the first feed was served and not stored; the second feed was never fetched.
    assert losses([*published, served], port) == {"lost": 1 + POSTINGS, "doubled": 1}


@pytest.mark.trial
@runs_a_portal
def test_dispatch_is_measured_from_end_to_end(measured):
    found = measured(
        "benchmark_dispatch", "--end-to-end", "--feeds=4", "--rounds=2", "--burst=5", "--hanging=2", "--seed=3"
    )
    assert {*KEYS, *(f"hanging_{key}" for key in KEYS)} < found.keys()
    assert (found["due"], found["hanging_due"]) == (8, 3)
    assert 0 < found["begun_p50_s"] <= found["begun_p99_s"] <= found["begun_max_s"] <= found["stored_max_s"]


@pytest.mark.trial
@runs_a_portal
def test_dispatch_is_measured_without_workers(measured):
    found = measured("benchmark_dispatch", "--schedules=200", "--burst=20", "--seconds=4")
    assert (found["dispatched_in_burst"], found["expected_in_burst"]) == (20, 20)


@pytest.mark.trial
@runs_a_portal
def test_bursts_are_measured_while_the_portal_is_loaded(measured):
    found = measured("benchmark_overload", "--feeds=3", "--bursts=1", "--postings=3000", "--imports=2")
    assert {*KEYS, *(f"baseline_{key}" for key in KEYS), "changes_left", "imports_left", "jobs_left"} < found.keys()
    assert (found["due"], found["baseline_due"], found["jobs_left"]) == (3, 3, 1)


@pytest.mark.trial
@runs_a_portal
def test_an_import_through_the_web_page_is_measured(measured):
    found = measured("benchmark_import", "--feeds=2")
    assert found.keys() == {"first_s", "all_s", "cpu_s", "lost", "doubled", "baseline_fetch_s"}
    assert (found["lost"], found["doubled"]) == (0, 0)
    assert 0 < found["first_s"] <= found["all_s"]


@pytest.mark.trial
@runs_a_portal
def test_the_footprint_of_a_portal_is_measured(measured):
    found = measured("benchmark_footprint", "--seconds=1", "--settle=1", "--feeds=2")
    of_idle = {"start_s", "connections", "idle_pss_mb", "idle_cpu_percent"}
    assert found.keys() == of_idle | {"import_s", "after_import_pss_mb", "restart_s"}
    assert min(found.values()) > 0


@pytest.mark.trial
@runs_a_portal
def test_the_cost_of_a_posting_is_divided_among_processes_and_steps(measured):
    found = measured("benchmark_posting", "--feeds=2", "--new=3", "--rounds=2", "--rest=0.5")
    assert found["import_postings"] == 2 * POSTINGS
    assert min(found["cpu_ms_per_new"], found["cpu_ms_per_unchanged"], found["cpu_ms_per_same_bytes"]) > 0
    roles = [found[f"import.{role}.cpu_ms"] for role in ("retrieval", "derive", "beat", "Valkey", "Postgres")]
    assert sum(roles) == pytest.approx(found["import.cpu_ms"])
    steps = {"retrieval:_store_postings", "search.consume", "stories.consume", "summaries.consume"}
    assert min(found[f"import.step.{step}.cpu_ms"] for step in steps) > 0
