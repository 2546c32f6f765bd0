"""The plan: its budget, its changes, and a price that follows the retrievals really made."""

from datetime import timedelta

import pytest

from apps.retrieval import queries
from apps.retrieval.actions import change_plan, control_price, current_plan
from apps.retrieval.models import Plan
from tests.apps.retrieval.retrieving import HOUR, NOW
from tests.builders import a_retrieval, a_source

pytestmark = pytest.mark.django_db


class TestChanging:
    def test_raises_the_revision_once_per_change(self):
        first = current_plan().revision
        assert change_plan(budget=20, policy="uniform").revision == first + 1
        assert change_plan(budget=20).revision == first + 1
        plan = change_plan(unit="hour", longest_gap=48)
        assert (plan.revision, plan.budget, plan.unit, plan.longest_gap) == (first + 2, 20, "hour", 48)

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            ({"budget": 0}, "must be positive"),
            ({"budget": float("inf")}, "must be positive"),
            ({"budget": float("nan")}, "must be positive"),
            ({"policy": "random"}, "no policy 'random'"),
            ({"unit": "year"}, "not per 'year'"),
            ({"counted": "sheep"}, "counts requests or bytes"),
            ({"longest_gap": 0.5}, "between 1 and 168 hours"),
            ({"longest_gap": 200}, "between 1 and 168 hours"),
            ({"learning_days": 1}, "between 2 and 56"),
        ],
    )
    def test_refuses_invalid_values_of_a_plan(self, values, message):
        with pytest.raises(ValueError, match=message):
            change_plan(**{"budget": 5} | values)
        assert current_plan().revision == 1


@pytest.mark.parametrize(("unit", "expected"), [("source_day", 12 * 62 / 24), ("day", 0.5), ("hour", 12)])
def test_a_budget_may_be_per_source_or_for_all(unit, expected):
    for clock_rate in (1, 1, 60):
        a_source(always_retrieved=True, clock_rate=clock_rate)
    a_source()
    plan = change_plan(unit=unit, budget=12)
    assert queries.hourly_budget(plan, queries.wanted()) == pytest.approx(expected)


class TestThePrice:
    @pytest.fixture
    def plan(self) -> Plan:
        """24 retrievals a day, at a price found two hours ago."""
        a_source(always_retrieved=True)
        change_plan(budget=24)
        Plan.objects.update(price=2.0, priced_at=NOW - 2 * HOUR, changed_at=NOW - 50 * HOUR)
        return current_plan()

    @staticmethod
    def retrieved(count: int, outcome: str = "unchanged") -> None:
        source = a_source()
        for number in range(count):
            a_retrieval(source, fetched_at=NOW - number * timedelta(minutes=20), outcome=outcome)

    def test_rises_after_more_retrievals_than_planned(self, plan):
        self.retrieved(48)
        assert 2.0 < control_price(now=NOW) <= 2 * 2 ** (2 / 24) + 1e-9
        assert Plan.objects.get().priced_at == NOW

    def test_falls_after_fewer_retrievals(self, plan):
        self.retrieved(12)
        assert control_price(now=NOW) < 2.0

    def test_stays_where_the_budget_was_kept(self, plan):
        self.retrieved(24)
        assert control_price(now=NOW) == pytest.approx(2.0)

    @pytest.mark.parametrize("outcome", ["deferred", "refused"])
    def test_does_not_count_visits_that_made_no_request(self, plan, outcome):
        self.retrieved(24)
        self.retrieved(30, outcome)
        assert control_price(now=NOW) == pytest.approx(2.0)

    def test_moves_once_in_an_hour(self, plan):
        assert control_price(now=NOW)
        assert control_price(now=NOW + timedelta(minutes=10)) is None
        assert control_price(now=NOW + timedelta(minutes=61))

    def test_waits_until_a_change_of_the_plan_has_shown(self, plan):
        Plan.objects.update(changed_at=NOW - timedelta(minutes=50))
        assert control_price(now=NOW) is None
        assert control_price(now=NOW + timedelta(minutes=20))

    def test_is_left_alone_under_a_papers_policy(self, plan):
        change_plan(policy="combined")
        assert control_price(now=NOW + 9 * HOUR) is None

    def test_of_replays_follows_within_minutes(self):
        source = a_source(always_retrieved=True, clock_rate=60)
        change_plan(budget=24)
        Plan.objects.update(price=2.0, priced_at=NOW - timedelta(minutes=10), changed_at=NOW - timedelta(minutes=30))
        for minute in range(48):
            a_retrieval(source, fetched_at=NOW - minute * timedelta(seconds=30))
        assert control_price(now=NOW) > 2.0
