"""Releases: the version, what an upgrade would do, and schemas that the former version can still work with."""

import ast
import json
import os
import re
import subprocess
import sys
from io import StringIO
from pathlib import Path

import psycopg
import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState

from apps.database import schema
from lab import throwaway
from portal import databases

ROOT = Path(__file__).resolve().parents[2]
PREVIOUS = json.loads((ROOT / "tests" / "portal" / "previous_release.json").read_text(encoding="utf-8"))
FORMER = {(app, name) for app, names in PREVIOUS["migrations"].items() for name in names}


def upgrade(**options):
    output = StringIO()
    call_command("upgrade", stdout=output, **options)
    return output.getvalue()


# --- versions ---------------------------------------------------------------------------------------------------------
def test_the_changelog_begins_with_this_version(settings):
    assert re.fullmatch(r"\d+\.\d+\.\d+", settings.VERSION)
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## (\S+)", text, re.MULTILINE)[1] == settings.VERSION


def test_migrations_are_known_by_their_files_as_django_knows_them():
    assert schema.known() == frozenset(MigrationLoader(None).disk_migrations)


@pytest.mark.django_db
def test_the_check_says_the_version_and_changes_nothing(settings, monkeypatch):
    assert upgrade(check=True) == f"Wirebeat {settings.VERSION}\n0 migrations are to be applied.\n"
    applied = schema.applied
    monkeypatch.setattr(schema, "applied", lambda own: applied(own) - {("documents", "0002_damage")})
    output = upgrade(check=True)
    assert "1 migrations are to be applied." in output
    assert "documents.0002_damage: other processes may go on" in output


@pytest.mark.trial
def test_an_upgrade_migrates_an_empty_database(make_database, tmp_path):
    done = subprocess.run(
        [sys.executable, "manage.py", "upgrade"],
        cwd=ROOT,
        env=os.environ | {"DATABASE_URL": make_database(), "WIREBEAT_VAR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "The database has the schema of this version." in done.stdout


# --- older programs ---------------------------------------------------------------------------------------------------
@pytest.fixture
def newer(make_database):
    """The environment of a program whose database a newer version has migrated."""
    url = make_database(throwaway.TEMPLATE)
    with psycopg.connect(url, autocommit=True) as own:
        own.execute("INSERT INTO django_migrations (app, name, applied) VALUES ('sources', '0999_of_tomorrow', now())")
    return os.environ | {"DATABASE_URL": url}


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["-m", "portal.launcher.preparation"], marks=pytest.mark.trial),  # test_prepare has it
        pytest.param(["-m", "portal.roles", "portal", "beat"], marks=pytest.mark.trial),  # as the worker
        ["-m", "portal.roles", "portal", "worker", "--hostname", "x@%h", "--queues", "celery", "--concurrency", "1"],
        pytest.param(["-c", "import portal.wsgi"], marks=pytest.mark.trial),
        pytest.param(["manage.py", "upgrade", "--check"], marks=pytest.mark.trial),
    ],
    ids=["preparation", "beat", "worker", "site", "upgrade"],
)
def test_an_older_program_refuses_a_newer_database_in_a_sentence(newer, command, tmp_path):
    done = subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env=newer | {"WIREBEAT_VAR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 1
    line = done.stderr.splitlines()[-1]
    assert "made by another version of Wirebeat" in line
    assert "sources.0999_of_tomorrow" in line
    assert "Start the newer version" in line


# --- expand and contract ----------------------------------------------------------------------------------------------
REMOVING = {"RemoveField", "DeleteModel", "RenameField", "RenameModel", "AlterModelTable", "RemoveIndexConcurrently"}


def removals(migration) -> set[str]:
    """The operations that take away what a former program may use."""
    return {type(operation).__name__ for operation in migration.operations} & REMOVING


def test_new_migrations_remove_nothing_that_the_former_version_uses():
    migrations = MigrationLoader(None).disk_migrations
    ours = {config.label for config in apps.get_app_configs() if config.name.startswith("apps.")}
    for key in schema.known() - FORMER:
        if key[0] in ours and (found := removals(migrations[key])):
            assert getattr(migrations[key], "contracts", ""), f"{key} removes ({found}) and names no version"


def columns(own) -> dict[str, dict[str, tuple[str, bool]]]:
    """By table, the type of each column and whether a row can be inserted without it."""
    found: dict[str, dict[str, tuple[str, bool]]] = {}
    rows = own.execute(
        "SELECT table_name, column_name, data_type, is_nullable = 'YES' OR column_default IS NOT NULL"
        " OR is_identity = 'YES' OR is_generated = 'ALWAYS' FROM information_schema.columns"
        " WHERE table_schema = 'public'"
    )
    for table, column, kind, is_optional in rows.fetchall():
        found.setdefault(table, {})[column] = (kind, is_optional)
    return found


def former_state() -> ProjectState:
    loader = MigrationLoader(connection, ignore_no_migrations=True)
    leaves = [key for key in FORMER if not any(child in FORMER for child in loader.graph.node_map[key].children)]
    return loader.project_state(leaves)


@pytest.mark.django_db
def test_the_models_of_the_former_version_read_and_write_the_new_schema():
    with databases.connect() as own:
        present = columns(own)
    for model in former_state().apps.get_models(include_auto_created=True):
        table, fields = model._meta.db_table, {field.column for field in model._meta.concrete_fields}
        if model._meta.managed:
            list(model._default_manager.all()[:1])  # with all its columns
            required = {name for name, (_, is_optional) in present[table].items() if not is_optional}
            assert required <= fields, f"{table}: the former version inserts rows without {required - fields}"


def test_statements_of_migrations_lock_no_large_table_for_long():
    """Indexes of large tables are made concurrently, since writers of the former version wait otherwise."""
    large = {"posting", "mark", "retrieval", "row", "document", "member"}
    for app, name in schema.known() - FORMER:
        config = next(config for config in apps.get_app_configs() if config.label == app)
        tree = ast.parse(Path(config.path, "migrations", f"{name}.py").read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "AddIndex":
                values = [*node.args, *(keyword.value for keyword in node.keywords)]
                models = {value.value for value in values if isinstance(value, ast.Constant)}
                assert not models & large, f"{app}.{name} makes an index of {models & large}"
