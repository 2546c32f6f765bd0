"""Every task in one split, and no split much longer than it must be."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.benchmarks.splitting.comparison import RESULTS, Scheme, compared, expected_by_tetea, expected_by_us
from lab.benchmarks.splitting.makespan import lower_bound, outcome
from lab.benchmarks.splitting.synthetic import made_up
from lab.benchmarks.splitting.ways import METHODS, Work, boxed, gathered, longest_first, split_whole

seconds_of = st.lists(st.integers(0, 100), min_size=1, max_size=40)
splits = st.integers(1, 6)
methods = st.sampled_from(sorted(METHODS))


def work_of(seconds, estimated=None):
    times = np.array(seconds, dtype=float)
    expected = times if estimated is None else np.array(estimated, dtype=float)
    return Work(np.arange(len(times), dtype=np.uint64), expected, times)


def best_makespan(seconds, splits):
    return min(
        max(sum(cost for cost, at in zip(seconds, chosen, strict=True) if at == split) for split in range(splits))
        for chosen in product(range(splits), repeat=len(seconds))
    )


@given(methods, seconds_of, splits)
def test_every_task_is_in_exactly_one_split_and_no_time_is_lost(method, seconds, splits):
    work = work_of(seconds)
    split = METHODS[method](work, splits)
    assert len(split) == len(seconds)
    assert set(split.tolist()) <= set(range(splits))
    found = outcome(split, work.seconds, splits)
    assert found.total == pytest.approx(sum(seconds))
    assert found.makespan >= lower_bound(work.seconds, splits) - 1e-9


@given(methods, st.lists(st.tuples(st.integers(0, 100), st.integers(0, 5)), min_size=1, max_size=40), splits)
def test_no_group_is_torn_apart(method, tasks, splits):
    groups = np.array([group for _, group in tasks], dtype=np.uint64)
    split = split_whole(METHODS[method], work_of([seconds for seconds, _ in tasks]), groups, splits)
    for group in range(6):
        assert len(set(split[groups == group].tolist())) <= 1


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 100), st.integers(0, 5)), min_size=1, max_size=30))
def test_a_group_takes_what_its_tasks_take_and_comes_when_the_first_of_them_does(tasks):
    groups = np.array([group for *_, group in tasks], dtype=np.uint64)
    whole, place = gathered(work_of([each[0] for each in tasks], [each[1] for each in tasks]), groups)
    order = list(dict.fromkeys(groups.tolist()))
    assert whole.keys.tolist() == order
    assert place.tolist() == [order.index(group) for group in groups]
    assert whole.seconds.tolist() == [sum(each[0] for each in tasks if each[2] == group) for group in order]
    assert whole.estimated.tolist() == [sum(each[1] for each in tasks if each[2] == group) for group in order]


@given(st.lists(st.integers(1, 50), min_size=1, max_size=7), st.integers(1, 3))
def test_longest_first_is_within_four_thirds_of_the_best(seconds, splits):
    work = work_of(seconds)
    found = outcome(longest_first(work, splits), work.seconds, splits).makespan
    assert found <= (4 / 3 - 1 / (3 * splits)) * best_makespan(seconds, splits) + 1e-9


def test_longest_first_can_be_as_bad_as_that_and_no_worse():
    work = work_of([5, 5, 4, 4, 3, 3, 3])  # Graham's example for three splits: 11 where 9 is possible
    assert outcome(longest_first(work, 3), work.seconds, 3).makespan == 11
    assert best_makespan([5, 5, 4, 4, 3, 3, 3], 3) == 9


@given(
    st.lists(st.tuples(st.integers(1, 100), st.integers(1, 100)), min_size=1, max_size=25),
    splits,
    st.sampled_from(["pull", "pull_longest_first"]),
)
def test_workers_that_pull_are_never_idle_while_a_task_waits(tasks, splits, method):
    seconds, estimated = zip(*tasks, strict=True)
    order = sorted(range(len(tasks)), key=lambda task: -estimated[task]) if "longest" in method else range(len(tasks))
    free_at = [0] * splits
    expected = {}
    for task in order:
        worker = min(range(splits), key=lambda each: (free_at[each], each))
        expected[task] = worker
        free_at[worker] += seconds[task]
    split = METHODS[method](work_of(seconds, estimated), splits)
    assert split.tolist() == [expected[task] for task in range(len(tasks))]


@given(seconds_of, st.integers(1, 50))
def test_in_a_time_box_no_task_takes_longer(seconds, longest):
    within = boxed(work_of(seconds), longest)
    assert within.seconds.tolist() == within.estimated.tolist() == [min(each, longest) for each in seconds]


@given(seconds_of, splits)
def test_unusual_splits_take_more_than_twice_the_median(seconds, splits):
    split = [number % splits for number in range(len(seconds))]
    times = sorted(sum(seconds[at::splits]) for at in range(splits))
    median = (times[(splits - 1) // 2] + times[splits // 2]) / 2
    found = outcome(np.array(split), np.array(seconds, dtype=float), splits)
    assert (found.makespan, found.median) == (times[-1], median)
    assert found.unusual == sum(each > 2 * median for each in times)


@given(st.integers(1, 3000), st.integers(0, 2**31))
def test_the_requested_number_of_records_is_generated(records, seed):
    past, new = made_up(records, np.random.default_rng(seed))
    assert {len(column) for column in (*past, *new)} == {records}
    assert all(len(set(new.seconds[new.hosts == host])) == 1 for host in np.unique(new.hosts)[:5])


def test_whole_hosts_end_at_the_bound_when_the_longest_come_first():
    """The figures of an earlier simulation of the same kind: 1.00 of the bound by length, 1.2 by hash."""
    ratios = {"longest_first": [], "hash": []}
    for seed in range(12):
        _, new = made_up(15_000, np.random.default_rng(seed))
        work = gathered(Work(new.hosts, new.seconds, new.seconds), new.hosts)[0]
        for name, values in ratios.items():
            makespan = outcome(METHODS[name](work, 25), work.seconds, 25).makespan
            values.append(makespan / lower_bound(work.seconds, 25))
    assert np.median(ratios["longest_first"]) < 1.01
    assert np.median(ratios["hash"]) > 1.1


def test_estimates_make_splits_shorter_than_the_hash_of_hosts():
    past, new = made_up(50_000, np.random.default_rng(2))
    by_tetea, by_us = expected_by_tetea(past, new), expected_by_us(past, new)
    assert by_tetea.attribute == by_us.attribute == "host"
    results = list(compared(new, 50, by_tetea.seconds, by_us.seconds))
    assert len(results) == RESULTS
    of = {(each.scheme, each.method): each.outcome for each in results}
    for scheme, _, found in results:
        assert found.total == pytest.approx(new.seconds.sum()) or scheme == Scheme.BOXED
    traditional = of[Scheme.RECORDS, "hash"]
    assert traditional == of[Scheme.WHOLE, "hash"]
    for name in ("tetea", "longest_first"):
        assert of[Scheme.RECORDS, name].makespan < 0.7 * traditional.makespan
        assert of[Scheme.RECORDS, name].unusual <= traditional.unusual / 4
    assert of[Scheme.BOXED, "longest_first"].makespan < 0.7 * of[Scheme.BOXED, "hash"].makespan
