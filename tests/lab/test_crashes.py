"""The index and its readers while processes are killed: a short run of `manage.py verify_index`."""

import json

import pytest
from django.core.management import CommandError, call_command

from lab.chaos.index.crashes import Proof
from lab.management.commands import verify_index


@pytest.mark.trial
@pytest.mark.timeout(600)  # it starts a Postgres and six processes of its own, on a machine that may be busy
def test_nothing_confirmed_is_lost_when_the_writer_a_session_and_the_maintainer_are_killed(tmp_path):
    call_command("verify_index", kills=3, seed=1, json=tmp_path / "figures.json")
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert figures["faults"] == 0
    assert [figures[f"kills_of_{victim}"] for victim in ("writer", "session", "maintainer")] == [1, 1, 1]
    assert min(figures["postings"], figures["steps"], figures["answers"]) > 0


def test_a_fault_is_reported_and_ends_the_command_with_an_error(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(verify_index, "prove", lambda *_, **__: Proof({"writer": 1}, faults=["a posting is missing"]))
    with pytest.raises(CommandError, match="did not survive"):
        call_command("verify_index", json=tmp_path / "figures.json")
    assert "a posting is missing" in capsys.readouterr().out
    assert json.loads((tmp_path / "figures.json").read_text())["faults"] == 1
