"""What a private feed says is its followers'; staff needs a permission, and is recorded."""

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

from apps.accounts.actions import make_token
from apps.sources.actions.editing import edit_source
from apps.sources.models import AuditEntry
from tests.builders import NOON, a_follow, a_posting, a_retrieval, a_schedule, a_source, a_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def article():
    """An article of an unlisted feed with a follower."""
    return a_posting(a_follow().source, title="A private matter", html="<p>Between us.</p>")


def staff(*, may_open=False):
    person = a_user(is_staff=True)
    if may_open:
        person.user_permissions.add(Permission.objects.get(codename="open_private_articles"))
    return person


def opened(client, person, article, **parameters):
    client.force_login(person)
    return client.get(reverse("posting", args=[article.pk]), parameters)


@pytest.mark.parametrize("parameters", [{}, {"mode": "reading"}])
def test_staff_without_the_permission_opens_nothing(client, article, parameters):
    assert opened(client, staff(), article, **parameters).status_code == 404
    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize("parameters", [{}, {"mode": "reading"}])
def test_staff_with_the_permission_opens_an_article_and_is_recorded(client, article, parameters):
    person = staff(may_open=True)
    for _ in range(2):
        assert "Between us." in opened(client, person, article, **parameters).text
    entries = AuditEntry.objects.all()
    assert {(each.what, each.actor, each.source_id, each.after) for each in entries} == {
        ("opened", person, article.source_id, str(article.pk))
    }
    assert len(entries) == 2  # each time
    assert "private matter" not in client.get(reverse("audit")).text


def test_the_page_says_that_it_is_recorded(client, article):
    assert "was recorded in the change log" in opened(client, staff(may_open=True), article).text


def test_a_private_article_is_not_shown_if_its_opening_cannot_be_logged(client, article, monkeypatch):
    def fail(*_):
        raise OSError

    monkeypatch.setattr("apps.reading.views.river.note_opened", fail)
    client.raise_request_exception = False
    answer = opened(client, staff(may_open=True), article)
    assert (answer.status_code, "Between us." in answer.text) == (500, False)


def test_the_permission_is_for_staff_alone(client, article):
    person = staff(may_open=True)
    person.is_staff = False
    person.save()
    assert opened(client, person, article).status_code == 404


def test_a_follower_is_not_recorded(client, article):
    person = staff(may_open=True)
    a_follow(person, article.source)
    page = opened(client, person, article)
    assert page.status_code == 200
    assert "was recorded in the change log" not in page.text
    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize("may_open", [False, True])
def test_lists_searches_and_programs_show_staff_nothing_of_it(client, article, may_open):
    person = staff(may_open=may_open)
    client.force_login(person)
    source = article.source_id
    for address in (
        reverse("river_source", args=[source]),
        reverse("search") + "?q=matter",
        reverse("save_page") + f"?url={article.url}",
        reverse("source", args=[source]),
    ):
        assert "private matter" not in client.get(address).text
    secret = make_token(person, "phone", ["read", "write"], now=NOON)[1]
    headers = {"authorization": f"Bearer {secret}"}
    for address in (
        f"/api/v1/postings/{article.pk}",
        f"/api/v1/sources/{source}/postings",
        f"/v1/entries/{article.pk}",
        f"/reader/api/0/stream/items/contents?i={article.pk}",
        f"/reader/api/0/stream/contents/feed/{source}",
    ):
        assert "private matter" not in client.get(address, headers=headers).text
    assert not AuditEntry.objects.exists()


def test_staff_does_not_follow_a_private_feed_by_its_number(client, article):
    person = staff()
    client.force_login(person)
    assert client.post(reverse("follow", args=[article.source_id])).status_code == 404
    assert not person.follows.exists()


SECRET = "secret-7f3a"


@pytest.fixture
def private():
    """A feed without a title, with a secret in its address, log and change log; another user follows it."""
    source = a_source(
        title="", url=f"https://private.example/{SECRET}/feed", site_url=f"https://private.example/{SECRET}/"
    )
    a_follow(source=source)
    a_retrieval(source, message=f"{source.url}: moved to https://private.example/{SECRET}/other", outcome="failed")
    a_schedule(source, failing_since=NOON)
    entry = {"what": "url", "name": source.url, "before": source.url, "after": source.url}
    AuditEntry.objects.create(source_id=source.pk, place="the source", **entry)
    return source


