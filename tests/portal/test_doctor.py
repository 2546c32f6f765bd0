"""The doctor: a sound portal is fine, and each problem is reported with its remedy."""

import shutil
from collections import namedtuple
from datetime import timedelta
from functools import cache
from io import StringIO

import pytest
from django.core.management import call_command
from django.utils import timezone
from kombu import Connection

from apps.dashboard.queries import services
from apps.database import clock, schema
from apps.retrieval import sandbox
from apps.retrieval.models import Worker
from apps.retrieval.scheduler.beat import LEADERSHIP
from apps.search.models import OutboxRow
from portal import databases, doctor
from tests.builders import a_posting, a_schedule, a_source

pytestmark = pytest.mark.django_db
NOWHERE = "redis://127.0.0.1:1/0"
measured = cache(sandbox.measures)  # by a child process, whose start takes longer than all other checks


@pytest.fixture(autouse=True)
def hasty(monkeypatch, settings, tmp_path):
    monkeypatch.setattr(doctor, "ANSWER_WITHIN", 0.05)
    monkeypatch.setattr(doctor, "MIN_FREE_BYTES", 1)
    monkeypatch.setattr(doctor, "MIN_FREE_SHARE", 0.0)
    monkeypatch.setattr(doctor.sandbox, "measures", measured)
    settings.DEBUG = False
    settings.VAR_DIR = tmp_path
    settings.SECRET_KEY = "0123456789abcdef" * 6
    settings.STORAGES = settings.STORAGES | {
        "documents": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": str(tmp_path / "documents")},
        }
    }


def findings():
    return {finding.name: finding for finding in doctor.examined()}


def advice(name):
    return findings()[name].advice


def test_beside_a_demo_it_says_that_it_examines_another_portal(tmp_path):
    assert findings()["demo"].is_fine
    (tmp_path / "demo-x1").mkdir()
    assert not findings()["demo"].is_fine
    assert not findings()["demo"].is_wrong  # the demo itself may be sound


def test_a_sound_portal_is_fine(live_server, settings, monkeypatch):
    settings.PROJECT_URL = live_server.url
    monkeypatch.setattr(doctor, "ANSWER_WITHIN", 5.0)
    monkeypatch.setattr(doctor.current_app.control, "inspect", lambda **_: namedtuple("I", "ping")(lambda: {"one": {}}))
    Worker.objects.create(name="retrieval@here", seen_at=timezone.now() + timedelta(hours=1))
    with databases.connect() as beat:
        beat.execute("SELECT pg_advisory_lock(%s)", [LEADERSHIP])
        found = findings()
    assert [finding for finding in found.values() if not finding.is_fine] == []
    assert len(found) == len(doctor.ALONE) + len(doctor.OF_THE_DATABASE) + len(doctor.ALARMS) - 1


def test_servers_that_do_not_run_are_reported_with_a_remedy():
    found = findings()
    assert found["workers"].advice == "Start one: celery -A portal worker -P threads -c 32"
    assert found["beat"].advice == "Start one: celery -A portal beat --pidfile="
    assert "WIREBEAT_URL" in found["address"].advice


def test_findings_are_printed_as_lines():
    lines = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("doctor", stdout=lines)
    assert ended.value.code == 1
    assert "Wrong: workers, address, beat, NoRetrievalWorker." in lines.getvalue()


def test_a_database_that_does_not_answer_ends_what_needs_it(monkeypatch):
    monkeypatch.setitem(databases.connections["default"].settings_dict, "NAME", "no_such_database")
    found = findings()
    assert "no_such_database" in found["database"].text
    assert "manage.py up" in found["database"].advice
    assert "migrations" not in found


def test_missing_and_leftover_migrations_are_two_things(monkeypatch):
    known = schema.known()
    monkeypatch.setattr(schema, "known", lambda: known | {("sources", "0999_of_tomorrow")})
    assert advice("migrations") == "manage.py migrate"
    monkeypatch.setattr(schema, "known", lambda: known - {max(name for name in known if name[0] == "sources")})
    assert "newer program" in advice("migrations")


def test_servers_that_do_not_answer_are_reported(monkeypatch, settings):
    monkeypatch.setattr(services.current_app, "connection_for_write", lambda **options: Connection(NOWHERE, **options))
    monkeypatch.setattr(services.current_app, "connection_or_acquire", lambda *given: Connection(NOWHERE))
    settings.CACHES = {"default": settings.CACHES["default"] | {"LOCATION": NOWHERE}}
    found = findings()
    assert "BROKER_URL" in found["broker"].advice
    assert "BROKER_URL" in found["workers"].advice
    assert "CACHE_URL" in found["cache"].advice


def test_a_weak_or_readable_secret_is_reported(settings, tmp_path):
    (tmp_path / "secret_key").write_text("x")
    (tmp_path / "secret_key").chmod(0o644)
    assert advice("secret key").startswith("chmod 600")
    settings.SECRET_KEY = "a" * 80
    assert "50 random characters" in advice("secret key")


def test_each_open_host_is_warned_of_and_nothing_is_wrong(settings):
    settings.RETRIEVAL_OPEN_HOSTS = []
    assert findings()["open hosts"].is_fine
    settings.RETRIEVAL_OPEN_HOSTS = ["nas.lan:8080", "10.0.0.0/8"]
    found = findings()["open hosts"]
    assert found.text == "nas.lan is open on port 8080. 10.0.0.0/8 is open on all usual ports."
    assert (found.is_fine, found.is_wrong) == (False, False)


def test_a_full_disk_and_a_storage_that_cannot_be_written_are_reported(monkeypatch, settings, tmp_path):
    usage = namedtuple("Usage", "total free")(10**12, 10**10)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    monkeypatch.setattr(doctor, "MIN_FREE_SHARE", 0.05)
    (tmp_path / "documents").write_text("a file where the folder should be")
    found = findings()
    assert "9.3 of 931.3 GiB" in found["disk"].text
    assert not found["disk"].is_fine
    assert not found["documents"].is_fine


def test_a_wrong_clock_is_reported(monkeypatch):
    monkeypatch.setattr(clock.time, "time", lambda: 0.0)
    assert advice("ClockWrong") == "Let both machines follow a time server."


def test_mail_that_cannot_be_sent_is_reported(settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    assert advice("mail") == "Correct EMAIL_URL."
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    assert advice("mail") == "Set EMAIL_URL."


def test_overdue_sources_and_waiting_changes_are_reported():
    OutboxRow.objects.all().delete()
    a_schedule(a_source(), due_at=timezone.now() - timedelta(hours=1))
    a_posting(published_at=timezone.now() - timedelta(hours=1))
    found = findings()
    assert found["RetrievalsOverdue"].text == "1 checks have been due for more than a minute."
    assert found["RetrievalsOverdue"].advice
    assert found["DerivedWorkLate"].advice


def test_a_failing_check_is_a_finding_and_does_not_stop_the_others(monkeypatch):
    monkeypatch.setattr(doctor.sandbox, "measures", lambda: 1 / 0)
    found = findings()
    assert "ZeroDivisionError" in found["page sandbox"].text
    assert found["migrations"].is_fine
