"""What a portal gets before its first page."""

import os
import re
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from django.core.management import call_command

from apps.accounts.models import User
from apps.following.models import Follow
from apps.sources.models import Source

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.django_db
def test_the_first_start_makes_an_admin_and_a_catalogue_and_later_ones_nothing(capsys, settings, tmp_path):
    settings.VAR_DIR = tmp_path / "var"
    call_command("prepare")
    output = capsys.readouterr().out
    admin = User.objects.get(is_superuser=True)
    file = Path(re.search(r"sign in as 'admin' with the password in (\S+), and", output)[1])
    password = file.read_text().strip()
    assert admin.check_password(password)
    assert password not in output
    assert file.stat().st_mode & 0o777 == 0o600
    count = Source.objects.count()
    assert f"catalogue of {count} sources" in output
    assert count > 20
    assert not Follow.objects.exists()
    call_command("prepare")
    assert capsys.readouterr().out == ""
    assert (User.objects.count(), Source.objects.count()) == (1, count)


def test_a_database_of_another_version_is_refused_in_a_line_and_left_as_it_is(make_database, tmp_path):
    url = make_database()
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE django_migrations (id serial, app text, name text, applied timestamptz)")
        history = [("sources", "0001_initial"), ("sources", "0002_of_another_version"), ("of_a_removed_app", "0001")]
        connection.cursor().executemany("INSERT INTO django_migrations (app, name) VALUES (%s, %s)", history)
    done = subprocess.run(
        [sys.executable, "-m", "portal.launcher.preparation"],
        cwd=ROOT,
        env=os.environ | {"DATABASE_URL": url, "WIREBEAT_VAR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    [line] = done.stderr.splitlines()
    name = url.partition("?")[0].rpartition("/")[2]
    assert line.startswith(f"The database {name} was made by another version of Wirebeat: it has 1 migrations")
    assert "sources.0002_of_another_version" in line
    assert "`manage.py backup`" in line
    with psycopg.connect(url) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
    assert tables == [("django_migrations",)]
