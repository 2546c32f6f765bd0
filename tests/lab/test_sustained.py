"""The benchmark of sustained load leaves out no check that it was to make."""

from datetime import timedelta

import pytest

from lab.management.commands.benchmark_sustained import _figures
from tests.builders import NOON, a_retrieval, a_schedule, a_source

pytestmark = pytest.mark.django_db
SECOND = timedelta(seconds=1)


def test_figures_run_from_the_first_due_time_and_count_what_never_began():
    source = a_source()
    for seconds in (10, 20, 20.5):
        due_at = NOON + seconds * SECOND
        dispatched = {"dispatched_at": due_at + 2 * SECOND, "fetched_at": due_at + 3 * SECOND}
        a_retrieval(source, due_at=due_at, begun_at=due_at + 2 * SECOND, stored_at=due_at + 4 * SECOND, **dispatched)
    a_retrieval(source, due_at=NOON - SECOND, stored_at=NOON + 50 * SECOND)  # due before
    a_schedule(first_due_at=NOON + 15 * SECOND, due_at=NOON + 200 * SECOND, dispatched_at=NOON + 59 * SECOND)
    found = _figures(NOON, NOON + 60 * SECOND)
    assert (found["lateness_p50_s"], found["lateness_p99_s"], found["lateness_max_s"]) == (2, 45, 45)
    assert (found["stored_p50_s"], found["stored_max_s"], found["not_stored"]) == (4, 45, 1)
    assert found["most_due_in_a_second"] == 2
