"""Tokens with which programs act for people."""

from datetime import timedelta

import pytest
from django.urls import reverse

from apps.accounts import actions, queries
from apps.accounts.models import AppToken
from tests.builders import NOON, a_user

pytestmark = pytest.mark.django_db


def a_token(user=None, scopes=("read",), name="Phone"):
    return actions.make_token(user or a_user(), name, scopes, now=NOON)


def test_a_token_identifies_its_user():
    token, secret = a_token()
    assert actions.use_token(secret, now=NOON) == token.user
    assert actions.use_token(secret + "x", now=NOON) is None
    assert actions.use_token("", now=NOON) is None


def test_a_token_allows_its_scopes():
    _, reading = a_token(scopes=["read"])
    _, writing = a_token(scopes=["write", "read"])
    assert actions.use_token(reading, "write", now=NOON) is None
    assert actions.use_token(writing, "write", now=NOON) is not None


def test_the_secret_is_not_stored():
    token, secret = a_token()
    kept = " ".join(str(value) for value in AppToken.objects.filter(pk=token.pk).values_list().get())
    assert secret not in kept
    assert secret.startswith(token.hint)
    assert len(secret) - len(token.hint) > 30


def test_two_tokens_have_two_secrets():
    user = a_user()
    assert len({a_token(user)[1] for _ in range(5)}) == 5


@pytest.mark.parametrize(
    ("name", "scopes"), [("", ["read"]), (" \0 ", ["read"]), ("x" * 101, ["read"]), ("x", []), ("x", ["all"])]
)
def test_a_token_needs_a_name_and_something_that_it_allows(name, scopes):
    with pytest.raises(actions.NotPossible):
        a_token(scopes=scopes, name=name)
    assert not AppToken.objects.exists()


def test_a_person_has_so_many_tokens(monkeypatch):
    monkeypatch.setattr(actions, "MAX_TOKENS", 2)
    user = a_user()
    for _ in range(2):
        a_token(user)
    with pytest.raises(actions.NotPossible, match="2 tokens"):
        a_token(user)
    a_token(a_user())


def test_use_is_stored_every_few_minutes(django_assert_num_queries):
    token, secret = a_token()
    actions.use_token(secret, now=NOON)
    with django_assert_num_queries(1):
        actions.use_token(secret, now=NOON + timedelta(minutes=4))
    token.refresh_from_db()
    assert token.last_used_at == NOON
    actions.use_token(secret, now=NOON + timedelta(minutes=6))
    token.refresh_from_db()
    assert token.last_used_at == NOON + timedelta(minutes=6)


def test_tokens_that_are_revoked_or_of_locked_users_are_refused():
    token, secret = a_token()
    _, other = a_token(a_user(is_active=False))
    assert actions.use_token(other, now=NOON) is None
    assert actions.revoke_token(token.user, token.pk)
    assert actions.use_token(secret, now=NOON) is None
    assert not actions.revoke_token(token.user, token.pk)


def test_a_token_is_made_on_a_page_that_shows_it_once(client):
    user = a_user()
    client.force_login(user)
    page = client.post(reverse("app_tokens"), {"name": "Phone", "scopes": ["read", "write"]})
    [token] = queries.tokens_of(user)
    secret = page.context["secret"]
    assert secret in page.text
    assert "no-store" in page.headers["Cache-Control"]
    assert actions.use_token(secret, "write", now=NOON) == user
    again = client.get(reverse("app_tokens")).text
    assert secret not in again
    assert "Phone" in again
    client.post(reverse("revoke_token", args=[token.pk]))
    assert actions.use_token(secret, now=NOON) is None


def test_tokens_of_others_cannot_be_revoked(client):
    token, _ = a_token()
    client.force_login(a_user())
    assert client.post(reverse("revoke_token", args=[token.pk])).status_code == 404
    assert AppToken.objects.exists()


def test_tokens_are_limited_by_the_hour(client):
    client.force_login(a_user())
    for number in range(31):
        page = client.post(reverse("app_tokens"), {"name": f"{number}", "scopes": ["read"]})
    assert "many tokens in the last hour" in page.text
    assert AppToken.objects.count() == 30


def test_the_page_of_tokens_takes_the_same_queries_for_many(client, django_assert_max_num_queries):
    user = a_user()
    for _ in range(20):
        a_token(user)
    client.force_login(user)
    with django_assert_max_num_queries(5):
        client.get(reverse("app_tokens"))
