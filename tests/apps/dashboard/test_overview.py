"""What staff see on the dashboard, and do there."""

import json
import time
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.alerts.models import Message
from apps.dashboard.pages import overview
from apps.dashboard.pages.overview import needs, with_timeout
from apps.dashboard.pages.storage import DAYS_STORED
from apps.dashboard.queries import people_counts
from apps.database.sizes import sizes
from apps.database.statement_timeout import TookTooLong, statement_timeout
from apps.jobs.actions import dead_letters
from apps.jobs.models import DeadLetter
from apps.search.actions.reindexing import consume
from apps.search.queries.state import index_state
from apps.sources.models import AuditEntry
from tests.builders import a_follow, a_mark, a_posting, a_retrieval, a_schedule, a_source, a_user, some_postings

pytestmark = pytest.mark.django_db
PAGES = [
    "dashboard",
    "dashboard_failing",
    "dashboard_queues",
    "dashboard_users",
    "dashboard_storage",
    "sections",
    "dead_letters",
]
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def nothing_kept():
    cache.clear()


@pytest.fixture
def staff(client):
    user = a_user("grace", is_staff=True)
    client.force_login(user)
    return user


# --- who may, and what it costs ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", PAGES)
def test_pages_of_the_dashboard_are_for_staff(client, name):
    assert client.get(reverse(name)).status_code == 302
    client.force_login(a_user())
    assert client.get(reverse(name)).status_code == 403
    client.force_login(a_user(is_staff=True))
    assert client.get(reverse(name)).status_code == 200


@pytest.mark.parametrize("name", ["set_active", "decide_dead_letter", "move_section", "delete_section"])
def test_decisions_need_staff_and_a_post(client, name):
    address = reverse(name, args=[] if name == "decide_dead_letter" else [1])
    client.force_login(a_user())
    assert client.post(address).status_code == 403
    client.force_login(a_user(is_staff=True))
    assert client.get(address).status_code == 405


def test_pages_cost_as_many_queries_for_much_as_for_a_little(client, staff):
    def costs() -> dict[str, int]:
        found = {}
        for name in PAGES:
            client.get(reverse(name))
            with CaptureQueriesContext(connection) as queries:
                client.get(reverse(name))
            found[name] = len(queries)
        return found

    def more(count: int) -> None:
        for _ in range(count):
            source = a_follow().source
            a_schedule(source, failing_since=timezone.now(), consecutive_failures=3)
            a_retrieval(source, outcome="failed")
            some_postings(2, source)

    more(1)
    before = costs()
    more(12)
    assert costs() == before


# --- time -------------------------------------------------------------------------------------------------------------
def test_a_slow_statement_is_left_out_in_time():
    def slow() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(20)")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(overview, "MAX_STATEMENT_SECONDS", 0.05)
        started = time.monotonic()
        assert with_timeout(slow) is None
    assert time.monotonic() - started < 10
    assert with_timeout(lambda: people_counts(timezone.now()))["everybody"] == 0


@pytest.mark.django_db(transaction=True)
def test_a_brief_reading_writes_nothing_and_leaves_the_time_of_others_alone():
    with statement_timeout(0.5), connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchone() == ("500ms",)
        cursor.execute("SHOW transaction_read_only")
        assert cursor.fetchone() == ("on",)
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchone() == ("0",)
    with pytest.raises(TookTooLong), statement_timeout(0.05), connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(20)")


def test_the_dashboard_is_shown_when_nothing_could_be_read(client, staff, monkeypatch):
    monkeypatch.setattr(overview, "with_timeout", lambda *_: None)
    assert client.get(reverse("dashboard")).text.count("This could not be loaded in time.") >= 5


# --- what is not set up -----------------------------------------------------------------------------------------------
def test_missing_settings_are_listed(settings, tmp_path):
    settings.PROJECT_URL, settings.VAR_DIR = "http://localhost:8000", tmp_path
    text = " ".join(need.what for need in needs())
    for problem in (
        "its own address",
        "Mail is not",
        "catalogue is empty",
        "no sections",
        "one administrator",
        "no backup",
    ):
        assert problem in text


def test_present_settings_are_not_listed(settings, tmp_path):
    settings.PROJECT_URL, settings.VAR_DIR, settings.BEHIND_TLS = "https://news.example", tmp_path, True
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    (tmp_path / "latest_backup").write_text(f"{timezone.now().isoformat()}\n")
    a_source(listed=True, category="World")
    a_user(is_staff=True)
    a_user(is_staff=True)
    assert [need.what for need in needs()] == ["The front page has no sections."]
    (tmp_path / "latest_backup").write_text((timezone.now() - 8 * DAY).isoformat())
    a_source(listed=True)
    text = [need.what for need in needs()]
    assert any("no category" in each for each in text)
    assert any("no backup" in each for each in text)


