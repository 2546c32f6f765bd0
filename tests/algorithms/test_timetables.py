"""Timetables that keep the bounds of gaps."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from apps.retrieval.algorithms.timetables import Timetable

TIMES = st.lists(st.floats(0, 47.9), min_size=1, max_size=9).map(sorted).map(np.array)


def gaps(timetable: Timetable) -> np.ndarray:
    return np.diff(timetable.times, append=timetable.times[:1] + timetable.period)


@given(times=TIMES, least=st.floats(0, 12), longest=st.floats(12, 60))
@example(times=np.array([9.0, 10.0, 15.0, 31.0]), least=2.0, longest=14.0)  # the remainder of -1e-15
def test_gaps_keep_their_bounds_as_far_as_the_number_of_times_allows(times, least, longest):
    spaced = Timetable(times, 48.0).spaced(least, longest)
    even = 48.0 / times.size
    assert spaced.times.size == times.size
    assert np.all(np.diff(spaced.times) >= 0)
    assert 0 <= spaced.times[0] <= spaced.times[-1] < 48.0
    assert gaps(spaced).min() >= min(least, even) - 1e-9
    assert gaps(spaced).max() <= max(longest, even) + 1e-9


@given(times=TIMES)
def test_times_within_the_bounds_stay(times):
    timetable = Timetable(times, 48.0)
    assert np.allclose(timetable.spaced(0.0, 48.0).times, times)
