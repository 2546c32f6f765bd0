"""The gamma function's logarithm and derivative beside those of scipy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from apps.retrieval.algorithms.weekly_profiles.gamma import digamma, log_gamma


@given(st.lists(st.floats(1e-3, 1e9), min_size=1))
def test_both_are_those_of_scipy(values):
    x = np.array(values)
    assert log_gamma(x) == pytest.approx(special.gammaln(x), rel=1e-11, abs=1e-11)
    assert digamma(x) == pytest.approx(special.digamma(x), rel=1e-11, abs=1e-11)