# --- sources that fail ------------------------------------------------------------------------------------------------
def test_failing_sources_are_listed_with_why_since_when_and_for_whom(client, staff):
    now = timezone.now()
    long_ago, lately = a_source(title="The Wire"), a_follow(source=a_source(title="The Bell")).source
    a_schedule(a_source(title="Fine"))
    for source, days, times in ((long_ago, 3, 9), (lately, 1, 2)):
        a_schedule(source, failing_since=now - days * DAY, consecutive_failures=times, due_at=now + DAY)
    a_retrieval(long_ago, outcome="failed", message="No such host.", fetched_at=now)
    a_retrieval(long_ago, outcome="failed", message="An earlier one.", fetched_at=now - DAY)
    page = client.get(reverse("dashboard_failing"))
    assert [source.title for source in page.context["page"]["sources"].object_list] == ["The Wire", "The Bell"]
    assert "No such host." in page.text
    assert "An earlier one." not in page.text
    assert [source.followers for source in page.context["page"]["sources"].object_list] == [0, 1]
    found = client.get(reverse("dashboard_failing"), {"words": "wire", "page": "x"})
    assert [source.title for source in found.context["page"]["sources"].object_list] == ["The Wire"]


# --- people -----------------------------------------------------------------------------------------------------------
def test_people_are_counted_and_found_by_name_or_address(client, staff):
    now = timezone.now()
    ada = a_user("ada", email="ada@example.org", last_login=now - 2 * DAY, date_joined=now - 40 * DAY)
    a_user("bob", is_active=False, date_joined=now - 3 * DAY)
    a_follow(ada)
    a_follow(ada)
    counts = people_counts(now + timedelta(minutes=1))
    assert (counts["everybody"], counts["disabled"], counts["staff"]) == (3, 1, 1)
    assert (counts["seen"], counts["new"]) == ([1, 2, 2], [1, 2, 2])
    [row] = client.get(reverse("dashboard_users"), {"words": "ADA@example"}).context["page"]["people"].object_list
    assert (row.username, row.followed) == ("ada", 2)
    names = {
        state: [
            row.username for row in client.get(reverse("dashboard_users"), {"state": state}).context["page"]["people"]
        ]
        for state in ("disabled", "staff", "nonsense")
    }
    assert (names["disabled"], names["staff"]) == (["bob"], ["grace"])
    assert set(names["nonsense"]) == {"ada", "bob", "grace"}


def test_nothing_of_what_people_read_is_shown(client, staff):
    reader = a_user("reader")
    posting = a_posting(a_source(title="A Telling Source"), title="A Telling Title")
    a_follow(reader, posting.source)
    a_mark(reader, posting, read=True)
    for name in ("dashboard_users", "dashboard"):
        assert "Telling" not in client.get(reverse(name)).text


def test_disabled_accounts_are_signed_out_and_can_be_enabled_again(client, staff):
    person = a_user("ada")
    other = client.__class__()
    other.force_login(person)
    address = reverse("set_active", args=[person.pk])
    assert "can no longer sign in" in client.post(address, {"active": "no"}, follow=True).text
    assert other.get(reverse("river")).status_code == 302
    assert "Nothing changed" in client.post(address, {"active": "no"}, follow=True).text
    assert "can sign in again" in client.post(address, {"active": "yes"}, follow=True).text
    other.force_login(person)
    assert other.get(reverse("river")).status_code == 200
    entries = AuditEntry.objects.order_by("pk").values_list("what", "name", "before", "after")
    name = f"account {person.pk}"
    assert list(entries) == [("person", name, "active", "disabled"), ("person", name, "disabled", "active")]


def test_only_superusers_disable_admins_and_not_themselves(client, staff):
    admin = a_user(is_staff=True)
    assert "your own account" in client.post(reverse("set_active", args=[staff.pk]), {"active": "no"}, follow=True).text
    refused = client.post(reverse("set_active", args=[admin.pk]), {"active": "no"}, follow=True).text
    assert "another administrator" in refused
    client.force_login(a_user(is_staff=True, is_superuser=True))
    client.post(reverse("set_active", args=[admin.pk]), {"active": "no"})
    admin.refresh_from_db()
    staff.refresh_from_db()
    assert (admin.is_active, staff.is_active) == (False, True)


@pytest.mark.parametrize(("user_id", "active"), [(10**6, "no"), (None, "perhaps"), (None, "")])
def test_unknown_accounts_and_states_are_not_found(client, staff, user_id, active):
    address = reverse("set_active", args=[user_id or a_user().pk])
    assert client.post(address, {"active": active}).status_code == 404


