"""Backups of real databases: what was put in comes out, and what is wrong with an archive changes nothing."""

import gzip
import json
import os
import shutil
import subprocess
import sys
import tarfile
from io import BytesIO, StringIO
from pathlib import Path

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from apps.database import schema
from apps.documents import actions as documents
from apps.documents import queries as kept
from apps.documents import storage
from apps.postings.models import Posting
from lab import throwaway
from portal import databases
from portal.backup import archives
from portal.backup.archives import BadArchive
from portal.launcher import embedded
from portal.launcher.embedded import StartError
from tests.builders import a_source, a_user, some_postings

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("wirebeat_backed_up", "wirebeat_other")


@pytest.fixture
def use(django_db_setup, django_db_blocker, settings, tmp_path):
    """Leads the whole program to another database, the first one a copy of the tests' own, the other one empty."""
    settings.STORAGES = settings.STORAGES | {
        "documents": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": str(tmp_path / "documents")},
        }
    }
    own = connection.settings_dict["NAME"]
    names = {name: f"{name}_{own}"[:50] for name in NAMES}
    with django_db_blocker.unblock():
        connection.close()
        with databases.connect(databases.ADMINISTRATION) as administration:
            for name in names.values():
                databases.drop(administration, name)
            # Threads of earlier tests may still have sessions in the tests' own, which then cannot be copied.
            found = administration.execute("SELECT FROM pg_database WHERE datname = %s", [throwaway.TEMPLATE])
            template = throwaway.TEMPLATE if found.fetchone() is not None else own
            administration.execute(f'CREATE DATABASE "{names[NAMES[0]]}" TEMPLATE "{template}"')

        def lead_to(name):
            connection.close()
            if name == NAMES[1]:  # few tests need it
                with databases.connect(databases.ADMINISTRATION) as administration:
                    databases.make_like(administration, own, names[name])
            connection.settings_dict["NAME"] = names[name]

        try:
            yield lead_to
        finally:
            connection.close()
            connection.settings_dict["NAME"] = own
            with databases.connect(databases.ADMINISTRATION) as administration:
                for name in names.values():
                    databases.drop(administration, name)


@pytest.fixture
def filled(use):
    """A database with people, postings and a document."""
    use(NAMES[0])
    a_user("zoë", first_name="Ž'\\\n")
    some_postings(20, a_source(listed=True, title="The Tide"))
    now = timezone.now()
    document = documents.keep(b"<p>as it came</p>", url="https://a.example/", content_type="text/html", now=now)
    connection.close()
    return document


def contents():
    with databases.connect() as own:
        return databases.contents(own)


def output_of(command, *arguments, **options):
    output = StringIO()
    call_command(command, *map(str, arguments), stdout=output, **options)
    return output.getvalue()


def rewritten(archive, change):
    """The archive with its members changed by a function of name and content; None drops one."""
    members = list(archives.members(archive))
    with gzip.open(archive, "wb") as packed, tarfile.open(fileobj=packed, mode="w|") as tar:
        for name, data in members:
            if (changed := change(name, data)) is not None:
                member = tarfile.TarInfo(name)
                member.size = len(changed)
                tar.addfile(member, BytesIO(changed))


def in_manifest(**values):
    return lambda name, data: json.dumps(json.loads(data) | values).encode() if name == archives.MANIFEST else data


def test_a_backup_is_restored_into_an_empty_installation(use, filled, tmp_path):
    before, archive = contents(), tmp_path / "backup.tar.gz"
    assert "1 documents" in output_of("backup", archive)
    assert contents() == before
    assert archive.stat().st_mode & 0o077 == 0
    storage.delete(filled)
    use(NAMES[1])
    assert "equal in counts and hashes, and 1 documents" in output_of("restore", archive)
    assert contents() == before
    assert before["postings_posting"].rows == 20
    assert kept.read(filled).body == b"<p>as it came</p>"
    assert "Posting" in Client().get("/").text
    a_source()  # its number continues where the former ones ended


