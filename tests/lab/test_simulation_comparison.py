"""Every policy under the same conditions."""

import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from apps.retrieval.algorithms.simulation.accounting import Outcome
from apps.retrieval.algorithms.simulation.comparison import Fold
from apps.retrieval.algorithms.traces import Trace
from lab.evaluations.retrieval.contenders import ContenderJob, Statistics, contenders, run
from lab.evaluations.retrieval.synthetic import synthetic_fold
from lab.plots import LINE, log_log_plot
from tests.trials import quick_every

FOLD = synthetic_fold("drift", sources=25, seed=2)
BUDGETS = (2.0, 6.0)
DEAR = ("hindsight", "oracle")  # they plan as ours does
CHEAP = [name for name in contenders() if not name.startswith("ours") and name not in DEAR]
OTHERS = quick_every(4, [name for name in CHEAP if name != "clairvoyant"])


@cache
def found(name):
    """Statistics of a policy by budget."""
    return dict(zip(BUDGETS, run(ContenderJob(FOLD, policy=name, budgets=BUDGETS)), strict=True))


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("budget", BUDGETS)
def test_every_policy_uses_the_budget(name, budget):
    assert found(name)[budget].retrievals == pytest.approx(budget, rel=0.011)  # few sources make for coarse steps


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("budget", BUDGETS)
def test_no_policy_beats_the_one_that_knows_the_future(name, budget):
    assert found("clairvoyant")[budget].mean < found(name)[budget].mean
    assert found("clairvoyant")[budget].retrievals <= budget * 1.01


@pytest.mark.parametrize("name", quick_every(2, DEAR))
def test_policies_with_known_rates_keep_the_budget_and_lose_to_the_clairvoyant(name):
    few = synthetic_fold("drift", sources=3, seed=2)
    [found], [clairvoyant] = (run(ContenderJob(few, policy=policy, budgets=(2.0,))) for policy in (name, "clairvoyant"))
    assert found.retrievals == pytest.approx(2.0, rel=0.05)
    assert clairvoyant.mean < found.mean


def test_uniform_delays_are_half_a_gap_and_never_more_than_one():
    for budget in BUDGETS:
        minutes = 24 * 60 / budget
        assert found("uniform")[budget].mean == pytest.approx(minutes / 2, rel=0.1)
        assert minutes * 0.98 < found("uniform")[budget].max <= minutes


def test_a_run_repeats_itself():
    job = ContenderJob(FOLD, policy="newsblur", budgets=(3.0,))
    assert run(job) == run(job)
    assert run(job) != run(replace(job, seed=1))


def test_statistics_are_minutes_and_shares():
    fold = Fold(Trace.of(["a", "b"], [np.arange(100.0), [0.0]]), 0.0, 42 * 24.0, weights=np.array([1.0, 4.0]))
    delays = np.arange(101) / 60
    retrieved = [np.array([100.0, 2_000.0]), np.array([252.0, 2_000.0])]
    statistics = Statistics.of(Outcome(delays, retrievals=2 * 42 * 3.0, times=retrieved), fold)
    assert (statistics.mean, statistics.median, statistics.p95, statistics.max) == pytest.approx((50, 50, 95, 100))
    assert statistics.std == pytest.approx(np.arange(101).std())
    assert (statistics.lost15, statistics.retrievals) == pytest.approx((85 / 101, 3.0))
    assert statistics.weighted == pytest.approx((49.5 * 100 + 100 * 4) / 104)
    assert statistics.freshness == pytest.approx(1 - (100 + 252) / 2 / (42 * 24))
    assert statistics.age == pytest.approx(60 * (100**2 + 252**2) / 2 / 2 / (42 * 24))


def texts(svg):
    return [element for element in ElementTree.fromstring(svg).iter() if element.tag.endswith("text")]


def test_a_plot_names_every_curve_and_no_two_names_touch():
    curves = {f"<{number}>": [(1.0, 100.0 + number), (4.0, 20.0 + number / 10)] for number in range(20)}
    names = [element for element in texts(log_log_plot("a & b", "x", "y", curves)) if element.text in curves]
    assert [element.text for element in names] == list(curves)
    heights = sorted(float(element.get("y")) for element in names)
    assert min(np.diff(heights)) >= LINE - 0.1


def test_a_plot_needs_a_point():
    with pytest.raises(ValueError, match="nothing: there is no point to plot"):
        log_log_plot("nothing", "x", "y", {"a": [(1.0, 0.0)]})
