"""Each night all policies are replayed on the log of the day before."""

from datetime import timedelta

import numpy as np
import pytest
from django.urls import reverse

from apps.retrieval.actions import backtest
from apps.retrieval.actions.backtesting import MEASURED
from apps.retrieval.models import Backtest, Retrieval
from apps.retrieval.policies import all_policies
from apps.retrieval.queries.savings import bytes_saved
from apps.sources.models import Source
from tests.apps.retrieval.retrieving import DAY, HOUR, NOW, a_dated_posting
from tests.builders import a_plan, a_profile, a_retrieval, a_schedule, a_source, a_user

pytestmark = pytest.mark.django_db

END = NOW - 3 * HOUR  # of the replayed day


def a_check(source: Source, at, *, late=timedelta(), **values) -> Retrieval:
    given = {"due_at": at - late, "dispatched_at": at, "stored_at": at, "outcome": "unchanged"}
    return a_retrieval(source, fetched_at=at, **given | values)


def a_portal(clock_rate: float = 1.0, *, weeks: int = 3, checks: int = 4) -> list[Source]:
    """Two feeds that publish at nine o'clock, each by its own number, and one of which little comes."""
    a_plan()
    step, end = DAY / checks / clock_rate, NOW - 3 * HOUR / clock_rate
    sources = []
    for postings in (24, 6, 1):
        source = a_source(always_retrieved=True, clock_rate=clock_rate)
        a_schedule(source, due_at=NOW + HOUR, observed_at=NOW)
        a_profile(source)
        sources.append(source)
        for day in range(7 * weeks if postings > 1 else 7):
            nine = end - day * DAY / clock_rate - 1.5 * HOUR / clock_rate
            for number in range(postings):
                published = nine - number * HOUR / 30 / clock_rate
                a_dated_posting(source, published, retrieved_at=min(published + step, NOW))
        at = end - 2 * DAY / clock_rate + step / 2
        while at <= NOW:
            a_check(source, at, dated=1, status=200, wire_bytes=1_000)
            at += step
    return sources


@pytest.mark.parametrize("clock_rate", [pytest.param(1.0, marks=pytest.mark.trial), 60.0])
def test_every_policy_is_replayed_at_as_many_checks_as_were_made(clock_rate):
    a_portal(clock_rate)
    made = backtest(now=NOW)
    assert made == Backtest.objects.get()
    assert set(made.results) == {*all_policies(), MEASURED} - {"exhaustive"}
    assert made.sources == 3
    assert made.retrievals == pytest.approx(4)
    for name in set(made.results) - {MEASURED, "ours"}:
        assert made.results[name]["retrievals"] == pytest.approx(made.retrievals, rel=0.1), name
    assert made.results["ours"]["mean"] < made.results["uniform"]["mean"]
    assert 0 < made.results["combined"]["freshness"] < 1
    assert [sum(shares) for _sources, shares in made.patterns] == pytest.approx([1.0] * len(made.patterns), rel=0.01)
    assert sum(sources for sources, _shares in made.patterns) == 3


def test_the_measured_delay_is_that_of_the_log():
    a_plan()
    source = a_source(always_retrieved=True, weight=2)
    a_schedule(source, due_at=NOW + HOUR, observed_at=NOW)
    a_profile(source)
    for hours in range(60):
        a_dated_posting(source, END - hours * HOUR - HOUR / 2)
    for hours in range(-3, 30, 2):
        a_check(source, END - hours * HOUR, dated=1)
    measured = backtest(now=NOW).results[MEASURED]
    assert measured["mean"] == measured["weighted"] == pytest.approx(60)  # 30 and 90 minutes in turn
    # Eleven times two hours, with an hour at either end: half an hour fresh, then aging for what is left.
    assert measured["freshness"] == pytest.approx((11 * 0.5 + 0.5 + 0.5) / 24)
    assert measured["age"] == pytest.approx(60 * (11 * 1.5**2 / 2 + 0.5**2 / 2 + 0.5**2 / 2) / 24)


def test_delay_is_due_to_failures_and_lateness():
    a_plan(longest_gap=24)
    source = a_source(always_retrieved=True)
    a_schedule(source, due_at=NOW + HOUR, observed_at=NOW)
    a_profile(source)
    for hours in range(30):
        a_dated_posting(source, END - hours * HOUR - HOUR / 2)
    for hours in range(-3, 30):
        at = END - hours * HOUR
        if hours % 2:
            a_check(source, at, outcome="failed")
        else:
            a_check(source, at, dated=1, late=HOUR / 4)
    shares = backtest(now=NOW).shares
    assert shares["failures"] == pytest.approx(0.5)  # half of the postings wait an hour more, all an hour on average
    assert shares["lateness"] == pytest.approx(0.125)
    assert 0 <= shares["bounds"] <= 1 - shares["failures"] - shares["lateness"]


@pytest.fixture
def hurried(monkeypatch):
    """The time that replays may take is over after the first policy."""
    times = iter(np.arange(1e6))
    monkeypatch.setattr("apps.retrieval.actions.backtesting.MAX_CPU_SECONDS", 1e-9)
    monkeypatch.setattr("apps.retrieval.actions.backtesting.time.process_time", lambda: next(times) * 0.6e-9)


@pytest.mark.usefixtures("hurried")
def test_nothing_is_replayed_twice_or_without_a_log():
    assert backtest(now=NOW) is None
    a_portal()
    assert backtest(now=NOW)
    assert backtest(now=NOW) is None
    assert backtest(now=NOW + DAY) is None
    assert Backtest.objects.count() == 1


def test_a_large_portal_is_sampled_and_time_is_limited(hurried, monkeypatch):
    a_portal()
    monkeypatch.setattr("apps.retrieval.actions.backtesting.SAMPLE", 2)
    made = backtest(now=NOW)
    assert made.sources == 2
    assert set(made.results) == {"ours", MEASURED}


def test_savings_are_counted_against_usual_whole_answers():
    feed, other = a_source(), a_source()
    for hours in (2, 30):
        a_check(feed, NOW - hours * HOUR, status=200, wire_bytes=10_000)
    a_check(feed, NOW - HOUR, status=304, outcome="not_modified", wire_bytes=200)
    a_check(feed, NOW - HOUR, status=226, outcome="new", wire_bytes=1_500)
    a_check(feed, NOW - HOUR, outcome="pushed", wire_bytes=900)
    a_check(other, NOW - HOUR, status=304, outcome="not_modified", wire_bytes=100)  # no whole answer is known
    saved = {"received": 12_600, "conditional": 9_800, "delta": 8_500, "push": 9_100}
    assert bytes_saved(NOW - DAY, NOW, feed.pk) == saved
    assert bytes_saved(NOW - DAY, NOW) == saved | {"received": 12_700}


def test_the_page_and_the_metrics_show_the_latest_one(client):
    client.force_login(a_user(is_staff=True))
    a_portal()
    made = backtest(now=NOW)
    page = client.get(reverse("plan")).text
    assert page.count("<meter ") == len(made.results)
    assert "in use" in page
    assert "Of the measured delay" in page
    found = client.get("/metrics").text
    delay = 60 * made.results["combined"]["mean"]
    assert f'wirebeat_backtest_delay_seconds{{policy="combined"}} {delay}' in found
    assert 'wirebeat_bytes_last_day{kind="conditional"}' in found
