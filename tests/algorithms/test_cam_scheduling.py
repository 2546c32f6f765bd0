"""Fetches on parallel processes."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.evaluations.cam.lateness import lateness, made_up_jobs
from lab.papers.scheduling import schedule

seconds = st.integers(0, 20).map(float)
jobs = st.lists(st.tuples(seconds, st.integers(1, 6).map(float), st.integers(0, 5).map(float)), min_size=1, max_size=8)


@given(jobs, st.integers(1, 4))
def test_nothing_begins_early_no_process_does_two_things_and_none_is_idle_while_something_waits(jobs, processes):
    releases, durations, weights = map(np.array, zip(*jobs, strict=True))
    planned = schedule(releases, durations, weights, processes)
    ends = planned.begins + durations
    assert (planned.begins >= releases).all()
    for process in range(processes):
        mine = np.flatnonzero(planned.processes == process)
        mine = mine[np.argsort(planned.begins[mine])]
        assert (planned.begins[mine][1:] >= ends[mine][:-1]).all()
    for moment in np.unique(np.concatenate((releases, ends))):
        waiting = ((releases <= moment) & (planned.begins > moment)).any()
        running = ((planned.begins <= moment) & (moment < ends)).sum()
        assert running == processes or not waiting


@given(jobs, st.integers(1, 3), st.sampled_from([np.inf, 60.0, 5.0]))
def test_the_job_that_begins_has_the_greatest_urgency_of_all_waiting(jobs, processes, ageing):
    releases, durations, weights = map(np.array, zip(*jobs, strict=True))
    planned = schedule(releases, durations, weights, processes, ageing=ageing)
    for job, at in enumerate(planned.begins):
        waiting = (releases <= at) & (planned.begins > at)
        urgency = weights / durations * (1 + np.maximum(at - releases, 0) / ageing)
        assert (urgency[waiting] <= urgency[job] + 1e-12).all()


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 9)), min_size=1, max_size=6))
def test_on_one_process_what_is_released_at_once_loses_least(jobs):
    durations, weights = np.array(jobs, dtype=float).T

    def cost(order):
        return weights[list(order)] @ np.cumsum(durations[list(order)])

    planned = schedule(np.zeros(len(jobs)), durations, weights, 1, ageing=np.inf)
    assert weights @ (planned.begins + durations) == pytest.approx(min(map(cost, permutations(range(len(jobs))))))


@given(st.lists(seconds, min_size=1, max_size=6), st.integers(1, 2))
def test_fetches_that_are_alike_are_taken_in_the_order_of_their_release(releases, processes):
    planned = schedule(releases, np.full(len(releases), 3.0), np.ones(len(releases)), processes)
    assert (np.diff(planned.begins[np.argsort(releases, kind="stable")]) >= 0).all()


def test_a_long_fetch_waits_only_so_long():
    short = np.arange(600.0)
    releases, durations = np.append(short, 0.0), np.append(np.ones(600), 30.0)
    starved = schedule(releases, durations, np.ones(601), 1, ageing=np.inf).begins[-1]
    assert starved == 600.0
    assert schedule(releases, durations, np.full(601, 1.0), 1, ageing=10.0).begins[-1] < starved


def test_no_process_is_refused():
    with pytest.raises(ValueError, match="at least 1 process, not 0"):
        schedule([0.0], [1.0], [1.0], 0)


def test_weights_make_what_matters_less_late_than_the_order_of_release():
    late = lateness(made_up_jobs(3_000, 0.9, 8, np.random.default_rng(2)), 8)
    assert late["weighted"].mean < late["shortest"].mean < late["earliest"].mean
    assert late["weighted_ageing"].mean < late["shortest"].mean
    assert late["earliest"].longest < late["weighted_ageing"].longest
