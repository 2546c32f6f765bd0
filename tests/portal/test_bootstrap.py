"""The way into the virtual environment, tried in a checkout that needs one tiny package and no network."""

import hashlib
import os
import runpy
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from portal.launcher import bootstrap

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = """
import sys, tiny
def main(arguments):
    print(sys.prefix, tiny.VERSION, *arguments[1:])
    return 5
"""


def make_wheel(folder, version):
    """A package `tiny`, and the line that locks it."""
    path = folder / f"tiny-{version}-py3-none-any.whl"
    files = {
        "tiny.py": f"VERSION = {version!r}\n",
        f"tiny-{version}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: tiny\nVersion: {version}\n",
        f"tiny-{version}.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = f"tiny-{version}.dist-info/RECORD"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
        wheel.writestr(record, "".join(f"{name},,\n" for name in [*files, record]))
    return f"tiny=={version} --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"


@pytest.fixture
def checkout(tmp_path):
    checkout = tmp_path / "a checkout"
    launcher = checkout / "portal" / "launcher"
    launcher.mkdir(parents=True)
    shutil.copy(ROOT / "manage.py", checkout)
    for name in ("__init__.py", "bootstrap.py"):
        shutil.copy(ROOT / "portal" / "launcher" / name, launcher)
    (launcher / "commands.py").write_text(COMMANDS)
    (checkout / "portal" / "requirements.lock").write_text(make_wheel(tmp_path, "1.0"))
    (checkout / "portal" / "requirements-test.lock").write_text(make_wheel(tmp_path, "1.1"))
    return checkout


def manage(checkout, *arguments):
    given = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": checkout.parent.as_uri(), "UV_OFFLINE": "1"}
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("WIREBEAT_", "PIP_", "UV_"))}
    return subprocess.Popen(
        [sys._base_executable, checkout / "manage.py", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=plain | given,
    )


@pytest.mark.trial
def test_the_first_command_installs_and_the_next_ones_find_everything(checkout):
    at_once = [manage(checkout, "up"), manage(checkout, "up")]
    outputs = [process.communicate() for process in at_once]
    assert [process.returncode for process in at_once] == [5, 5], outputs  # the command's own
    assert [out for out, _ in outputs] == [f"{checkout / '.venv'} 1.0 up\n"] * 2
    assert sum("Installed in" in err for _, err in outputs) == 1
    assert sum("Waiting for another command" in err for _, err in outputs) == 1

    again = manage(checkout, "migrate", "--plan")
    assert again.communicate() == (f"{checkout / '.venv'} 1.0 migrate --plan\n", "")

    # The tools of the tests come on top, into the same environment, and stay.
    made = (checkout / ".venv" / "pyvenv.cfg").stat().st_mtime_ns
    out, err = manage(checkout, "test").communicate()
    assert out == f"{checkout / '.venv'} 1.1 test\n"
    assert "Installed in" in err
    assert manage(checkout, "up").communicate() == (f"{checkout / '.venv'} 1.1 up\n", "")
    assert (checkout / ".venv" / "pyvenv.cfg").stat().st_mtime_ns == made

    # An interrupted installation starts again.
    (checkout / ".venv" / "stamp").write_text("unfinished\n")
    (checkout / ".venv" / "half").touch()
    assert manage(checkout, "up").communicate()[0] == f"{checkout / '.venv'} 1.0 up\n"
    assert not (checkout / ".venv" / "half").exists()


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """A `.venv` that is complete as far as its stamp says."""
    environment = tmp_path / ".venv"
    (environment / "bin").mkdir(parents=True)
    (environment / "bin" / "python").symlink_to(sys.executable)
    monkeypatch.setattr(bootstrap, "PYTHON", environment / "bin" / "python")
    monkeypatch.setattr(bootstrap, "STAMP", environment / "stamp")
    stamp = [bootstrap._python_line(), bootstrap._lock_line(bootstrap.RUNNING)]
    (environment / "stamp").write_text("\n".join(stamp))
    return environment


def test_what_the_stamp_lists_is_installed(environment):
    assert bootstrap._is_installed(bootstrap.RUNNING)
    assert not bootstrap._is_installed(bootstrap.TESTING)


def break_interpreter(environment):
    (environment / "bin" / "python").unlink()
    (environment / "bin" / "python").symlink_to("/nonexistent/python")


def leave_unfinished(environment):
    (environment / "stamp").write_text("unfinished\n")


def replace_python(environment):
    """As if it were of another version."""
    (environment / "bin" / "python").unlink()
    (environment / "bin" / "python").write_text("#!/bin/sh\necho 3.10.0 '(other)'\n")
    (environment / "bin" / "python").chmod(0o755)
    (environment / "stamp").unlink()


@pytest.mark.parametrize("damage", [break_interpreter, leave_unfinished, replace_python])
def test_a_damaged_environment_is_replaced(damage, environment):
    damage(environment)
    assert not bootstrap._is_installed(bootstrap.RUNNING)
    assert not bootstrap._is_usable()


def test_a_virtual_environment_made_by_hand_with_the_same_python_is_kept(environment):
    (environment / "stamp").unlink()
    assert not bootstrap._is_installed(bootstrap.RUNNING)
    assert bootstrap._is_usable()


def test_an_existing_environment_can_be_used(monkeypatch):
    monkeypatch.setenv("WIREBEAT_NO_VENV", "1")
    monkeypatch.setattr(bootstrap, "STAMP", Path("/nonexistent"))
    bootstrap.enter(["manage.py", "up"])


def test_a_python_without_ensurepip_names_the_package_to_install(tmp_path, monkeypatch):
    def fail(*arguments, **options):
        raise subprocess.CalledProcessError(1, "ensurepip")

    monkeypatch.setattr("venv.create", fail)
    monkeypatch.setattr(bootstrap, "ENVIRONMENT", tmp_path / ".venv")
    with pytest.raises(SystemExit, match="apt install python3-venv"):
        bootstrap._make_environment()


def test_an_old_python_is_refused_with_a_sentence(monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 10, 4))
    with pytest.raises(SystemExit, match=r"needs Python 3\.11 or newer"):
        runpy.run_path(str(ROOT / "manage.py"), run_name="__main__")


def test_the_tests_lock_holds_everything_that_the_running_lock_holds():
    def pins(path):
        lines = path.read_text().splitlines()
        return {line.rstrip(" \\") for line in lines if "==" in line and line[0] not in "# "}

    assert pins(bootstrap.RUNNING) <= pins(bootstrap.TESTING)
