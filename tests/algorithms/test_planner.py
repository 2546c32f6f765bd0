"""The planner: cheapest times at one price, against slow and obvious twins."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.retrieval.algorithms.planner.lookahead import LOSS_HOURS, Outlook, due_times_ahead, next_gaps
from apps.retrieval.algorithms.planner.price import closed_form_price, controlled_price
from apps.retrieval.algorithms.planner.rehearsal import price_for, rehearse
from tests.algorithms.outlooks import plan

STEP = 0.25  # h


def cost_of(nodes, expected, price, window=np.inf):
    """Posting-hours that everything waits, by summing over the steps one by one, and what retrievals cost."""
    total, collected, former = 0.0, 0.0, 0
    for node in nodes:
        for left in range(former, node):
            total += STEP * ((expected[left] + expected[left + 1]) / 2 - collected)
        total += price + LOSS_HOURS * max(0.0, expected[node] - collected - window)
        former, collected = node, expected[node]
    return total


def cheapest(expected, price, least, window=np.inf):
    """The cost of the best plan that ends at the last node, by the quadratic recursion as one would write it first."""
    best = [0.0] + [np.inf] * (len(expected) - 1)
    for node in range(least, len(expected)):
        for former in range(node - least + 1):
            collected = expected[former] if former else 0.0
            waited = sum(STEP * ((expected[left] + expected[left + 1]) / 2 - collected) for left in range(former, node))
            lost = LOSS_HOURS * max(0.0, expected[node] - collected - window)
            best[node] = min(best[node], best[former] + waited + price + lost)
    return best[-1]


def random_expectations(random, nodes):
    """Cumulated postings: smooth, with silences, or in spikes; sometimes with some waiting at the start."""
    counts = random.gamma(random.choice([0.05, 0.5, 5.0]), size=nodes) * (random.random(nodes) < random.uniform(0.2, 1))
    return np.concatenate(([0.0], np.cumsum(counts))) + random.choice([0.0, 1.3])


@pytest.mark.parametrize("count", [250, pytest.param(1_000, marks=pytest.mark.trial)])
def test_a_plan_is_the_exact_optimum_of_random_profiles(count):
    random = np.random.default_rng(11)
    for _ in range(count):
        expected = random_expectations(random, int(random.integers(8, 25)))
        price, least = random.gamma(1.0) * 3, int(random.integers(1, 4))
        nodes = plan(expected, STEP, price, least)
        assert cost_of(nodes, expected, price) == pytest.approx(cheapest(expected, price, least), rel=1e-9)
        assert min(np.diff([0, *nodes])) >= least


def test_no_choice_of_nodes_whatever_is_cheaper():
    random = np.random.default_rng(12)
    for _ in range(25):
        expected = random_expectations(random, 11)
        price = random.gamma(1.0)
        everything = [(*chosen, 11) for count in range(11) for chosen in combinations(range(1, 11), count)]
        least = min(cost_of(nodes, expected, price) for nodes in everything)
        assert cost_of(plan(expected, STEP, price), expected, price) == pytest.approx(least, rel=1e-9)


def test_where_gaps_lose_postings_the_plan_is_the_cheapest_with_their_loss():
    random = np.random.default_rng(13)
    for _ in range(100):
        expected = random_expectations(random, 20)
        window = random.uniform(0.2, 1) * (expected[-1] + 0.1)
        nodes = plan(expected, STEP, 2.0, window=window)
        assert cost_of(nodes, expected, 2.0, window) == pytest.approx(cheapest(expected, 2.0, 1, window), rel=1e-9)


def outlook_of(random, sources, **given):
    rates = random.gamma(0.5, size=(sources, 168)) * random.lognormal(-2, 2, (sources, 1))
    values = {
        "cumulated": np.concatenate((np.zeros((sources, 1)), np.cumsum(np.repeat(rates, 12, axis=1) / 12, axis=1)), 1),
        "now": random.random(sources) * 400,
        "waiting": random.random(sources) * (random.random(sources) < 0.3),
        "factor": random.gamma(4, 0.25, sources),
        "price": np.full(sources, 2.0),
        "least": random.choice([1 / 12, 1.0, 3.0], sources),
        "longest": np.full(sources, 24.0),
        "window": random.choice([np.inf, 10.0], sources),
    }
    return Outlook(**values | given)


def test_many_sources_at_once_get_what_each_gets_alone():
    outlook = outlook_of(np.random.default_rng(14), 60)
    alone = [due_times_ahead(outlook.part(slice(i, i + 1)))[0][0] - outlook.now[i] for i in range(60)]
    assert next_gaps(outlook) == pytest.approx(alone, abs=1e-9)


@given(st.integers(0, 10_000), st.floats(2.0, 100.0))
def test_a_greater_weight_never_means_fewer_retrievals(seed, factor):
    random = np.random.default_rng(seed)
    outlook = outlook_of(random, 6, window=np.full(6, np.inf), least=np.full(6, 1.0), waiting=np.zeros(6))
    plain, dear = rehearse(outlook), rehearse(outlook.priced(2.0, np.full(6, factor)))
    # Single times may move either way; over a week a plan on another grid may differ by a retrieval.
    assert (dear.retrievals >= 0.95 * plain.retrievals - 1 / 168).all()
    assert (dear.delay <= 1.1 * plain.delay + 1e-9).all()


def test_bounds_are_kept_even_where_they_contradict_each_other():
    outlook = outlook_of(np.random.default_rng(15), 30, least=np.full(30, 30.0), longest=np.full(30, 24.0))
    assert next_gaps(outlook) == pytest.approx(30.0)


def test_a_source_that_is_worth_nothing_or_publishes_nothing_waits_for_the_longest_gap():
    random = np.random.default_rng(16)
    worthless = outlook_of(random, 5, price=np.full(5, np.inf), waiting=np.zeros(5))
    silent = outlook_of(random, 5, cumulated=np.zeros((5, 2017)), waiting=np.zeros(5))
    assert next_gaps(worthless) == pytest.approx(24.0)
    assert next_gaps(silent) == pytest.approx(24.0)


def test_steady_sources_use_the_budget_and_wait_half_a_gap():
    flat = np.linspace(0, 168, 2017) * np.array([[0.5], [2.0], [8.0]])
    ones = np.ones(3)
    outlook = Outlook(flat, 0 * ones, 0 * ones, ones, ones, ones / 12, 168 * ones, np.inf * ones)
    price = price_for(outlook, ones, ones, 1.5)
    rehearsal = rehearse(outlook.priced(price, ones))
    assert rehearsal.retrievals.sum() == pytest.approx(1.5, rel=0.02)
    assert rehearsal.retrievals[2] / rehearsal.retrievals[0] == pytest.approx(4.0, rel=0.05)  # the root of 16
    assert rehearsal.delay / rehearsal.postings == pytest.approx(1 / rehearsal.retrievals / 2, rel=0.02)


def test_the_controller_finds_the_price_of_the_budget_and_does_not_swing():
    price, truth, used = 1.0, 16.0, []
    for _ in range(24 * 10):
        used.append(100 * (truth / price) ** 0.5)
        price = controlled_price(price, used[-1], 100.0, hours=1.0)
    assert price == pytest.approx(truth, rel=0.01)
    assert min(used) > 99


def test_the_price_moves_by_no_more_than_a_factor_of_two_in_a_day():
    price = 1.0
    for _ in range(24):
        price = controlled_price(price, used=10_000, budget=1, hours=1.0)
    assert price == pytest.approx(2.0)


def test_a_budget_of_nothing_has_no_price():
    with pytest.raises(ValueError, match="budget"):
        closed_form_price(np.ones(1), np.ones(1), 0.0)
