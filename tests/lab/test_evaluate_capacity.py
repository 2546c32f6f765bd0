"""The size of an installation for a few sources."""

import json

import pytest
from django.core.management import CommandError, call_command

from lab.management.commands import evaluate_capacity


@pytest.mark.trial
def test_a_month_is_simulated_and_a_fleet_computed(tmp_path, monkeypatch):
    monkeypatch.setattr(evaluate_capacity, "DISTINCT_PROFILES", 50)
    call_command("evaluate_capacity", sources=220, per_day=2.0, json=str(tmp_path / "figures.json"))
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert figures["sources"] == 200  # whole copies of fifty profiles
    assert figures["retrievals_per_day"] == pytest.approx(2, rel=0.25)
    assert figures["retrievals"] == pytest.approx(figures["retrievals_per_day"] * 200 * 30)
    assert 1 < figures["peak_hour"] < figures["peak"]
    names = {name for _, name, _ in evaluate_capacity.ROWS}
    assert names | {f"larger.{name}" for name in names} <= set(figures)
    assert figures["machines"] >= 3
    assert figures["larger.retrievals_per_s"] == pytest.approx(100 * figures["retrievals_per_s"])


@pytest.mark.parametrize("options", [{"sources": 10}, {"per_day": 0.0}])
def test_too_few_sources_and_no_retrievals_are_refused(options):
    with pytest.raises(CommandError, match="must be"):
        call_command("evaluate_capacity", **options)
