"""What a private feed says is its followers'; staff needs a permission, and is recorded."""

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

from apps.accounts.actions import make_token
from apps.sources.models import AuditEntry
from tests.builders import NOON, a_follow, a_posting, a_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def article():
    """Of a feed that somebody follows and that is not shown to others."""
    return a_posting(a_follow().source, title="A private matter", html="<p>Between us.</p>")


def staff(*, may_open=False):
    person = a_user(is_staff=True)
    if may_open:
        person.user_permissions.add(Permission.objects.get(codename="open_private_articles"))
    return person


def opened(client, person, article, **asked):
    client.force_login(person)
    return client.get(reverse("posting", args=[article.pk]), asked)


@pytest.mark.parametrize("asked", [{}, {"mode": "reading"}])
def test_staff_without_the_permission_opens_nothing(client, article, asked):
    assert opened(client, staff(), article, **asked).status_code == 404
    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize("asked", [{}, {"mode": "reading"}])
def test_staff_with_the_permission_opens_an_article_and_is_recorded(client, article, asked):
    person = staff(may_open=True)
    for _ in range(2):
        assert "Between us." in opened(client, person, article, **asked).text
    entries = AuditEntry.objects.all()
    assert {(each.what, each.actor, each.source_id, each.after) for each in entries} == {
        ("opened", person, article.source_id, str(article.pk))
    }
    assert len(entries) == 2  # each time
    assert "private matter" not in client.get(reverse("audit")).text


def test_the_page_says_that_it_is_recorded(client, article):
    assert "was recorded in the change log" in opened(client, staff(may_open=True), article).text


def test_what_is_not_recorded_is_not_shown(client, article, monkeypatch):
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
