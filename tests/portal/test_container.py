"""What the Containerfile copies is all that the program needs."""

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
import yaml
from django.utils import translation

from lab import throwaway

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.timeout(600)  # s; the machine may be busy
TEXT = (ROOT / "deploy" / "Containerfile").read_text(encoding="utf-8")
HIDDEN = shutil.ignore_patterns(".*")  # bytecode is copied: to compile everything again takes many seconds


# In one process, since each loads the whole program; prints the names of its commands.
CHECKED = """
from portal.celery import app
app.loader.import_default_modules()
from django.core.management import call_command, get_commands
call_command("check")
call_command("makemigrations", check_changes=True, dry_run=True)
print(*get_commands())
"""


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """The files of the image, copied as the Containerfile says."""
    folder = tmp_path_factory.mktemp("image")
    for line in re.findall(r"^COPY ((?!--).+)$", TEXT, re.MULTILINE):  # those of the first stage are its packages
        *names, place = line.split()
        for name in names:
            target = folder / place / Path(name).name if place.endswith("/") else folder / place
            target.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, target, ignore=HIDDEN, dirs_exist_ok=True)
            else:
                shutil.copy(ROOT / name, target)
    return folder


@pytest.fixture
def surroundings(make_database, tmp_path):
    """The environment of the image, except the database and the folder of data."""
    plain = {
        name: value for name, value in os.environ.items() if not name.startswith(("WIREBEAT_", "PYTHON", "DJANGO"))
    }
    for line in re.findall(r"^ENV ((?!PATH).+)$", TEXT, re.MULTILINE):
        plain |= dict(pair.split("=", 1) for pair in shlex.split(line))
    return plain | {"DATABASE_URL": make_database(throwaway.TEMPLATE), "WIREBEAT_VAR": str(tmp_path)}


def of_every_page():
    return re.findall(r'{% translate "([^"&<>]+)" %}', (ROOT / "templates" / "base.html").read_text(encoding="utf-8"))


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def page(address, language):
    request = urllib.request.Request(address, headers={"Accept-Language": language})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read().decode()


def is_answered(address):
    try:
        return bool(page(address, "en"))
    except OSError:
        return False


@pytest.mark.trial
def test_the_program_runs_from_the_copied_files_alone(image, surroundings, until):
    def run(*arguments):
        subprocess.run([sys.executable, *arguments], cwd=image, env=surroundings, check=True)

    run("-m", "portal.launcher.preparation")
    command = json.loads(re.search(r"^CMD (\[.*\])$", TEXT, re.MULTILINE)[1])
    where = f"127.0.0.1:{free_port()}"
    command[command.index("--bind") + 1] = where
    with subprocess.Popen([sys.executable, "-m", *command], cwd=image, env=surroundings) as site:
        try:
            address = f"http://{where}/accounts/login/"
            assert until(lambda: is_answered(address) or site.poll() is not None)
            english, chinese = page(address, "en"), page(address, "zh-hans")
            texts = [text for text in of_every_page() if text in english]
            assert len(texts) > 5
            with translation.override("zh-hans"):
                assert [text for text in texts if translation.gettext(text) not in chinese] == []
            assert is_answered(f"http://{where}/static/css/base.css")
        finally:
            site.terminate()


@pytest.mark.trial
def test_the_demo_is_in_the_image_and_the_program_runs_without_the_laboratory(image, surroundings, tmp_path):
    def commands_in(folder):
        done = subprocess.run(
            [sys.executable, "-c", CHECKED], cwd=folder, env=surroundings, stdout=subprocess.PIPE, text=True, check=True
        )
        return set(done.stdout.splitlines()[-1].split())

    alone = tmp_path / "alone"
    shutil.copytree(image, alone, ignore=shutil.ignore_patterns("lab"))
    assert commands_in(image) - commands_in(alone) >= {"replay", "chaos"}
    done = subprocess.run(
        [sys.executable, "manage.py", "test"],
        cwd=alone,
        env=surroundings,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, "The command test needs the folder lab/, which is missing here.\n")


def stages():
    """The instructions of each stage."""
    return [stage.split("\n") for stage in re.split(r"^(?=FROM )", TEXT, flags=re.MULTILINE)[1:]]


def test_the_last_stage_has_no_tools_of_building_and_runs_as_a_user_that_may_little():
    build, last = stages()
    assert build[0].endswith(" AS build")
    assert any("--require-hashes" in line for line in build)
    assert not any("pip install" in line for line in last)
    assert "USER 10001" in last
    assert last.index("USER 10001") < next(number for number, line in enumerate(last) if line.startswith("CMD "))
    assert re.search(r"^ARG BASE=\S+@sha256:[0-9a-f]{64}$", TEXT, re.MULTILINE)
    assert all(stage[0].startswith("FROM ${BASE}") for stage in stages())


def test_translations_are_compiled_and_health_is_checked():
    assert (ROOT / "locale" / "zh_Hans" / "LC_MESSAGES" / "django.mo").exists()
    command = json.loads(re.search(r"^HEALTHCHECK .* CMD (\[.*\])$", TEXT, re.MULTILINE)[1])
    assert "/health/live" in command[-1]


def test_grace_periods_fit_what_ends():
    compose = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text(encoding="utf-8"))
    grace = {name: service.get("stop_grace_period") for name, service in compose["services"].items()}
    web = json.loads(re.search(r"^CMD (\[.*\])$", TEXT, re.MULTILINE)[1])
    assert int(web[web.index("--graceful-timeout") + 1]) < int(grace["web"].removesuffix("s"))
    for role in ("retrieval", "derive"):
        unit = (ROOT / "deploy" / "systemd" / f"wirebeat-{role}@.service").read_text(encoding="utf-8")
        assert re.search(r"^TimeoutStopSec=(\d+)$", unit, re.MULTILINE)[1] == "120"
        assert grace[role] == "2m"
