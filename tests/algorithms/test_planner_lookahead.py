"""The coming times of a source: against the quadratic programme, one source against many at once."""

from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.retrieval.algorithms.exact import optimal_times_on_grid
from apps.retrieval.algorithms.planner import lookahead
from apps.retrieval.algorithms.planner.lookahead import LOSS_HOURS, Outlook, due_times_ahead, next_gaps, usual_gap
from apps.retrieval.algorithms.profiles import Profile
from apps.retrieval.algorithms.sia.metrics import expected_delay
from tests.algorithms.outlooks import plan, random_outlook

# h; no time is surer than the step of its grid
FINEST_STEP, COARSEST_STEP = 1.5 * lookahead.LEAST_STEP, lookahead.LONGEST_STEP + 1e-9


def hop_costs(expected, step, price, window=np.inf):
    """[a, b]: what a retrieval at node b costs after one at node a, shape (n, n).

    Every step's postings wait from then to b, those of the step itself for half of it, and what is waiting at node 0
    waits all the time.
    """
    nodes = len(expected)
    costs = np.full((nodes, nodes), np.inf)
    counts = np.diff(expected)
    for a in range(nodes):
        already = expected[0] if a == 0 else 0.0
        for b in range(a + 1, nodes):
            hours_left = (b - np.arange(a, b) - 0.5) * step
            waited = already * (b - a) * step + float(counts[a:b] @ hours_left)
            new = expected[b] - expected[a] + already
            costs[a, b] = price + waited + LOSS_HOURS * max(new - window, 0.0)
    return costs


def cheapest(costs, least):
    """The cost of the best way from the first to the last node, each hop of `least` nodes or more."""
    best = [0.0] + [np.inf] * (len(costs) - 1)
    for node in range(least, len(costs)):
        best[node] = min(best[former] + costs[former, node] for former in range(node - least + 1))
    return best[-1]


def cost_along(costs, nodes):
    return sum(costs[a, b] for a, b in zip([0, *nodes], nodes, strict=False))


def random_expectations(random, nodes):
    """Postings cumulated to each node: smooth, with silent stretches, or in spikes; or some are waiting already."""
    kind = random.integers(3)
    if kind == 0:
        counts = 1 + np.sin(np.arange(nodes) / nodes * random.uniform(3, 30) + random.uniform(0, 6))
    elif kind == 1:
        counts = random.gamma(0.5, size=nodes) * (random.random(nodes) < 0.4)
    else:
        counts = 0.01 + 5.0 * (random.random(nodes) < 0.1)
    waiting = random.choice([0.0, 0.0, 0.7, 5.0])
    return waiting + np.append(0.0, np.cumsum(counts * random.lognormal(-1, 1)))


def assert_cheapest(expected, step, price, least, window=np.inf):
    nodes = plan(expected, step, price, least, window=window)
    costs = hop_costs(expected, step, price, window)
    assert min(np.diff([0, *nodes])) >= least
    assert nodes[-1] == len(expected) - 1
    assert cost_along(costs, nodes) == pytest.approx(cheapest(costs, least), rel=1e-9)


@pytest.mark.parametrize("count", [100, pytest.param(500, marks=pytest.mark.trial)])
@pytest.mark.parametrize("least", [1, 3])
def test_a_plan_is_as_cheap_as_that_of_the_quadratic_programme_on_random_profiles(least, count):
    random = np.random.default_rng(21)
    for _ in range(count):
        expected = random_expectations(random, int(random.integers(least, 33)))
        assert_cheapest(expected, random.choice([1 / 60, 0.25, 1.5]), random.lognormal(0, 2), least)


@given(
    st.lists(st.sampled_from([0.0, 0.0, 0.01, 0.5, 1.0, 40.0]), min_size=3, max_size=24),
    st.sampled_from([0.0, 1e-6, 0.3, 30.0]),
    st.floats(1e-4, 1e4),
    st.integers(1, 3),
)
def test_a_plan_is_as_cheap_as_that_of_the_quadratic_programme(counts, waiting, price, least):
    assert_cheapest(waiting + np.append(0.0, np.cumsum(counts)), 0.5, price, least)


