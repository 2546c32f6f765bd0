"""Posting rates that several tests share."""

import numpy as np
from hypothesis import strategies as st

from apps.retrieval.algorithms.profiles import Profile

_EDGES = np.linspace(0.0, 1.0, 2001)
SINE = Profile(np.diff(2 * _EDGES - np.cos(2 * np.pi * _EDGES) / np.pi) * 2000, period=1.0)  # 2 + 2 sin(2 pi t)
OFFICE = Profile(np.repeat([0.1, 1.0, 0.1], [8, 10, 6]), period=24.0)
EXAMPLE = Profile(np.array([1.0, 0.0]), period=2.0)  # Example 1 of the paper

# Least delays in posting-hours per period, worked out independently with 2,000 bins; {retrievals: (times, delay)}.
BEST_FOR_SINE = {
    1: ([0.5], 0.68169),
    2: ([0.2736, 0.5675], 0.36629),
    3: ([0.1762, 0.3750, 0.5990], 0.25143),
    4: ([0.1184, 0.2771, 0.4295, 0.6180], 0.19161),
    6: (None, 0.12995),
}
BEST_FOR_OFFICE = {
    1: ([18.0], 73.8),
    2: ([12.3, 18.0], 41.31),
    3: ([10.4, 14.2, 18.0], 30.48),
    4: ([2.4828, 10.9655, 14.4828, 18.0], 23.5241),
    6: (None, 16.05),
    8: (None, 12.2294),
}


@st.composite
def profiles(draw: st.DrawFn, *, max_bins: int = 12) -> Profile:
    """Rates with silent bins, plateaus and jumps; at least one bin has postings."""
    rates = draw(st.lists(st.sampled_from([0.0, 0.0, 0.1, 0.5, 1.0, 1.7, 6.0]), min_size=1, max_size=max_bins))
    rates[draw(st.integers(0, len(rates) - 1))] = 2.0
    return Profile(np.array(rates), period=draw(st.sampled_from([1.0, 24.0])))


def plans(profile: Profile, *, least: int = 1, most: int = 6) -> st.SearchStrategy[np.ndarray]:
    """Different times within the period, ascending."""
    parts = st.lists(st.integers(0, 999), min_size=least, max_size=most, unique=True)
    return parts.map(lambda numbers: np.sort(np.array(numbers)) / 1000 * profile.period)
