"""A portal of real processes under faults stores the same as a serial run.

`manage.py chaos` does the same for longer, with every kind of fault.
"""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from lab.chaos import monitoring, rabbitmq
from lab.chaos.disks import Ballast, data_folder, may_mount
from lab.chaos.faults import BY_NAME, CUT_OFF_RETRIEVAL, FAULTS, draw_faults
from portal.launcher.embedded import StartError, postgres_programs

ROOT = Path(__file__).resolve().parents[2]


def chaos(tmp_path: Path, *arguments: str) -> dict[str, float]:
    """The figures of a scenario, which fails if anything is lost, duplicated or different."""
    file = tmp_path / "figures.json"
    command = [sys.executable, "manage.py", "chaos", "--json", str(file), *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"WIREBEAT_NO_VENV": "1"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(file.read_text())


def has_postgres_of_the_system() -> bool:
    try:
        return bool(postgres_programs(of_the_system=True))
    except StartError:
        return False


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--only=keep the broker away", "--lasting=0"], "--lasting and --sources must be more than 0"),
        (["--only=kill a worker", "--lasting=60"], "--lasting needs --only with a fault that lasts"),
        (["--lasting=60"], "--lasting needs --only with a fault that lasts"),
    ],
)
def test_only_faults_that_last_can_last_longer(arguments, complaint):
    with pytest.raises(CommandError, match=complaint):
        call_command("chaos", "--inside", *arguments)


@pytest.mark.trial
@pytest.mark.timeout(900)  # seven processes of the portal, on a machine that may be busy
def test_nothing_is_lost_or_duplicated_while_processes_are_killed(tmp_path):
    figures = chaos(tmp_path, "--seconds", "8", "--sources", "30", "--faults", "4", "--seed", "2372")
    assert (figures["lost"], figures["doubled"], figures["stranded"], figures["differing_rows"]) == (0, 0, 0, 0)
    assert figures["faults"] == 4
    assert min(figures["served"], figures["rows"]) > 50
    assert 0 < figures["takeover_max_s"] < 10


@pytest.mark.trial
@pytest.mark.timeout(900)
@pytest.mark.skipif(not rabbitmq.is_installed(), reason="rabbitmq-server is not installed")
@pytest.mark.skipif(not has_postgres_of_the_system(), reason="the system's own Postgres is not installed")
def test_with_rabbitmq_and_postgres_of_the_system_nothing_is_lost_when_the_broker_is_killed(tmp_path):
    figures = chaos(tmp_path, "--debian", "--seconds", "8", "--sources", "30", "--faults", "2", "--seed", "2372")
    assert (figures["lost"], figures["doubled"], figures["stranded"], figures["differing_rows"]) == (0, 0, 0, 0)
    assert min(figures["served"], figures["rows"]) > 50


@pytest.mark.trial
@pytest.mark.timeout(900)
@pytest.mark.skipif(not monitoring.PROGRAM, reason="Debian's package prometheus is not installed")
def test_an_operator_gets_an_alert_of_frozen_workers_and_nothing_is_lost(tmp_path):
    only = ["--only", "keep all retrieval workers frozen", "--faults", "1"]
    figures = chaos(tmp_path, "--until-alert", *only, "--seconds", "8", "--sources", "20", "--seed", "2372")
    assert (figures["lost"], figures["doubled"], figures["stranded"], figures["differing_rows"]) == (0, 0, 0, 0)
    assert figures["alerts"] == 1


@pytest.mark.trial
@pytest.mark.timeout(900)
@pytest.mark.skipif(not may_mount(), reason="only root may mount a small disk")
def test_a_full_disk_loses_nothing(tmp_path):
    try:
        with data_folder(tmp_path / "disk", on_small_disk=True):
            pass
    except StartError as error:
        pytest.skip(str(error))
    only = ["--only", "fill the disk", "--faults", "1"]
    figures = chaos(tmp_path, *only, "--seconds", "30", "--sources", "20", "--seed", "2373")
    assert (figures["lost"], figures["doubled"], figures["stranded"], figures["differing_rows"]) == (0, 0, 0, 0)


def test_only_a_disk_of_its_own_is_filled(tmp_path):
    with pytest.raises(StartError, match="no disk of its own"):
        Ballast(tmp_path)


def test_every_fault_that_an_operator_gets_an_alert_of_is_drawn_when_alerts_are_awaited():
    expected = {fault.name for fault in (*BY_NAME, CUT_OFF_RETRIEVAL) if fault.alert}
    drawn = draw_faults(len(expected), random.Random(1), with_hosts=True, with_alerts=True)
    assert {fault.name for fault in drawn} == expected
    without_hosts = draw_faults(len(expected), random.Random(1), with_hosts=False, with_alerts=True)
    assert CUT_OFF_RETRIEVAL not in list(without_hosts)


def test_faults_that_take_long_are_drawn_only_by_name():
    drawn = {fault.name for fault in draw_faults(40, random.Random(1), with_hosts=False)}
    assert drawn == {fault.name for fault in FAULTS}
    name = BY_NAME[0].name
    assert [fault.name for fault in draw_faults(2, random.Random(1), with_hosts=False, only=name)] == [name, name]
