"""Settings that move the plan, at a tiny size: real beat and worker move due times, and virtual days are counted."""

from datetime import UTC, datetime, timedelta

import pytest

from apps.retrieval.actions import adopt_sources
from apps.retrieval.models import Retrieval, Schedule
from lab.evaluations.retrieval.virtual_days import VirtualDays
from lab.worlds.addresses import Addresses
from lab.worlds.feed import make_feed
from tests.builders import a_source

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(300)]


@pytest.mark.trial
def test_due_times_follow_a_weight_and_the_budget_holds(measured):
    figures = measured(
        *("evaluate_knobs", "--sources", "4", "--changed", "1", "--history-days", "3"),
        *("--policies", "uniform", "allocation", "--knobs", "weight"),
    )
    assert set(figures) == {"allocation.weight.moved_s", "allocation.weight.spent_ratio"}  # the other ignores weights
    assert 0 < figures["allocation.weight.moved_s"] < 60
    assert figures["allocation.weight.spent_ratio"] == pytest.approx(1.0, abs=0.2)


def test_virtual_days_retrieve_sources_at_the_very_times_they_are_due():
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    source = a_source(always_retrieved=True)
    adopt_sources([source.pk], now=now)
    feed = make_feed(1, [(now + timedelta(hours=hour), f"Rain {hour}") for hour in range(-30, 40)])
    made = VirtualDays({source.pk: feed}, Addresses(8700, "ab"), now).run(24.0)
    log = list(Retrieval.objects.order_by("fetched_at"))
    assert made == len(log) - 1 >= 2  # the first was at the very beginning
    assert all(each.fetched_at == each.due_at for each in log)
    assert sum(each.new for each in log[1:]) == feed.count_until(log[-1].fetched_at.timestamp()) - 31
    assert Schedule.objects.get().due_at >= now + timedelta(hours=24)