def pages_of(source):
    """Every page and response about a source for staff."""
    named = ("source", "source_plan", "edit_source", "merge_source", "delete_source", "source_pages", "keen_tags")
    return [
        *(reverse(name, args=[source.pk]) for name in (*named, "river_source")),
        *(reverse(name) for name in ("sources", "dashboard_failing", "plan", "audit", "dashboard")),
        *(f"{reverse(name)}?words={SECRET}" for name in ("sources", "dashboard_failing", "plan")),
        f"/api/v1/sources/{source.pk}",
        f"/api/v1/sources/{source.pk}/plan",
    ]


def text_of(client, address):
    answer = client.get(address)
    return b"".join(answer.streaming_content).decode() if answer.streaming else answer.text


def test_staff_does_not_see_the_address_of_a_private_feed(client, private):
    client.force_login(staff())
    pages = pages_of(private)
    texts = {address: text_of(client, address) for address in pages}
    searches = [address for address in pages if "words=" in address]  # these repeat what is searched for
    assert [address for address in pages if SECRET in texts[address] and address not in searches] == []
    page = reverse("source", args=[private.pk])
    assert "private.example" in texts[page]
    assert [address for address in searches if "private.example" in texts[address]] == []
    assert "private.example" in text_of(client, reverse("sources") + "?words=private.exam")
    many = client.post(reverse("curate"), {"source": private.pk})
    assert "private.example" in many.text
    assert SECRET not in many.text


@pytest.mark.parametrize("what", ["superuser", "permission", "follower"])
def test_the_address_is_shown_to_those_who_may_know_it(client, private, what):
    person = a_user(is_staff=True, is_superuser=True) if what == "superuser" else staff(may_open=what == "permission")
    if what == "follower":
        a_follow(person, private)
    client.force_login(person)
    assert private.url in client.get(reverse("source", args=[private.pk])).text
    assert private.url in client.get(reverse("edit_source", args=[private.pk])).text


def test_staff_does_not_test_a_private_feed(client, private):
    client.force_login(staff())
    test = reverse("test_source")
    assert client.get(test, {"address": private.url}).status_code == 404
    assert client.get(test, {"address": f" feed:{private.url}#x"}).status_code == 404
    assert client.get(test, {"source": private.pk}).status_code == 404
    for what in ("test", "propose"):
        assert client.post(reverse("add_source"), {"url": private.url, what: "1"}).status_code == 404


FORM = {"kind": "feed", "weight": "1", "listed": "on", "always_retrieved": "on"}


@pytest.mark.parametrize("follows", [False, True])
def test_staff_does_not_open_a_private_feed_to_others(client, article, follows):
    person, source, public = staff(), article.source, a_source(listed=True)
    if follows:
        a_follow(person, source)
    client.force_login(person)
    elsewhere = {"url": "https://elsewhere.example/feed", "title": "Renamed"}
    assert client.post(reverse("edit_source", args=[source.pk]), FORM | elsewhere).status_code == 302
    client.post(reverse("add_source"), FORM | {"url": source.url})
    client.post(reverse("curate"), {"source": source.pk, "do": "change", "listed": "yes"})
    for kept, merged in ((source, public), (public, source)):
        client.post(reverse("merge_source", args=[merged.pk]), {"kept": kept.pk})
    url, listed = source.url, source.listed
    source.refresh_from_db()
    assert (source.url, source.listed, source.title) == (url, listed, "Renamed")
    client.logout()
    assert client.get(reverse("posting", args=[article.pk])).status_code == 404


def test_with_the_permission_a_feed_is_listed_on_record(client, article):
    person, source = staff(may_open=True), article.source
    client.force_login(person)
    client.post(reverse("edit_source", args=[source.pk]), FORM | {"url": source.url, "title": source.title})
    source.refresh_from_db()
    assert source.listed
    entry = AuditEntry.objects.get(what="listed")
    assert (entry.actor, entry.before, entry.after) == (person, "no", "yes")


def test_the_record_names_a_private_feed_by_its_host(private):
    edit_source(private.pk, weight=2.0)
    assert AuditEntry.objects.get(what="weight").name == "private.example"
