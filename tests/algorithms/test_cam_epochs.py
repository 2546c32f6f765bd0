"""Epochs that feed back, and the weeks of sources that they are made of."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from apps.retrieval.algorithms.calendar import SLOTS_BEGIN
from apps.retrieval.algorithms.cam.allocation import best_pairs, longest_gaps, share_out
from apps.retrieval.algorithms.cam.tracking import Observations
from apps.retrieval.algorithms.cam.weeks import weeks
from lab.evaluations.cam.baselines import next_epoch, tracking_checks
from lab.evaluations.cam.pages import METHODS, Pages, caught, learning, made_up

probability = st.floats(0, 1, width=32)
WORLD = made_up(40, 12, 40, np.random.default_rng(1))


@given(arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(2, 10)), elements=probability), st.data())
def test_an_epoch_keeps_the_longest_gap_the_bounds_and_the_number_of_tasks(rho, data):
    n, p = rho.shape
    tasks = data.draw(st.integers(0, n * p))
    longest = data.draw(st.integers(1, p))
    most = data.draw(st.integers(1, p))
    weights = np.arange(1.0, n + 1)
    chosen = share_out(weights, rho, np.sqrt(rho), tasks, longest=longest, most=most)
    needed = share_out(weights, rho, np.sqrt(rho), 0, longest=longest)
    assert (longest_gaps(chosen) <= longest).all()
    room = np.maximum(most - needed.sum(axis=1), 0).sum()
    assert chosen.sum() == needed.sum() + min(max(tasks - needed.sum(), 0), room)


def test_observations_move_the_checks_of_the_next_epoch():
    believed = np.full((2, 3), 0.3)
    before = next_epoch(Observations.of([], [], [], []), [1.0, 1.0], believed, 1, period=3.0, now=0.0)
    seen = Observations.of([1, 1, 1], [0, 1, 2], [1, 2, 3], [False, False, True])
    after = next_epoch(seen, [1.0, 1.0], believed, 1, period=3.0, now=3.0)
    assert not before.chosen[1, 2]
    assert after.chosen[1, 2]


def test_a_slot_that_was_learned_as_silent_is_checked_again():
    """A page that changes at other update instants from the twentieth epoch on is caught there in the end."""
    rho = np.zeros((10, 8))
    rho[:, 2] = 0.9
    moved = np.roll(rho, 3, axis=1)
    random = np.random.default_rng(5)
    updates = random.random((60, 10, 8)) < np.where(np.arange(60)[:, None, None] < 20, rho, moved)
    chosen = [epoch.chosen for epoch in learning(Pages(np.ones(10), moved, updates), 20, 2, random)]
    assert np.mean([epoch[:, 5].mean() for epoch in chosen[50:]]) > 0.9


def test_tracking_checks_all_pages_equally_often_and_in_changing_slots():
    random = np.random.default_rng(0)
    epochs = np.array([tracking_checks(6, 12, 15, random) for _ in range(30)])
    assert set(epochs.sum(axis=2).ravel()) == {2, 3}
    assert (epochs.sum(axis=(1, 2)) == 15).all()
    assert epochs.any(axis=0).all()


def test_cam_that_learns_comes_near_cam_that_knows():
    best = WORLD.gains[best_pairs(WORLD.gains, 60)].sum()
    shares = [WORLD.gains[epoch.chosen].sum() / best for epoch in learning(WORLD, 60, 4, np.random.default_rng(2))]
    assert np.mean(shares[:4]) < 0.35
    assert np.mean(shares[20:]) > 0.75


def test_cam_wins_at_changes_caught_at_once_and_the_programme_at_versions():
    random = np.random.default_rng(3)
    found = {name: caught(WORLD, method(WORLD, 48, random)) for name, method in METHODS.items()}
    assert max(found, key=lambda name: found[name].at_update_instant) == "cam"
    assert max(found, key=lambda name: found[name].newest) == "programme"
    assert found["uniform"].at_update_instant < found["proportional"].at_update_instant
    assert all(each.at_update_instant <= each.newest for each in found.values())


def test_checking_every_slot_catches_everything():
    everything = caught(WORLD, np.ones((40, 12), dtype=bool))
    assert (everything.at_update_instant, everything.newest) == pytest.approx((1.0, 1.0))


def simply_caught(updates, checks):
    """Versions of one page that are found, one slot after another."""
    pending, found = False, 0
    for changed, checked in zip(updates, checks, strict=True):
        pending = pending or changed
        if checked and pending:
            found, pending = found + 1, False
    return found


@given(arrays(np.bool_, (2, 2, 5)), arrays(np.bool_, (2, 2, 5)))
def test_caught_agrees_with_a_count_slot_by_slot(updates, checks):
    world = Pages(np.array([1.0, 3.0]), np.zeros((2, 5)), updates)
    total = updates.sum(axis=(0, 2)) @ world.weights
    if total:
        found = [simply_caught(updates[:, page].ravel(), checks[:, page].ravel()) for page in range(2)]
        assert caught(world, checks).newest == pytest.approx(found @ world.weights / total)


@given(st.integers(0, 2015), st.integers(-56, 56).map(lambda quarter: 15 * quarter), st.floats(0, 1, exclude_max=True))
def test_a_source_that_publishes_at_one_time_of_the_week_is_checked_soon_after(step, offset, preferred):
    rates = np.zeros((1, 2016))
    rates[0, step] = 2.0
    found = weeks(rates, [offset], [preferred])
    slot = int(found.probabilities[0].argmax())
    assert found.probabilities[0, slot] == pytest.approx(1 - np.exp(-2))
    assert found.probabilities[0].sum() == pytest.approx(1 - np.exp(-2))
    published = SLOTS_BEGIN + (step + 1) / 12 - offset / 60  # the end of the five minutes, UTC
    wait = (found.update_instants(0)[slot] - published + 1e-9) % 168
    assert wait < 0.09


def test_sources_without_minutes_of_their_own_are_spread_over_the_hour():
    found = weeks(np.ones((12, 2016)), [0] * 12, np.arange(12) / 12)
    assert len(set(found.shifts)) == 12
    assert found.probabilities == pytest.approx(np.full((12, 168), 1 - np.exp(-12)))


def test_changes_around_the_hour_are_one_update_instant():
    """Most come at five to the hour, so slots end on it; once some come on either side of it."""
    rates = np.zeros((1, 168, 12))
    rates[0, 9, 11], rates[0, 10, 0], rates[0, 50:, 11] = 0.7, 0.7, 1.0
    found = weeks(rates.reshape(1, 2016), [0], [0.0])
    assert found.probabilities[0, 8:12] == pytest.approx([0.0, 0.0, 1 - np.exp(-1.4), 0.0])
