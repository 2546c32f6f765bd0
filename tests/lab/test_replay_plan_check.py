"""Replay: what the plan should have given is simulated on the postings of the record."""

import numpy as np
import pytest

from apps.retrieval.algorithms.calendar import hours_of
from lab.evaluations.replays.plan import excerpt, simulated
from lab.evaluations.replays.verification import Witnessed
from lab.worlds.lines import Published, RecordError, Start

SPEED = 288.0
ORIGIN, REAL_START = 1.7e9, 5_000.0  # recorded and real seconds
DAY = 86_400.0


def witnessed(days=5.0, *, sources=20, per_day=12.0, history=28.0):
    """A record of sources that publish at any time, with some days before it."""
    random = np.random.default_rng(3)
    start = Start(ORIGIN, ORIGIN + days * DAY, REAL_START, SPEED, 8700, {})
    record = Witnessed(start)
    for source in range(sources):
        recorded = ORIGIN - history * DAY + random.random(int(per_day * (days + history))) * (days + history) * DAY
        for posting, time in enumerate(np.sort(recorded)):
            at = REAL_START + (time - ORIGIN) / SPEED
            record.published[source, posting] = Published(at, source, posting, "", f"http://link/{source}/{posting}")
    return record


def test_postings_of_the_longest_gap_before_the_end_are_not_counted():
    part = excerpt(witnessed(), range(20), REAL_START + 4 * DAY / SPEED, longest_gap=24.0)
    assert part.start == hours_of(ORIGIN)
    assert part.until - part.start == pytest.approx(4 * 24)
    assert part.until - part.counted == pytest.approx(24)
    assert len(part.trace) == 20


def test_a_record_too_short_to_compare_is_refused():
    with pytest.raises(RecordError, match=r"only 1\.5 days"):
        excerpt(witnessed(), range(20), REAL_START + 1.5 * DAY / SPEED, longest_gap=24.0)


def test_requests_after_the_end_of_the_recording_do_not_count():
    part = excerpt(witnessed(), range(20), REAL_START + 50 * DAY / SPEED, longest_gap=24.0)
    assert part.until == pytest.approx(hours_of(ORIGIN + 5 * DAY))


def test_steady_sources_use_the_budget_and_postings_wait_half_a_gap():
    part = excerpt(witnessed(), range(20), REAL_START + 5 * DAY / SPEED, longest_gap=24.0)
    outcome = simulated(part, 4.0, least_gap=1.0, longest_gap=24.0)
    assert outcome.retrievals / len(part.trace) / 5 == pytest.approx(4.0, rel=0.03)  # one past the end each
    assert outcome.delays.size == sum(((part.start <= each) & (each < part.counted)).sum() for each in part.trace.parts)
    assert outcome.delays.mean() == pytest.approx(3.0, rel=0.15)


def test_a_longer_shortest_gap_delays_news():
    part = excerpt(witnessed(), range(20), REAL_START + 5 * DAY / SPEED, longest_gap=24.0)
    slow = simulated(part, 4.0, least_gap=10.0, longest_gap=24.0)
    assert slow.delays.mean() > 4.5


def test_silent_sources_have_their_part_of_the_budget():
    part = excerpt(witnessed(), range(30), REAL_START + 5 * DAY / SPEED, longest_gap=24.0)
    outcome = simulated(part, 4.0, least_gap=1.0, longest_gap=24.0)
    assert outcome.retrievals / 30 / 5 == pytest.approx(4.0, rel=0.03)
    assert outcome.delays.mean() < 2.6  # silent ones need one retrieval a day
