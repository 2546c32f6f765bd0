import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

METHODS = ("uniform", "weighted_uniform", "proportional", "proportional_spent", "cam", "programme", "cam_learnt")


def test_the_figures_are_those_of_the_reference(tmp_path, monkeypatch):
    monkeypatch.setattr("lab.management.commands.evaluate_cam.BUDGETS", (10,))
    monkeypatch.setattr("lab.management.commands.evaluate_cam.JOBS", 500)
    output = StringIO()
    call_command(
        "evaluate_cam",
        "--worlds=1",
        "--epochs=60",
        f"--json={tmp_path / 'cam.json'}",
        f"--plot={tmp_path / 'cam.svg'}",
        stdout=output,
    )
    figures = json.loads((tmp_path / "cam.json").read_text())
    assert {f"{name}.{measure}" for name in METHODS for measure in ("at_instant", "newest", "spent")} <= set(figures)
    assert figures["uniform.at_instant"] == pytest.approx(0.08, abs=0.03)
    assert figures["proportional.at_instant"] == pytest.approx(0.43, abs=0.03)
    assert figures["cam.at_instant"] == pytest.approx(0.73, abs=0.03)
    assert figures["programme.newest"] == pytest.approx(0.785, abs=0.03)
    assert figures["cam_learnt.of_known"] > 0.8
    assert figures["load95.weighted_ageing.lateness"] <= figures["load95.earliest.lateness"]
    assert ">cam learnt<" in (tmp_path / "cam.svg").read_text()
    assert "other worlds" in output.getvalue()


def test_too_few_epochs_to_learn_in_are_refused():
    with pytest.raises(CommandError, match="--epochs must be more than 50"):
        call_command("evaluate_cam", "--epochs=50")
