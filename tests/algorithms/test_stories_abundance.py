"""How many stories are active decides how similar a posting has to be to join one of them."""

import numpy as np
import pytest

from apps.stories.algorithms.agreement import agrees
from apps.stories.algorithms.clusters import NEAREST_REPORT, Cluster, Clusters
from apps.stories.algorithms.features import BUCKETS
from apps.stories.algorithms.reports import Report, Vector

TERMS = 16


def vector_of(first: int) -> Vector:
    return Vector(np.arange(first, first + TERMS, dtype=np.int32), np.full(TERMS, TERMS**-0.5, np.float32))


@pytest.mark.parametrize(
    ("others", "shared", "joins"), [(0, 6, True), (100, 6, True), (5_000, 6, False), (5_000, 13, True)]
)
def test_among_thousands_of_stories_a_posting_has_to_be_more_similar(others, shared, joins):
    found = Clusters()
    for number in range(others):
        found.put(Cluster(10 + number, vector_of(1_000 + TERMS * number), 1, 10.0, 10.0))
    found.put(Cluster(1, vector_of(0), 1, 10.0, 10.0))
    found.reports.add(1, Report(1, vector_of(0), 10.0))
    assert (found.nearest(vector_of(TERMS - shared), 10.0) is not None) == joins


@pytest.mark.parametrize(("stories", "shared", "found"), [(100, 5, True), (5_000, 5, False), (5_000, 6, True)])
def test_among_thousands_of_stories_a_single_report_has_to_be_more_similar(stories, shared, found):
    posting = vector_of(TERMS - shared)
    weights = np.zeros(BUCKETS, np.float32)
    weights[posting.terms] = posting.weights
    assert agrees(weights, 10.0, [Report(1, vector_of(0), 10.0)], NEAREST_REPORT, stories) == found


@pytest.mark.parametrize(("others", "joins"), [(100, True), (5_000, False)])
def test_a_name_in_common_makes_no_story_among_thousands(others, joins):
    """Two terms carry as much as the whole similarity needs."""
    found = Clusters()
    for number in range(others):
        found.put(Cluster(10 + number, vector_of(1_000 + TERMS * number), 1, 10.0, 10.0))
    one, other = (
        Vector(np.array([0, 1, *range(first, first + 8)], np.int32), np.array([0.6, 0.6, *[0.19] * 8], np.float32))
        for first in (100, 200)
    )
    found.put(Cluster(1, one, 1, 10.0, 10.0))
    found.reports.add(1, Report(1, one, 10.0))
    assert (found.nearest(other, 10.0) is not None) == joins


@pytest.mark.parametrize(("shared", "is_one"), [(5, False), (14, True)])
def test_a_story_goes_on_for_weeks_only_while_its_reports_stay_similar(shared, is_one):
    found = Clusters(threshold=0.0)
    for day in range(20):
        terms = [*range(shared), *range(100 * (day + 1), 100 * (day + 1) + TERMS - shared)]
        report = Vector(np.array(terms, np.int32), np.full(TERMS, TERMS**-0.5, np.float32))
        found.add(day + 1, day, report, 24.0 * day)
        if day == 7:
            assert len(found) == 1
    assert (len(found) == 1) == is_one
