"""Export of an account, and import into another one."""

import json
from datetime import datetime, timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from lxml import etree

from apps.account_data import actions, queries
from apps.account_data.members import MEMBERS, base
from apps.account_data.models import Waiting
from apps.accounts.models import User
from apps.alerts.models import Rule
from apps.following import actions as following
from apps.following import queries as follows
from apps.following.models import Follow, Mark
from apps.following.queries import Scope
from apps.postings.actions import Document, store
from apps.postings.models import Posting
from apps.search.models import SavedSearch
from apps.sources.formats import opml
from apps.sources.formats.feed import ParsedEntry
from apps.sources.models import Source
from tests.apps.account_data.archives import (
    HOUR,
    LATER,
    archive_of,
    everything,
    import_archive,
    members_of,
    rewritten,
    without_postings,
)
from tests.apps.account_data.worlds import a_busy_person, published
from tests.builders import NOON, a_follow, a_mark, a_source, a_user

pytestmark = pytest.mark.django_db


def test_an_archive_restores_everything_in_another_account():
    ada = a_busy_person()
    bob = a_user("bob", email="bob@mail.example")
    report = import_archive(bob, archive_of(ada))
    assert everything(bob) == everything(ada)
    assert (report.waiting, report.left_out) == (0, 0)
    assert report.remarks == ()
    assert User.objects.get(pk=bob.pk).username == "bob"


def arrive(source: Source, published_at: datetime) -> Posting:
    guid = str(published_at)
    entry = ParsedEntry(guid=guid, link=f"{source.url}/{guid}", title=guid, content=guid, published=published_at)
    store([Document(source.pk, [entry], source.url, "", "en", LATER)])
    return Posting.objects.get(source=source, guid=guid)


def unread_of(user: User) -> set[int]:
    return set(follows.unread(follows.postings_in(user, Scope("all")), user).values_list("pk", flat=True))


def test_lists_marked_read_and_late_postings_keep_their_state_elsewhere():
    ada, bob = a_busy_person(), a_user("bob", email="bob@mail.example")
    following.marking.mark_all_read(ada, Scope("all"), shown_at=LATER, now=LATER)
    source = Follow.objects.filter(user=ada).order_by("pk")[0].source
    late, starred = arrive(source, NOON - 5 * HOUR), arrive(source, NOON - 6 * HOUR)
    following.marks.star(ada, starred.pk, starred=True, now=LATER)
    again = Mark.objects.filter(user=ada, read=True).first().posting_id
    following.marks.mark_read(ada, [again], read=False, now=LATER)
    assert unread_of(ada) == {late.pk, starred.pk, again}
    import_archive(bob, archive_of(ada))
    assert unread_of(bob) == unread_of(ada)
    new = arrive(source, NOON + HOUR)
    assert unread_of(bob) == {late.pk, starred.pk, again, new.pk}


def test_a_second_import_changes_nothing():
    ada, bob = a_busy_person(), a_user("bob", email="bob@mail.example")
    archive = archive_of(ada)
    import_archive(bob, archive)
    before = everything(bob)
    import_archive(bob, archive)
    assert everything(bob) == before
    assert members_of(archive_of(bob)).keys() == members_of(archive).keys()


def test_importing_into_the_same_account_changes_nothing():
    ada = a_busy_person()
    before = everything(ada)
    import_archive(ada, archive_of(ada))
    assert everything(ada) == before


def test_later_changes_are_kept():
    ada, bob = a_busy_person(), a_user("bob")
    archive = archive_of(ada)
    read = Mark.objects.filter(user=ada, read=True, starred_at=None).get()
    starred = Mark.objects.filter(user=ada, starred_at__isnull=False).get()
    a_mark(bob, read.posting, read=False, changed_at=read.changed_at + timedelta(seconds=1))
    a_mark(bob, starred.posting, read=False, changed_at=starred.changed_at - timedelta(seconds=1))
    a_follow(bob, Source.objects.get(title="First"), title="Bob's name", unread_from=NOON)
    import_archive(bob, archive)
    assert Mark.objects.get(user=bob, posting=read.posting).read is False
    assert Mark.objects.get(user=bob, posting=starred.posting).starred_at == starred.starred_at
    assert Follow.objects.get(user=bob, source__title="First").unread_from == NOON


def test_unknown_sources_are_added_and_marks_wait_for_their_postings():
    ada, bob = a_busy_person(), a_user("bob", email="bob@mail.example")
    archive, kept = archive_of(ada), everything(ada)
    addresses = set(Source.objects.filter(follows__user=ada).values_list("url", flat=True))
    Source.objects.all().delete()
    report = import_archive(bob, archive)
    assert set(Source.objects.filter(follows__user=bob).values_list("url", flat=True)) == addresses
    waiting = [each for name in ("marks", "reactions", "highlights") for each in kept[name]]
    assert report.waiting == len(waiting) + 2 + 3  # two are tagged, three noted, read or heard
    assert not Mark.objects.filter(user=bob).exists()
    assert members_of(archive_of(bob))["marks.jsonl"].count(b"\n") == len(kept["marks"])
    actions.settle(now=LATER + timedelta(minutes=2))
    assert Waiting.objects.count() == report.waiting
    for source in Source.objects.filter(follows__user=bob):  # their postings arrive
        published(source)
    assert actions.settle(now=LATER + timedelta(minutes=3)) == 0  # the interval between checks doubles
    actions.settle(now=LATER + timedelta(minutes=5))
    assert not Waiting.objects.exists()
    for name in ("marks", "reactions", "highlights"):
        assert without_postings(everything(bob)[name]) == without_postings(kept[name])
    assert len(everything(bob)["tags"]) == len(kept["tags"])