def test_no_subset_of_the_nodes_is_cheaper():
    random = np.random.default_rng(22)
    for _ in range(20):
        expected = random_expectations(random, 11)
        price = random.lognormal(0, 1)
        costs = hop_costs(expected, 0.5, price)
        subsets = [(*chosen, 11) for size in range(11) for chosen in combinations(range(1, 11), size)]
        nodes = plan(expected, 0.5, price)
        assert cost_along(costs, nodes) == pytest.approx(min(cost_along(costs, each) for each in subsets), rel=1e-9)


@pytest.mark.parametrize("least", [1, 3])
def test_a_plan_that_counts_lost_postings_is_as_cheap_as_the_quadratic_programme_that_does(least):
    random = np.random.default_rng(23)
    lossy = 0
    for _ in range(100):
        expected = random_expectations(random, int(random.integers(6, 25)))
        window = random.uniform(0.05, 1.2) * expected[-1] + 0.01
        lossy += expected[-1] > window
        assert_cheapest(expected, 0.25, random.lognormal(1, 1), least, window)
    assert lossy > 50


def test_a_short_window_is_retrieved_before_it_overflows():
    steady = np.arange(25.0)  # a posting an hour; at the price alone it is retrieved once a day
    assert len(plan(steady, 1.0, 500.0)) == 1
    assert max(np.diff([0, *plan(steady, 1.0, 20.0, window=4.0)])) <= 5


def test_a_plan_over_many_days_costs_a_day_what_the_best_schedule_of_a_day_costs():
    """The price programme and the programme for a given number of retrievals were written apart."""
    random = np.random.default_rng(30)
    for _ in range(25):
        day = Profile(random.gamma(0.6, size=24) * (random.random(24) < 0.8) + 0.02, 24.0)
        usual = random.uniform(1, 6)
        price = day.total * 24 / 2 / usual**2
        by_number = min(
            expected_delay(day, optimal_times_on_grid(day, count, 48)) + count * price
            for count in range(1, int(usual) + 4)
        )
        # Where the count of a day would be a fraction, days differ: a little cheaper. The ends cost a little more.
        assert (cost_of_days(day, price, 40) - cost_of_days(day, price, 8)) / 32 == pytest.approx(by_number, rel=0.05)
        assert (cost_of_days(day, price, 40) - cost_of_days(day, price, 8)) / 32 <= by_number * 1.005


def cost_of_days(day, price, count):
    expected = day.expected(np.arange(48 * count + 1) / 2)
    path = np.array([0, *plan(expected, 0.5, price)])
    hops = pairwise(path)
    return sum(price + np.trapezoid(expected[a : b + 1] - expected[a], dx=0.5) for a, b in hops)


@given(st.integers(0, 100_000), st.booleans())
def test_many_sources_at_once_get_what_each_gets_alone(seed, windows):
    random = np.random.default_rng(seed)
    outlook = random_outlook(random, 8, window=random.choice([3.0, 20.0, np.inf], 8) if windows else np.inf)
    alone = [due_times_ahead(outlook.part(slice(i, i + 1)))[0] for i in range(8)]
    assert due_times_ahead(outlook) == alone
    assert next_gaps(outlook) == pytest.approx([times[0] for times in alone] - outlook.now, abs=1e-9)


def test_more_sources_than_are_planned_at_once_are_planned_alike(monkeypatch):
    outlook = random_outlook(np.random.default_rng(24), 40)
    together = next_gaps(outlook)
    monkeypatch.setattr(lookahead, "BATCH", 7)
    assert next_gaps(outlook) == pytest.approx(together, abs=1e-9)


def test_no_sources_have_no_gaps():
    assert next_gaps(random_outlook(np.random.default_rng(25), 4).part(slice(0, 0))).shape == (0,)


@given(st.integers(0, 100_000))
def test_the_coming_due_times_keep_their_bounds(seed):
    outlook = random_outlook(np.random.default_rng(seed), 4)
    for i in range(4):
        times = due_times_ahead(outlook.part(slice(i, i + 1)))[0]
        gaps = np.diff([outlook.now[i], *times])
        assert gaps.min() >= outlook.least[i] - 1e-6
        assert gaps[0] <= max(outlook.longest[i], outlook.least[i]) + 1e-6


def test_a_least_gap_above_the_usual_one_is_the_gap():
    flat = flat_outlook(rate=100.0, price=1.0, least=3.0)
    assert next_gaps(flat) == pytest.approx(3.0)
    assert np.diff(due_times_ahead(flat)[0][:3]) == pytest.approx([3.0, 3.0])


