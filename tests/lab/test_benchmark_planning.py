"""What planning costs, at a tiny size: every source is planned, and the planner finds the optimum."""

import json

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from apps.retrieval.models import Plan, Schedule, WeeklyProfile
from lab.management.commands import benchmark_planning

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(300)]


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(benchmark_planning, "PROFILES", 20)
    monkeypatch.setattr(benchmark_planning, "DISTINCT_PROFILES", 20)


@pytest.mark.trial
def test_all_sources_are_planned_by_a_process_of_its_own(small, child_processes, tmp_path):
    call_command("benchmark_planning", sources=50, json=tmp_path / "figures.json")
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert set(figures) == {
        "gap_max", "ms_per_retrieval", "ms_per_retrieval_alone", "due_times_100k_cpu_s", "replan_100k_cpu_s",
        "replan_100k_rss_mb", "replan_100k_wall_s", "price", "median_gap_hours",
    }  # fmt: skip
    assert figures["gap_max"] == pytest.approx(0, abs=1e-9)
    assert all(value > 0 for name, value in figures.items() if name != "gap_max")
    assert figures["price"] == Plan.objects.get().price
    assert Schedule.objects.count() == WeeklyProfile.objects.count() == 50


def test_a_planner_that_misses_the_optimum_is_reported(monkeypatch):
    monkeypatch.setattr(benchmark_planning, "PROFILES", 5)
    monkeypatch.setattr(
        benchmark_planning, "cheapest_plans", lambda expected, *_: (0, 0, np.zeros(expected.shape, dtype=int))
    )
    assert benchmark_planning.gap_max(benchmark_planning.np.random.default_rng(1)) > 0.01


def test_sources_that_were_not_planned_are_an_error(small, child_processes, monkeypatch):
    monkeypatch.setattr(benchmark_planning, "REPLAN", "print([3, 1.0])")
    with pytest.raises(CommandError, match="3 of 50 sources were planned"):
        call_command("benchmark_planning", sources=50)
