"""The files for fleets: they name variables that the documentation explains, and commands that exist."""

import configparser
import re
import shlex
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from gunicorn.config import Config

from portal import environment, roles
from portal.launcher import startup

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
UNITS = sorted(file for file in (DEPLOY / "systemd").glob("*.service") if "backup" not in file.name)
OF_IMAGES = {"PYTHONUNBUFFERED", "POSTGRES_USER", "POSTGRES_DB", "POSTGRES_PASSWORD"}
OF_COMPOSE = {"DATABASE_PASSWORD", "SITE"}  # the file says itself what it is for
PROGRAMS = {"gunicorn", "python"}
PREPARATION = ["-m", "portal.launcher.preparation"]


def documented():
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    names = set(re.findall(r"^\| `([A-Z_]+)` \|", page, re.MULTILINE))
    return names | {f"{name}_FILE" for name in names}


def unit(file):
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str
    parser.read_string(file.read_text(encoding="utf-8"))
    return parser


def composed():
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))


def ours():
    """The services of the compose file that run this program."""
    return {name: service for name, service in composed()["services"].items() if service["image"] == "wirebeat"}


def container_command():
    line = re.search(r"^CMD (\[.*\])$", (DEPLOY / "Containerfile").read_text(encoding="utf-8"), re.MULTILINE)
    return yaml.safe_load(line[1])


def commands():
    found = {"Containerfile": container_command()}
    found |= {f"compose {name}": service["command"] for name, service in ours().items() if "command" in service}
    for file in UNITS:
        for key in ("ExecStartPre", "ExecStart"):
            if line := unit(file)["Service"].get(key):
                found[f"{file.name} {key}"] = shlex.split(line)
    return found


@pytest.mark.parametrize("command", commands().values(), ids=commands().keys())
def test_every_command_exists_and_knows_its_options(command):
    if command[0] == "nice":
        command = command[3:]
    program, *arguments = Path(command[0]).name, *command[1:]
    assert program in PROGRAMS
    if program == "gunicorn":
        assert arguments[0] == "portal.wsgi"
        assert find_spec("portal.wsgi")
        config = Config()
        for name, value in vars(config.parser().parse_args(arguments)).items():
            if value is not None and name in config.settings:
                config.set(name, value)  # which refuses what cannot be meant
        assert config.logger_class.__name__ == "WebLog"
    elif arguments != PREPARATION:
        assert arguments[:2] == ["-m", "portal.roles"]
        given = roles.arguments(arguments[2:])
        assert given.role == "beat" or (given.hostname, given.queues, given.concurrency) == (
            given.hostname,
            *like_up(given.queues),
        )


def like_up(queues):
    """The queues and threads that `up` gives to the worker of a queue."""
    for role in ("retrieval", "derive"):
        given = roles.arguments(startup.commands()[role][-8:])
        if given.queues == queues:
            return given.queues, given.concurrency
    raise AssertionError(f"`up` starts no worker for {queues}")


def test_the_backup_writes_where_it_may_every_night_and_is_tested(tmp_path):
    text = (DEPLOY / "systemd" / "wirebeat-backup.service").read_text(encoding="utf-8")
    [folder] = re.findall(r"^ReadWritePaths=(.*)$", text, re.MULTILINE)
    manage = tmp_path / "manage"
    manage.write_text(f'#!/bin/sh\n[ $2 = restore ] || touch "$3"\necho "$@" >> {tmp_path}/log\n')
    manage.chmod(0o755)
    for day in range(1, 20):
        (tmp_path / f"2020-01-{day:02}.tar.gz").touch()
    for line in re.findall(r"^ExecStart=(.*)$", text, re.MULTILINE):
        shell, option, script = shlex.split(line.replace("$$", "$").replace("%%", "%"))
        here = script.replace(folder, str(tmp_path)).replace("/opt/wirebeat/.venv/bin/python", str(manage))
        subprocess.run([shell, option, here], check=True)
    kept = sorted(file.name for file in tmp_path.glob("*.tar.gz"))
    assert len(kept) == 14
    assert kept[0] == "2020-01-07.tar.gz"
    assert (tmp_path / "log").read_text().splitlines() == [
        f"manage.py backup {tmp_path / kept[-1]}",
        f"manage.py restore --test {tmp_path / kept[-1]}",
    ]
    assert unit(DEPLOY / "systemd" / "wirebeat-backup.timer")["Timer"]["OnCalendar"]


def test_every_variable_is_documented():
    lines = (DEPLOY / "environment.example").read_text(encoding="utf-8").splitlines()
    named = {line.partition("=")[0] for line in lines if not line.startswith("#")}
    for service in composed()["services"].values():
        named |= set(service.get("environment", ()))
    named |= set(re.findall(r"\$\{([A-Z_]+)", (DEPLOY / "compose.yaml").read_text(encoding="utf-8")))
    container = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    for line in re.findall(r"^ENV (.*)$", container, re.MULTILINE):
        named |= {pair.partition("=")[0] for pair in shlex.split(line)}
    named.discard("PATH")
    named -= set(startup.OF_LIBRARIES)
    assert named - OF_IMAGES - OF_COMPOSE <= documented()
    assert len(named) > 10


@pytest.mark.parametrize("file", ["environment.example", "Containerfile"])
def test_processes_take_as_little_memory_as_those_of_up(file):
    wanted = {f"{name}={value}" for name, value in startup.OF_LIBRARIES.items()}
    assert set((DEPLOY / file).read_text(encoding="utf-8").split()) >= wanted


def test_the_example_environment_can_be_read(monkeypatch, tmp_path):
    key = tmp_path / "secret_key"
    key.write_text("k" * 50)
    for line in (DEPLOY / "environment.example").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            name, _, value = line.partition("=")
            monkeypatch.setenv(name, str(key) if name.endswith("_FILE") else value)
    monkeypatch.delenv("WIREBEAT_SECRET_KEY", raising=False)
    assert environment.database("DATABASE_URL", "")["NAME"] == "wirebeat"
    assert environment.truth("WIREBEAT_TLS", False)
    assert environment.secret_key("WIREBEAT_SECRET_KEY", tmp_path / "none") == "k" * 50
    assert environment.choice("WIREBEAT_LOG_FORMAT", "text", "json") == "json"


def test_no_deployment_opens_a_host():
    lines = (DEPLOY / "environment.example").read_text(encoding="utf-8").splitlines()
    assert not [line for line in lines if line.startswith("WIREBEAT_OPEN_HOSTS")]
    for file in [*UNITS, DEPLOY / "compose.yaml", DEPLOY / "Containerfile"]:
        assert "OPEN_HOSTS" not in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("file", UNITS, ids=[file.name for file in UNITS])
def test_units_restart_as_a_user_that_may_little(file):
    service = unit(file)["Service"]
    assert service["User"] != "root"
    assert service["Restart"] == "always"
    assert service["NoNewPrivileges"] == "yes"
    assert unit(file)["Install"]["WantedBy"] == "multi-user.target"


def test_services_wait_for_the_preparation_and_share_volumes_that_exist():
    compose = composed()
    for name, service in ours().items():
        waited = service["depends_on"]
        assert set(waited) <= set(compose["services"])
        assert "preparation" in waited or name == "preparation"
        assert {volume.partition(":")[0] for volume in service["volumes"]} <= set(compose["volumes"])
    assert {"web", "retrieval", "derive", "beat"} < set(ours())