def test_waiting_lines_expire():
    ada, bob = a_busy_person(), a_user("bob", email="bob@mail.example")
    archive = archive_of(ada)
    Source.objects.all().delete()
    import_archive(bob, archive)
    assert actions.settle(now=LATER + timedelta(days=29)) > 0
    assert Waiting.objects.exists()
    actions.settle(now=LATER + timedelta(days=90))
    assert not Waiting.objects.exists()


def test_waiting_lines_are_counted_once_and_limited(monkeypatch):
    ada, bob = a_busy_person(), a_user("bob", email="bob@mail.example")
    archive = archive_of(ada)
    Source.objects.all().delete()
    import_archive(bob, archive)
    count = Waiting.objects.count()
    import_archive(bob, archive)
    assert Waiting.objects.count() == count
    monkeypatch.setattr(base, "MAX_WAITING", 1)
    report = import_archive(a_user(email="x@mail.example"), archive)
    assert (report.waiting, report.left_out) == (1, count - 1)


def test_lines_about_unknown_sources_are_left_out():
    line = (
        b'{"source": "https://unknown.example/", "guid": "1", "changed_at": "2024-05-01T12:00:00+00:00", "read": true}'
    )
    report = import_archive(a_user(), rewritten(archive_of(a_user()), marks__jsonl=line))
    assert (report.waiting, report.left_out) == (0, 1)


def test_other_programs_can_read_an_archive():
    ada = a_busy_person()
    members = members_of(archive_of(ada))
    assert {member.name for member in MEMBERS} < members.keys()
    assert len(opml.read(members["following.opml"]).subscriptions) == 2
    feed = etree.fromstring(members["starred.atom"])
    names = {"a": "http://www.w3.org/2005/Atom"}
    [entry] = feed.findall("a:entry", names)
    starred = Mark.objects.get(user=ada, starred_at__isnull=False).posting
    assert entry.findtext("a:title", namespaces=names) == starred.title
    assert entry.findtext("a:content", namespaces=names) == starred.html
    assert entry.find("a:link", names).get("href") == starred.url
    for name in ("marks.jsonl", "follows.jsonl"):
        assert all(json.loads(line)["source"].startswith("https://") for line in members[name].splitlines())
    for member in MEMBERS:
        assert member.name.encode() in members["README.txt"]


def test_an_archive_contains_no_secret():
    ada = a_busy_person()
    saved = SavedSearch.objects.get(user=ada, name="Quakes")
    rule = Rule.objects.get(saved=saved)
    whole = b"".join(members_of(archive_of(ada)).values())
    for secret in (saved.secret, rule.webhook_secret, rule.stop_token, ada.password or "unset"):
        assert secret.encode() not in whole


def test_an_archive_contains_no_data_of_other_users():
    ada = a_busy_person()
    a_busy_person("grace")
    whole = b"".join(members_of(archive_of(ada)).values())
    assert b"grace" not in whole
    assert whole.count(b'"name": "Quakes"') == 1


def test_a_thousand_marks_take_few_queries(django_assert_max_num_queries):
    ada = a_user()
    source = a_source()
    Mark.objects.bulk_create(
        [Mark(user=ada, posting=each, changed_at=NOON, read=True) for each in published(source, 1_100)]
    )
    with django_assert_max_num_queries(40):
        pieces = list(queries.archive_of(ada, now=NOON))
    assert members_of(b"".join(pieces))["marks.jsonl"].count(b"\n") == 1_100


# --- the page ---------------------------------------------------------------------------------------------------------
def test_the_page_exports_and_imports(client):
    ada, bob = a_busy_person(), a_user("bob", email="bob@mail.example")
    client.force_login(ada)
    answer = client.post(reverse("export_archive"))
    assert answer.streaming
    assert answer.headers["Content-Type"] == "application/zip"
    archive = answer.getvalue()
    client.force_login(bob)
    page = client.post(reverse("import_archive"), {"file": SimpleUploadedFile("wirebeat.zip", archive)})
    assert "Feeds you follow" in page.text
    assert everything(bob)["follows"] == everything(ada)["follows"]


def test_the_page_shows_the_error_of_an_archive(client):
    client.force_login(a_user())
    page = client.post(reverse("import_archive"), {"file": SimpleUploadedFile("x.zip", b"no archive")})
    assert "Nothing was imported. x.zip, line 1: It is not JSON" in page.text


def test_imports_are_limited_per_hour(client):
    client.force_login(a_user())
    codes = [client.post(reverse("import_archive"), {}).status_code for _ in range(11)]
    assert codes == [200] * 10 + [429]


def test_archives_need_a_post_request_of_a_signed_in_user(client):
    for name in ("export_archive", "import_archive"):
        assert client.post(reverse(name)).url.startswith(reverse("account_login"))
        client.force_login(a_user())
        assert client.get(reverse(name)).status_code == 405
        client.logout()