def test_a_database_with_rows_is_replaced_only_with_the_option(use, filled, tmp_path):
    archive = tmp_path / "backup.tar.gz"
    output_of("backup", archive)
    before = contents()
    Posting.objects.all().delete()
    connection.close()
    after = contents()
    with pytest.raises(CommandError, match="is not empty"):
        output_of("restore", archive)
    assert contents() == after
    output_of("restore", archive, replace=True)
    assert contents() == before


def test_nothing_is_restored_under_the_feet_of_a_running_portal(use, filled, tmp_path):
    archive = tmp_path / "backup.tar.gz"
    output_of("backup", archive)
    with databases.connect(), pytest.raises(CommandError, match="stop the site, the workers and beat first"):
        output_of("restore", archive, replace=True)


def test_archives_that_are_cut_wrong_or_newer_change_nothing(use, filled, tmp_path):
    archive = tmp_path / "backup.tar.gz"
    output_of("backup", archive)
    whole = archive.read_bytes()
    before = contents()

    def refused(words):
        with pytest.raises(CommandError, match=words):
            output_of("restore", archive, replace=True)
        assert contents() == before
        with databases.connect() as own:
            present = connection.settings_dict["NAME"]  # other tests may restore others now
            names = [f"{present}_restored", f"{present}_replaced"]
            beside = own.execute("SELECT datname FROM pg_database WHERE datname = ANY(%s)", [names]).fetchall()
        assert beside == []

    for length in (0, 10, 1_000, len(whole) // 2, len(whole) - 4):
        archive.write_bytes(whole[:length])
        refused("no whole archive|no manifest")
    archive.write_bytes(whole[:5_000] + bytes([whole[5_000] ^ 1]) + whole[5_001:])
    refused("no whole archive|was changed|cut off")
    archive.write_bytes(b"news " * 1_000)
    refused("no whole archive")
    archive.unlink()
    refused("cannot be read: No such file")

    for change, words in (
        (lambda name, data: None if name.startswith(archives.DOCUMENTS) else data, "does not hold what its manifest"),
        (lambda name, data: None if name == archives.MANIFEST else data, "has no manifest"),
        (in_manifest(version="99.0.0"), "99.0.0, which is newer"),
        (in_manifest(migrations=[["sources", "0099_of_the_future"]]), "has other migrations"),
        (in_manifest(format=2), "format 2"),
        (in_manifest(tables={"postings_posting": [3, "4"]}), "tables are not as they were backed up"),
    ):
        archive.write_bytes(whole)
        rewritten(archive, change)
        refused(words)


def test_an_older_archive_is_migrated(use, filled, tmp_path):
    """The newest migration of one app is undone before the backup, as in a database of an earlier release."""
    call_command("migrate", "documents", "zero", interactive=False, verbosity=0)
    call_command("migrate", "stories", "zero", interactive=False, verbosity=0)
    call_command("migrate", "documents", interactive=False, verbosity=0)
    connection.close()
    archive = tmp_path / "backup.tar.gz"
    output_of("backup", archive)
    use(NAMES[1])
    assert "newer migrations" in output_of("restore", archive)
    with databases.connect() as own:
        assert schema.applied(own) >= schema.known()
    assert Client().get("/").status_code == 200


def test_a_document_whose_time_ends_meanwhile_is_counted_as_missing(use, filled, tmp_path):
    storage.delete(filled)
    assert "1 documents had no file" in output_of("backup", tmp_path / "backup.tar.gz")


def test_a_backup_that_fails_leaves_the_earlier_one(use, filled, tmp_path, monkeypatch):
    archive = tmp_path / "backup.tar.gz"
    archive.write_bytes(b"the earlier one")
    monkeypatch.setattr(databases, "contents", lambda connection: connection.execute("SELECT 1 / 0"))
    with pytest.raises(CommandError, match="There is no backup: division by zero"):
        output_of("backup", archive)
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == [archive.name]
    assert archive.read_bytes() == b"the earlier one"


def test_an_archive_is_test_restored_beside_the_running_portal(use, filled, tmp_path, settings):
    settings.VAR_DIR = tmp_path
    archive = tmp_path / "backup.tar.gz"
    output_of("backup", archive)
    before = contents()
    with databases.connect() as portal:
        assert "Could restore the backup of" in output_of("restore", archive, test=True)
        names = portal.execute("SELECT datname FROM pg_database").fetchall()
    assert not [name for (name,) in names if name.endswith("_tested")]
    assert contents() == before
    assert (tmp_path / "latest_restore_test").exists()


def test_an_archive_that_cannot_be_restored_fails_its_test(use, filled, tmp_path, settings):
    settings.VAR_DIR = tmp_path
    archive = tmp_path / "backup.tar.gz"
    output_of("backup", archive)
    rewritten(archive, in_manifest(tables={"postings_posting": [3, "4"]}))
    with pytest.raises(CommandError, match="tables are not as they were backed up"):
        output_of("restore", archive, test=True)
    assert not (tmp_path / "latest_restore_test").exists()


def test_an_empty_database_is_not_backed_up(use, tmp_path):
    use(NAMES[1])
    with pytest.raises(CommandError, match="there is nothing to back up"):
        output_of("backup", tmp_path / "backup.tar.gz")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("db")
def test_hashes_see_every_row_but_not_their_order(tmp_path):
    with databases.connect() as own, own.transaction(force_rollback=True):
        own.execute("CREATE TABLE public.a (word text); CREATE TABLE public.b (word text)")
        own.execute("INSERT INTO a VALUES ('x'), ('y'), ('y'); INSERT INTO b VALUES ('y'), ('x'), ('y')")
        same = databases.contents(own)
        own.execute("UPDATE b SET word = 'z' WHERE word = 'y'")
        assert same["a"] == same["b"] != databases.contents(own)["b"]


def test_older_client_programs_are_refused_in_a_sentence(monkeypatch):
    with pytest.raises(StartError, match=r"The server is Postgres 99, and the newest pg_dump here is of Postgres \d+"):
        databases.program("pg_dump", 990_001)
    with pytest.raises(StartError, match="is not installed here"):
        databases.program("pg_no_such_program", 150_000)


def test_an_archive_with_a_strange_member_is_refused(tmp_path):
    archive = tmp_path / "strange.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.addfile(tarfile.TarInfo("folder"), BytesIO())
        link = tarfile.TarInfo("documents/../../etc/passwd")
        link.type = tarfile.SYMTYPE
        tar.addfile(link)
    with pytest.raises(BadArchive, match="which no backup has"):
        archives.verified(archive)


def test_a_password_is_in_no_command_line(monkeypatch):
    monkeypatch.setitem(connection.settings_dict, "PASSWORD", "s3cret")
    where, environment = databases.command_line(databases.name())
    assert "s3cret" not in where
    assert environment["PGPASSWORD"] == "s3cret"
    assert psycopg.conninfo.conninfo_to_dict(where)["dbname"] == connection.settings_dict["NAME"]


def test_the_embedded_servers_run_for_a_command_alone_and_stop_with_it(cluster, tmp_path):
    var = tmp_path / "var"
    shutil.copytree(cluster, var / "pg")
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_URL")}
    command = [sys.executable, "manage.py", "backup", str(tmp_path / "backup.tar.gz")]
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment | {"WIREBEAT_VAR": str(var)}, capture_output=True, text=True, check=False
        )
    finally:
        shutil.rmtree(embedded.run_directory(var), ignore_errors=True)
    assert (done.returncode, done.stderr) == (
        1,
        "CommandError: There is no backup: The database is empty: there is nothing to back up.\n",
    )
    assert not (var / "pg" / "postmaster.pid").exists()
