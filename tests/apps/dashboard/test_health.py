"""Health checks and metrics, and who may read them."""

import time
from datetime import timedelta

import pytest
from django.test import override_settings
from django.utils import timezone
from kombu import Connection
from prometheus_client.parser import text_string_to_metric_families

from apps.alerts.models import Message
from apps.dashboard.queries import services
from apps.database import schema
from apps.database.statements import execute
from apps.retrieval.actions.storing import count_lateness
from apps.retrieval.models import Retrieval
from apps.search.models import OutboxRow
from apps.sources import queries as sources
from apps.sources.models import Source
from tests.builders import a_posting, a_schedule, a_source, a_user

pytestmark = pytest.mark.django_db
NOWHERE = "redis://127.0.0.1:1/0"


def numbers(client):
    answer = client.get("/metrics")
    assert answer.status_code == 200
    return {
        (sample.name.removeprefix("wirebeat_"), *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def a_retrieval(**values):
    now = timezone.now()
    times = dict.fromkeys(("due_at", "dispatched_at", "fetched_at", "stored_at"), now - timedelta(minutes=5))
    source = values.pop("source", None) or a_source()
    return Retrieval.objects.create(**{"source": source, "outcome": "new"} | times | values)


def test_a_portal_that_can_work_is_ready(client):
    answer = client.get("/health/ready")
    assert (answer.status_code, answer.text) == (200, "ready\n")
    assert "no-store" in answer["Cache-Control"]


def test_only_services_that_do_not_answer_are_named(client, settings, monkeypatch):
    monkeypatch.setattr(services.current_app, "connection_for_write", lambda **options: Connection(NOWHERE, **options))
    with override_settings(CACHES={"default": settings.CACHES["default"] | {"LOCATION": NOWHERE}}):
        answer = client.get("/health/ready")
    assert answer.status_code == 503
    assert answer.text.splitlines() == ["The broker does not answer.", "The cache does not answer."]


def test_a_missing_migration_makes_it_unready(client, monkeypatch):
    more = schema.known() | {("sources", "0999_of_tomorrow")}
    monkeypatch.setattr(schema, "known", lambda: more)
    answer = client.get("/health/ready")
    assert (answer.status_code, answer.text) == (503, "1 migrations are not applied.\n")


def test_a_missing_or_hanging_database_is_reported_within_the_limit(client, monkeypatch):
    monkeypatch.setattr(services, "LIMIT", 0.2)
    monkeypatch.setattr(services.psycopg, "connect", lambda **_: time.sleep(1))
    started = time.monotonic()
    answer = client.get("/health/ready")
    assert time.monotonic() - started < 0.9
    assert answer.text == "The database does not answer.\n"


def test_neither_redirects_behind_tls(client):
    with override_settings(SECURE_SSL_REDIRECT=True):
        assert [client.get(address).status_code for address in ("/health/ready", "/metrics")] == [200, 200]


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "10.1.2.3", "192.168.0.9", "::ffff:10.0.0.1", "fd00::7"])
def test_private_scrapers_may_read_the_metrics(client, address):
    assert client.get("/metrics", REMOTE_ADDR=address).status_code == 200


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220::1", "::ffff:93.184.216.34", ""])
def test_strangers_may_not(client, address):
    assert client.get("/metrics", REMOTE_ADDR=address).status_code == 404


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "X-Real-IP", "Via"])
def test_a_stranger_behind_a_proxy_of_this_machine_is_one(client, header):
    assert client.get("/metrics", headers={header: "127.0.0.1"}).status_code == 404


def test_with_a_token_it_alone_counts(client, settings):
    settings.METRICS_TOKEN = "s3cret"
    responses = {
        token: client.get("/metrics", headers={"Authorization": token}) for token in ("Bearer s3cret", "Bearer é")
    }
    assert [answer.status_code for answer in responses.values()] == [200, 404]
    assert client.get("/metrics").status_code == 404
    from_afar = client.get("/metrics", REMOTE_ADDR="93.184.216.34", headers={"Authorization": "Bearer s3cret"})
    assert from_afar.status_code == 200


