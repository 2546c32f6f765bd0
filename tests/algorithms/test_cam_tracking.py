"""Estimating update instants of pages from checks."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.retrieval.algorithms.cam.tracking import Observations, merged, track

SLOTS = 4


def watched(probabilities, epochs, seed=0, every=1):
    """Checks at the end of every n-th slot of one page whose slots are an hour long."""
    rho = np.asarray(probabilities)
    changes = np.random.default_rng(seed).random((epochs, rho.size)) < rho
    ends = np.arange(every, epochs * rho.size + 1, every)
    seen = [changes.ravel()[end - every : end].any() for end in ends]
    return Observations.of(np.zeros(ends.size), ends - every, ends, seen)


def tracked(observations, slots=SLOTS, *, now=0.0, believed=0.2, **options):
    return track(observations, np.full((1, slots), believed), period=float(slots), now=now, **options)


def test_nothing_seen_leaves_what_was_believed():
    nothing = tracked(Observations.of([], [], [], []))
    assert nothing.probability.tolist() == [[0.2] * SLOTS]
    assert nothing.probability.sum(axis=1).tolist() == pytest.approx([0.8])


@given(st.lists(st.tuples(st.integers(0, 30), st.booleans()), min_size=1, max_size=30))
def test_checks_of_single_slots_are_counted(seen):
    """A Beta posterior: the changes and the checks of a slot, weighted by their age, and the prior."""
    hours, changed = zip(*seen, strict=True)
    found = tracked(Observations.of([0] * len(seen), hours, np.array(hours) + 1, changed), now=31.0, strength=1.5)
    for slot in range(SLOTS):
        weights = [(0.5 ** ((31 - hour - 1) / SLOTS / 4), new) for hour, new in seen if hour % SLOTS == slot]
        total = sum(weight for weight, _ in weights)
        updates = 1.5 * 0.2 + sum(weight for weight, new in weights if new)
        assert found.probability[0, slot] == pytest.approx(updates / (1.5 + total))


def test_the_posterior_converges_to_the_truth():
    rho = [0.9, 0.0, 0.3, 0.05]
    errors = []
    for epochs in (10, 100, 3_000):
        found = tracked(watched(rho, epochs), now=4.0 * epochs, half_life=1e9)
        errors.append(np.abs(found.probability[0] - rho).max())
    assert errors[2] < 0.02 < errors[0]
    assert found.doubt.max() < 0.02


def test_changes_seen_late_are_shared_out_until_they_are_explained():
    """Checks of every third slot of four cover each slot with different others: their mixture distinguishes them."""
    rho = [0.8, 0.0, 0.1, 0.4]
    found = tracked(watched(rho, 3_000, every=3), now=12_000.0, half_life=1e9, rounds=200)
    assert found.probability[0] == pytest.approx(rho, abs=0.06)


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(1, 6), st.booleans()), min_size=1, max_size=8))
def test_each_round_makes_what_was_seen_more_likely(stretches):
    begins, lengths, changed = map(np.array, zip(*stretches, strict=True))
    observations = Observations.of([0] * len(stretches), begins, begins + lengths, changed)

    def likelihood(rho):
        """Of what was seen and, as a Beta density, of what was believed; logarithm."""
        total = np.log(rho).sum() * strength * 0.2 + np.log1p(-rho).sum() * strength * 0.8
        for begin, length, new in stretches:
            quiet = np.prod([1 - rho[hour % SLOTS] for hour in range(begin, begin + length)])
            total += np.log(1 - quiet) if new else np.log(quiet)
        return total

    strength = 1.0
    found = [tracked(observations, half_life=1e12, strength=strength, rounds=rounds) for rounds in (1, 2, 4, 8, 16)]
    values = [likelihood(np.clip(each.probability[0], 0, 1)) for each in found]
    assert (np.diff(values) >= -1e-9).all()


def test_one_stretch_is_shared_out_as_bayes_says():
    """Beside the expectation over all 2^4 ways in which the slots may have changed."""
    believed = np.array([0.5, 0.1, 0.3, 0.6])
    observations = Observations.of([0], [0.0], [3.0], [True])
    found = track(observations, believed[None], period=4.0, now=3.0, strength=1.0, rounds=1)
    total, sums = 0.0, np.zeros(4)
    for ways in product((0, 1), repeat=4):
        chance = np.prod(np.where(ways, believed, 1 - believed))
        if any(ways[:3]):
            total, sums = total + chance, sums + chance * np.array(ways)
    expected = (believed + np.where(np.arange(4) < 3, sums / total, 0)) / [2, 2, 2, 1]
    assert found.probability[0] == pytest.approx(expected)


def test_checks_count_half_after_four_epochs():
    observations = Observations.of([0, 0], [0.0, 16.0], [1.0, 17.0], [True, False])
    found = tracked(observations, now=17.0, strength=1e-9)
    assert found.probability[0, 0] == pytest.approx(1 / 3)


def test_a_part_of_a_slot_counts_for_a_part():
    observations = Observations.of([0], [0.25], [0.75], [False])
    found = tracked(observations, now=0.75)
    assert found.updates[0, 0] + found.silences[0, 0] == pytest.approx(1.5)


def test_an_unknown_slot_leaves_more_doubt():
    sharp = tracked(Observations.of([0] * 4, [0, 1, 2, 3], [1, 2, 3, 4], [True, False, False, False]), now=4.0)
    blurred = tracked(Observations.of([0], [0], [4], [True]), now=4.0)
    assert (blurred.doubt[0, 1:] > sharp.doubt[0, 1:]).all()
    assert (tracked(Observations.of([], [], [], [])).doubt[0, 1:] > sharp.doubt[0, 1:]).all()


def test_pages_do_not_learn_from_each_other():
    alone = tracked(watched([0.5] * SLOTS, 9), now=36.0)
    observations = watched([0.5] * SLOTS, 9)
    beside = Observations.of(
        [*observations.pages, *observations.pages + 1],
        [*observations.begins] * 2,
        [*observations.ends] * 2,
        [*observations.changed, *~observations.changed],
    )
    both = track(beside, np.full((2, SLOTS), 0.2), period=4.0, now=36.0)
    assert both.probability[0] == pytest.approx(alone.probability[0])
    assert both.probability[1].sum() != pytest.approx(both.probability[0].sum())


def test_neighbours_are_merged_once_and_only_if_their_changes_lie_close():
    rho, nan = [[0.5, 0.5, 0.5, 0.0]], np.nan
    close = merged(rho, [[0.9, 1.0, 2.0, nan]], [[0.95, 1.1, 2.1, nan]], 1.0)
    assert close.tolist() == [[0.0, 0.75, 0.5, 0.0]]
    far = merged(rho, [[0.1, 1.2, 2.3, nan]], [[0.2, 1.3, 2.4, nan]], 1.0)
    assert far.tolist() == rho
