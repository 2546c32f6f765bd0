"""Archives that are refused, or imported in part."""

import json

import pytest
from django.db import transaction
from pytest_django import DjangoDbBlocker

from apps.account_data.formats import container
from apps.account_data.formats.problems import BadArchive
from apps.alerts.models import Rule
from apps.following.models import Folder, Mark
from tests.apps.account_data.archives import archive_of, everything, import_archive, members_of, rewritten
from tests.apps.account_data.worlds import a_busy_person
from tests.builders import a_user

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def archive(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> bytes:
    """That of a busy person, who is gone."""
    with django_db_blocker.unblock(), transaction.atomic():
        made = archive_of(a_busy_person())
        transaction.set_rollback(True)
    return made


LINE = b'{"source": "https://x.example/", "guid": "1", "changed_at": "2024-05-01T12:00:00+00:00", "read": true}\n'


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"archive__json": None}, "account.json: It has no articles in a known format"),
        ({"archive__json": b"[]"}, "archive.json: It is not a JSON object."),
        ({"archive__json": b'{"format": "wirebeat-archive", "version": 2}'}, "a newer version"),
        ({"marks__jsonl": LINE + b"{\n"}, "marks.jsonl, line 2: It is not JSON"),
        ({"marks__jsonl": LINE + b'{"source": 7}\n'}, "marks.jsonl, line 2: “source” is not a text."),
        ({"marks__jsonl": LINE.replace(b"true", b'"yes!"')}, "marks.jsonl, line 1: “read” cannot have that value."),
        ({"marks__jsonl": LINE.replace(b"2024-05", b"2024-55")}, "marks.jsonl, line 1: “changed_at” is not a time."),
        (
            {"marks__jsonl": LINE.replace(b"+00:00", b"")},
            "marks.jsonl, line 1: “changed_at” is not a time with a zone.",
        ),
        ({"marks__jsonl": b"[" * 50_000}, "marks.jsonl, line 1: It is not JSON"),
        ({"marks__jsonl": b"x" * 100_001}, "marks.jsonl, line 1: The line is longer than 100,000 bytes."),
        ({"marks__jsonl": b"\xff\xfe\n"}, "marks.jsonl, line 1: It is not JSON in UTF-8."),
        ({"following__opml": b"<html/>"}, "following.opml: "),
        ({"folders__jsonl": b'{"path": ["a", ""]}\n'}, "folders.jsonl, line 1: “path” is not a list of names."),
        (
            {"folders__jsonl": b'{"path": ["1","2","3","4","5","6","7","8","9"]}\n'},
            "folders.jsonl, line 1: The folder is nested",
        ),
        ({"tags__jsonl": b'{"tag": " "}\n'}, "tags.jsonl, line 1: A tag needs a name."),
        ({"searches__json": b'[{"name": "x", "query": "((("}]'}, "searches.json, entry 1: "),
        (
            {"searches__json": b'[{"name": "x", "query": "y", "order": "best"}]'},
            "searches.json, entry 1: “order” cannot have that value.",
        ),
        (
            {"searches__json": b'[{"name": "x", "query": "y", "importance": 1e400}]'},
            "searches.json, entry 1: The priority",
        ),
        (
            {"searches__json": b'[{"name": "x", "query": "y", "importance": "much"}]'},
            "searches.json, entry 1: “importance” cannot have that value.",
        ),
        (
            {"searches__json": b'[{"name": "x", "query": "y", "rule": {"webhook_url": "http://127.0.0.1/"}}]'},
            "searches.json, entry 1: The address",
        ),
        (
            {"searches__json": json.dumps([{}] * 101).encode()},
            "searches.json: It has 101 entries; at most 100 are allowed.",
        ),
        ({"notifications__json": b'{"digest_hour": 25}'}, "notifications.json: The hour"),
    ],
)
def test_errors_name_their_place_and_nothing_is_imported(archive, members, message):
    bob = a_user("bob", email="bob@mail.example")
    before = everything(bob)
    with pytest.raises(BadArchive) as raised:
        import_archive(bob, rewritten(archive, **members))
    assert message in str(raised.value)
    assert everything(bob) == before


@pytest.mark.parametrize("data", [b"", b"PK", b"<opml/>", b"PK\x05\x06" + bytes(18) + b"x" * 99])
def test_files_that_are_no_archive_are_refused(data):
    with pytest.raises(BadArchive):
        import_archive(a_user(), data)


def test_a_zip_bomb_is_not_unpacked(monkeypatch):
    monkeypatch.setattr(container, "MAX_MEMBER_BYTES", 10**6)
    archive = archive_of(a_user())
    with pytest.raises(BadArchive, match=r"marks\.jsonl: It is too large when unpacked"):
        import_archive(a_user(), rewritten(archive, marks__jsonl=b" \n" * 10**6))


def test_many_members_or_a_long_list_of_them_are_refused():
    archive = archive_of(a_user())
    with pytest.raises(BadArchive, match="more than 1000 members"):
        import_archive(a_user(), rewritten(archive, **{f"x{number}": b"" for number in range(1_001)}))
    with pytest.raises(BadArchive, match="table of contents"):
        import_archive(a_user(), rewritten(archive, **{"x" * 60_000 + str(number): b"" for number in range(20)}))


def test_a_damaged_archive_is_refused():
    archive = bytearray(archive_of(a_busy_person()))
    place = archive.find(b"marks.jsonl") + 40
    archive[place : place + 20] = bytes(20)
    with pytest.raises(BadArchive, match="damaged"):
        import_archive(a_user(), bytes(archive))


def test_characters_that_postgres_cannot_store_are_removed():
    archive = archive_of(a_user())
    bob = a_user()
    import_archive(bob, rewritten(archive, folders__jsonl=b'{"path": ["a\\u0000b\\ud800"]}\n'))
    assert Folder.objects.get(user=bob).name == "ab"


def test_times_with_an_offset_that_postgres_rejects_are_imported():
    ada, bob = a_busy_person(), a_user("bob")
    archive = archive_of(ada)
    marks = members_of(archive)["marks.jsonl"].replace(b"+00:00", b"+23:59")
    import_archive(bob, rewritten(archive, marks__jsonl=marks))
    assert Mark.objects.filter(user=bob).exists()


def test_unknown_preferences_are_skipped_and_reported():
    bob = a_user()
    members = {
        "account__json": b'{"preferences": {"order": "oldest", "images": "nowhere", "is_staff": true, "flies": 1}}'
    }
    report = import_archive(bob, rewritten(archive_of(a_user()), **members))
    bob.refresh_from_db()
    assert (bob.order, bob.images, bob.is_staff) == ("oldest", "proxied", False)
    assert "images, is_staff, flies" in report.remarks[0]


def test_rules_send_no_mail_without_an_address():
    ada, bob = a_busy_person(), a_user("bob")
    report = import_archive(bob, archive_of(ada))
    assert set(Rule.objects.filter(saved__user=bob).values_list("mail", flat=True)) == {""}
    assert "sends no mail" in report.remarks[0]