# --- queues -----------------------------------------------------------------------------------------------------------
def test_waiting_tasks_are_shown_with_their_age(client, staff):
    a_posting(published_at=timezone.now() - timedelta(minutes=20))
    backlogs = client.get(reverse("dashboard_queues")).context["page"]["backlogs"]
    assert backlogs["search"].length == 1
    assert backlogs["search"].seconds > 1_000
    assert client.get(reverse("dashboard")).context["page"]["late"]


def test_failed_messages_are_shown_without_their_content(client, staff):
    now = timezone.now()
    person = a_user("ada")
    for number, at in enumerate((now - DAY, now)):
        Message.objects.create(
            key=f"00000000-0000-0000-0000-00000000000{number}",
            user=person,
            channel="webhook",
            hits=[],
            state="failed",
            created_at=at,
            due_at=at,
            done_at=at,
            error=f"It answered 50{number}.",
        )
    page = client.get(reverse("dashboard_queues"))
    assert [message.error for message in page.context["page"]["failed"]] == ["It answered 501.", "It answered 500."]
    assert client.get(reverse("dashboard")).context["page"]["failed_today"] == 1


# --- dead letters -----------------------------------------------------------------------------------------------------
@pytest.fixture
def sent(monkeypatch):
    calls = []
    monkeypatch.setattr(
        dead_letters.current_app, "send_task", lambda name, **values: calls.append((name, values)), raising=False
    )
    return calls


def a_stuck_message(task="apps.search.tasks.consume", content=None, **values) -> DeadLetter:
    now = timezone.now()
    content = dead_letters.written([7], {"again": True}) if content is None else content
    given = {"first_at": now, "last_at": now, "abandoned_at": now, "tries": 3, "reason": "Its worker ended."}
    return DeadLetter.objects.create(id=f"id {task}", task=task, content=content, **given | values)


def decide(client, message, what):
    return client.post(reverse("decide_dead_letter"), {"id": message.pk, "do": what}, follow=True).text


def test_a_dead_letter_is_sent_again_unchanged(client, staff, sent):
    message = a_stuck_message()
    page = client.get(reverse("dead_letters")).text
    assert "Its worker ended." in page
    assert client.get(reverse("dashboard")).context["page"]["stuck"] == 1
    assert "It will be sent again." in decide(client, message, "send")
    assert sent == [("apps.search.tasks.consume", {"args": [7], "kwargs": {"again": True}, "ignore_result": True})]
    assert "Someone has already decided on it." in decide(client, message, "send")
    assert len(sent) == 1


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"task": "no.such.task"}, "This program has no task no.such.task."),
        ({"content": "{'task': 1} b'...'"}, "cannot be read"),
        ({"content": json.dumps([1, 2])}, "cannot be read"),
        ({"content": json.dumps({"args": 5, "kwargs": {}})}, "cannot be read"),
    ],
)
def test_an_unsendable_message_stays_until_discarded(client, staff, sent, values, text):
    message = a_stuck_message(**values)
    assert text in decide(client, message, "send")
    assert DeadLetter.objects.exists()
    assert "Discarded." in decide(client, message, "discard")
    assert not DeadLetter.objects.exists()
    assert sent == []


def test_a_message_that_is_being_tried_is_no_matter_of_people(client, staff, sent):
    message = a_stuck_message(abandoned_at=None)
    assert "No dead letters." in client.get(reverse("dead_letters")).text
    assert "already" in decide(client, message, "discard")
    assert DeadLetter.objects.exists()


# --- storage ----------------------------------------------------------------------------------------------------------
def test_sizes_are_those_of_every_table_the_largest_first():
    totals = [size.total for size in sizes()]
    assert totals == sorted(totals, reverse=True)
    found = {size.table: size for size in sizes()}
    assert found["postings_posting"].index_bytes > 0


def test_storage_shows_what_came(client, staff):
    now = timezone.now()
    a_retrieval(fetched_at=now, new=5)
    a_retrieval(fetched_at=now - 2 * DAY, new=7)
    a_retrieval(fetched_at=now - 40 * DAY, new=900)
    page = client.get(reverse("dashboard_storage")).context["page"]
    assert len(page["stored"]) == DAYS_STORED
    assert [day.postings for day in page["stored"] if day.postings] == [7, 5]
    assert page["load"].size > 1_000_000


def test_the_state_of_the_index_is_that_of_its_documents():
    some_postings(3)
    assert index_state().tail == 0
    while consume():
        pass
    assert (index_state().generations, index_state().tail) == (0, 3)