def test_retrievals_of_the_last_hour_are_exported_by_outcome_with_lateness(client):
    now = timezone.now()
    a_retrieval(due_at=now - timedelta(minutes=5, seconds=4))
    a_retrieval(outcome="failed")
    a_retrieval(outcome="failed", fetched_at=now - timedelta(hours=2))
    found = numbers(client)
    assert found["retrievals_last_hour", "new"] == found["retrievals_last_hour", "failed"] == 1
    assert found["retrievals_last_hour", "gone"] == 0
    assert found["retrieval_late_seconds_last_hour_sum",] == pytest.approx(4, abs=0.1)
    assert found["retrieval_late_seconds_last_hour_count",] == 2


def test_delays_of_postings_are_exported_as_a_histogram(client):
    count_lateness([], [50.0, 90.0, 40_000.0])
    found = numbers(client)
    assert found["posting_delay_seconds_sum",] == 40_140
    assert [found["posting_delay_seconds_bucket", bound] for bound in ("60.0", "120.0", "86400.0")] == [1, 2, 3]


def test_sources_are_exported_by_state_and_problem(client):
    now = timezone.now()
    a_schedule(a_source(), due_at=now - timedelta(minutes=10))
    a_schedule(a_source(), due_at=now - timedelta(seconds=1))
    a_schedule(a_source(), due_at=now + timedelta(hours=1), failing_since=now)
    a_source(state=Source.State.PAUSED)
    found = numbers(client)
    assert [found["sources", state] for state in Source.State.values] == [3, 1, 0, 0]
    assert [found[f"sources_{name}",] for name in ("planned", "failing")] == [3, 1]
    assert found["retrieval_overdue_seconds_max",] == pytest.approx(600, abs=5)


def test_very_many_sources_are_estimated(monkeypatch, db):
    for state in ("active", "active", "active", "paused", "paused"):
        a_source(state=state)
    execute("ANALYZE sources_source")
    monkeypatch.setattr(sources, "ESTIMATED_STATES", sources.ESTIMATED_STATES.replace(str(sources.MAX_SOURCES), "3"))
    assert sources.counts_by_state() == {"active": 3, "paused": 2, "gone": 0, "imported": 0}


def test_outboxes_are_exported_with_their_age(client):
    now = timezone.now()
    OutboxRow.objects.all().delete()
    a_posting(published_at=now - timedelta(minutes=10))  # retrieved a minute later
    a_posting(published_at=now - timedelta(days=3), edited_at=now - timedelta(minutes=2))
    found = numbers(client)
    for queue in ("alerts", "search", "stories", "summaries", "trending"):
        assert found["changes_waiting", queue] == 2
        assert found["changes_waiting_seconds", queue] == pytest.approx(540, abs=5)


def test_messages_are_exported_by_state(client):
    now, user = timezone.now(), a_user()
    for number, (state, done) in enumerate(
        [("waiting", None), ("failed", now), ("sent", now), ("sent", now - timedelta(hours=3))]
    ):
        Message.objects.create(
            key=f"{number:032d}",
            user=user,
            channel="mail",
            hits=[],
            state=state,
            created_at=now,
            due_at=now - timedelta(minutes=1),
            done_at=done,
        )
    found = numbers(client)
    assert [found["alert_messages", state] for state in ("waiting", "failed")] == [1, 1]
    assert [found["alert_messages_last_hour", state] for state in ("sent", "failed", "dropped")] == [1, 1, 0]
    assert found["alert_messages_late",] == 1


def test_services_are_exported(client):
    found = numbers(client)
    assert found["database_bytes",] > 1_000_000
    assert found["database_connections", "active"] >= 1
    assert found["broker_messages", "celery"] >= 0
    assert 0 < found["scrape_seconds",] < 5


def test_scraping_reads_a_fixed_number_of_times(client, django_assert_max_num_queries):
    for _ in range(5):
        a_retrieval()
    with django_assert_max_num_queries(40):
        numbers(client)
