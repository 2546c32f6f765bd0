"""A budget of bytes: a retrieval costs what its source's answers cost."""

from datetime import timedelta

import pytest

from apps.database.statements import query_as
from apps.retrieval import queries
from apps.retrieval.actions import change_plan, control_price, current_plan, replan_changed
from apps.retrieval.actions.plan import draw_curve
from apps.retrieval.algorithms.calendar import DAY
from apps.retrieval.models import Plan, Schedule
from apps.retrieval.planner.due_times import outlook_at, terms_of
from apps.retrieval.planner.state import COLUMNS, TABLES, ScheduleState, parameters
from apps.retrieval.policies import OURS
from apps.retrieval.reports.source import effect_of
from apps.sources.models import Source
from tests.apps.retrieval.rehearsing import remembered
from tests.apps.retrieval.retrieving import HOUR, NOW, a_feed, a_scheduled_source, an_observed_source, daily, visit
from tests.builders import a_retrieval, a_source

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("rehearses_once")]

SOON = NOW + timedelta(minutes=5)
BUDGET = 24.0  # kB a day and source


def sources_of_two_sizes() -> list[Source]:
    """Eight sources of like profiles, whose answers have 1 and 16 kB in turn."""
    sources = [
        an_observed_source(NOW - (5.3 + number / 10) * HOUR * ago for ago in range(1, 90)) for number in range(8)
    ]
    for number, source in enumerate(sources):
        Schedule.objects.filter(pk=source.pk).update(answer_bytes=16_000 if number % 2 else 1_000)
    return sources


def planned() -> dict[int, float]:
    """Retrievals a day of each source."""
    sources = query_as(ScheduleState.of, f"SELECT {COLUMNS} FROM {TABLES} ORDER BY source.id", parameters())
    plan = current_plan()
    assert plan.price is not None
    if plan.policy == OURS:
        made = DAY * remembered(outlook_at(sources, terms_of(plan, plan.price), NOW)).retrievals
        return {source.source_id: count for source, count in zip(sources, made.tolist(), strict=True)}
    return {source.source_id: source.unpacked_timetable.per_day for source in sources}


@pytest.mark.parametrize(
    "policy",
    [OURS, "uniform", *(pytest.param(name, marks=pytest.mark.trial) for name in ("allocation", "combined", "cgm_age"))],
)
def test_retrievals_go_as_the_root_of_one_over_their_cost_and_keep_to_the_bytes(policy: str):
    change_plan(policy=policy, counted="bytes", budget=BUDGET)
    sources = sources_of_two_sizes()
    while replan_changed(now=SOON):
        pass
    made = planned()
    small, large = (sum(made[source.pk] for source in sources[first::2]) for first in (0, 1))
    assert small + 16 * large == pytest.approx(len(sources) * BUDGET, rel=0.06)
    if policy in (OURS, "allocation", "combined"):
        assert small / large == pytest.approx(4, rel=0.25)
    if policy == "uniform":
        assert small == pytest.approx(large, rel=0.01)


def test_the_cost_of_a_source_is_that_of_its_latest_answers():
    source = a_scheduled_source()
    assert visit(source, NOW, a_feed(daily(8)), wire_bytes=9_000, begun_at=NOW).answer_bytes == 9_300
    for hours in range(1, 60):
        cost = visit(source, NOW + hours * HOUR, begun_at=NOW + hours * HOUR).answer_bytes  # 304
    assert 300 < cost < 800
    assert visit(source, NOW + 60 * HOUR).answer_bytes == cost  # no request was sent


def test_a_budget_of_requests_knows_no_bytes():
    sources = sources_of_two_sizes()
    while replan_changed(now=SOON):
        pass
    made = planned()
    small, large = (sum(made[source.pk] for source in sources[first::2]) for first in (0, 1))
    assert small == pytest.approx(large, rel=0.15)


def test_the_price_follows_the_bytes_that_were_received():
    change_plan(counted="bytes", budget=48)
    source = a_source(always_retrieved=True)
    for number in range(12):
        a_retrieval(source, fetched_at=NOW - number * HOUR, wire_bytes=3_700)
    assert queries.spent(current_plan(), NOW - 24 * HOUR, NOW) == 48
    Plan.objects.update(price=2.0, priced_at=NOW - 2 * HOUR, changed_at=NOW - 50 * HOUR)
    assert control_price(now=NOW) == pytest.approx(2.0)
    a_retrieval(source, fetched_at=NOW, wire_bytes=60_000)
    assert control_price(now=NOW + 2 * HOUR) > 2.0


def test_what_if_curve_and_effects_are_in_bytes():
    change_plan(counted="bytes", budget=BUDGET)
    sources = sources_of_two_sizes()
    while replan_changed(now=SOON):
        pass
    draw_curve(now=SOON)
    spent = [budget for budget, _delay in current_plan().curve]
    assert min(spent) < len(sources) * BUDGET < max(spent)
    effect = effect_of(sources[1], 4.0, NOW)
    assert effect is not None
    assert effect.extra == pytest.approx(16 * (effect.then.retrievals - effect.now.retrievals))
    assert (effect.counted, effect.budget) == ("kilobytes", pytest.approx(len(sources) * BUDGET))


def test_checks_on_request_are_as_many_as_the_bytes_allow():
    change_plan(counted="bytes", budget=BUDGET)
    sources_of_two_sizes()
    assert queries.usual_cost() == pytest.approx(8.5)