def test_a_longest_gap_below_the_usual_one_is_the_gap():
    assert next_gaps(flat_outlook(rate=0.01, price=50.0, longest=6.0)) == pytest.approx(6.0)


@pytest.mark.parametrize("rate", [0.0, 1e-9])
@pytest.mark.parametrize("price", [0.5, np.inf])
def test_a_source_that_publishes_nothing_waits_as_long_as_it_may(rate, price):
    assert next_gaps(flat_outlook(rate=rate, price=price)) == pytest.approx(48.0)


def test_a_source_that_is_worth_nothing_waits_as_long_as_it_may():
    outlook = random_outlook(np.random.default_rng(26), 12, price=np.inf, waiting=0.0)
    assert next_gaps(outlook) == pytest.approx(np.maximum(outlook.longest, outlook.least))


def flat_outlook(rate, price, *, least=1 / 12, longest=48.0, waiting=0.0):
    one = np.ones(1)
    cumulated = rate * np.linspace(0, 168, 2017)[None]
    return Outlook(cumulated, 5 * one, waiting * one, one, price * one, least * one, longest * one, np.inf * one)


@given(st.floats(0.05, 20.0), st.floats(0.5, 20.0), st.floats(1.2, 20.0))
def test_the_gap_of_a_steady_source_is_the_root_of_twice_the_price_by_its_rate(rate, price, factor):
    outlook = flat_outlook(rate, price)
    best = usual_gap(np.array([rate]), np.array([price]), outlook.least, outlook.longest)
    assert next_gaps(outlook) == pytest.approx(best, rel=0.02, abs=FINEST_STEP)
    dear = next_gaps(flat_outlook(rate, price * factor))
    assert dear >= next_gaps(outlook) * 0.98 - FINEST_STEP
    assert next_gaps(outlook.priced(price, np.array([factor]))) <= next_gaps(outlook) * 1.02 + FINEST_STEP


def test_over_many_sources_a_higher_price_or_a_lower_weight_delays_retrievals():
    """Not each for itself: the next time may come sooner so that the one after it falls better."""
    outlook = random_outlook(np.random.default_rng(27), 200, waiting=0.0, least=1 / 12, longest=168.0)
    means = [next_gaps(outlook.priced(price, np.ones(200))).mean() for price in 0.25 * 4.0 ** np.arange(5)]
    assert (np.diff(means) > 0).all()
    worth = [next_gaps(outlook.priced(1.0, np.full(200, weight))).mean() for weight in (0.25, 1.0, 4.0)]
    assert (np.diff(worth) < 0).all()


@given(st.floats(0.05, 5.0), st.floats(0.5, 20.0), st.floats(0.01, 50.0))
def test_a_steady_source_with_something_waiting_is_retrieved_sooner(rate, price, waiting):
    usual = next_gaps(flat_outlook(rate, price))[0]
    sooner = next_gaps(flat_outlook(rate, price, waiting=waiting))[0]
    assert sooner <= usual * 1.02 + FINEST_STEP
    if waiting > rate * usual:
        assert sooner < usual * 0.98 or usual < 5 * FINEST_STEP


def test_sources_with_many_waiting_postings_have_the_least_gap():
    outlook = random_outlook(np.random.default_rng(28), 40, waiting=1e6, longest=168.0)
    assert next_gaps(outlook) == pytest.approx(outlook.least, abs=COARSEST_STEP)


def test_the_week_repeats_forever():
    outlook = random_outlook(np.random.default_rng(31), 100)
    assert next_gaps(replace(outlook, now=outlook.now + 168 * 52)) == pytest.approx(next_gaps(outlook), abs=1e-6)


def test_the_expected_delay_of_a_gap_is_the_area_under_what_piles_up():
    outlook = random_outlook(np.random.default_rng(29), 20)
    gaps = next_gaps(outlook)
    fine = np.linspace(0, 1, 20_001)[:, None] * gaps
    piled = outlook.waiting + outlook.factor * (
        outlook.expected(outlook.now + fine) - outlook.expected(outlook.now[None])
    )
    area = np.trapezoid(piled, dx=1 / 20_000, axis=0) * gaps
    assert outlook.expected_delay(gaps) == pytest.approx(area, rel=0.02)
