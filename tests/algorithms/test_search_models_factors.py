"""Freshness and authority: factors that are switched on by taste, and say what they did."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.search.algorithms.index.inversion import Attributes
from apps.search.algorithms.index.worth import DAY, Worth
from apps.search.algorithms.models.factors import Authority, Freshness

strengths, half_lives = st.floats(0.1, 20), st.floats(0.5, 1_000)
some_ages = st.lists(st.floats(-10, 10_000), min_size=1, max_size=20)


@given(strengths, half_lives, some_ages)
def test_freshness_falls_from_1_with_age_and_never_to_nothing(strength, half_life, ages):
    freshness = Freshness(strength, half_life)
    factors = freshness.factors(sorted(ages))
    assert (np.diff(factors) <= 0).all()
    assert factors.max() <= 1
    assert factors.min() >= 1 / (1 + strength) - 1e-6
    assert freshness.factors([-5, 0]).tolist() == [1, 1]
    assert float(freshness.factors(half_life)) == pytest.approx((1 + strength / 2) / (1 + strength))


@given(st.floats(0.1, 5), st.lists(st.integers(0, 10_000), min_size=1))
def test_authority_grows_with_followers_up_to_1(strength, followers):
    most = max(followers)
    factors = Authority(strength).factors(sorted(followers), most)
    assert (np.diff(factors) >= 0).all()
    assert factors[-1] == 1
    assert factors.min() >= 1 / (1 + strength) - 1e-6


def test_without_followers_all_authority_factors_are_one():
    assert Authority().factors([0, 0], 0).tolist() == [1, 1]
    assert Worth(0, {}).factors(of_ages([0.0])).tolist() == [1]


def of_ages(days, sources=None):
    published = np.array([-day * DAY for day in days], np.int64)
    sources = np.array(sources or [1] * len(days), np.int32)
    return Attributes(np.arange(len(days)), sources, published, np.array([b"en"] * len(days), "S3"))


def test_both_factors_are_multiplied():
    worth = Worth(0, {1: 99, 2: 9}, Freshness(1, 7), Authority(1))
    found = worth.factors(of_ages([0, 7, 0, 7], [1, 1, 2, 3]))
    assert found == pytest.approx([1.0, 0.75, 0.75, 0.375])


@given(st.floats(0, 3_000), st.lists(st.floats(0, 3_000), min_size=1), strengths, half_lives)
def test_no_document_of_a_block_is_above_its_bound(newest, ages, strength, half_life):
    worth = Worth(0, {1: 5}, Freshness(strength, half_life))
    known = of_ages([newest + age for age in ages])
    assert (worth.factors(known) <= worth.largest(int(-newest * DAY))).all()


def test_factors_say_in_words_what_they_did():
    assert Freshness(1, 7).explanation(0.9) == "1 day old: score × 0.96"
    assert Freshness(1, 7).explanation(-3) == "0 days old: score × 1.00"
    assert Freshness(1, 7).explanation(70_000) == "70,000 days old: score × 0.50"
    assert Authority(1).explanation(1, 1) == "1 person follows its feed: score × 1.00"
    assert Authority(1).explanation(1_500, 2_000).startswith("1,500 people follow its feed: score × ")
