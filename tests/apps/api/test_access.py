"""Programs act for the user of their token, within its scopes."""

from base64 import b64encode

import pytest
from django.test import RequestFactory

from apps.accounts.actions import make_token, revoke_token
from apps.api.views.access import WRONG_SECRETS, Refused, person_of
from tests.builders import NOON, a_user

pytestmark = pytest.mark.django_db


def user_of(person, **headers):
    return person_of(RequestFactory().get("/", headers=headers), now=NOON)


def basic(name, secret):
    return "Basic " + b64encode(f"{name}:{secret}".encode()).decode()


@pytest.fixture
def person():
    return a_user("Ada", email="ada@example.org")


@pytest.fixture
def secret(person):
    return make_token(person, "phone", ["read"], now=NOON)[1]


@pytest.mark.parametrize("written", ["Bearer {}", "GoogleLogin auth=Ada/{}", "GoogleLogin Auth={}", "bearer {}"])
def test_tokens_are_accepted_in_every_form(person, secret, written):
    assert user_of(person, authorization=written.format(secret)) == person


@pytest.mark.parametrize("name", ["Ada", "ada", "ada@example.org", ""])
def test_a_person_is_called_by_name_or_address(person, secret, name):
    assert user_of(person, authorization=basic(name, secret)) == person


def test_a_token_is_accepted_in_its_own_header(person, secret):
    assert user_of(person, x_auth_token=secret) == person


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Basic ????"},
        {"authorization": "Basic " + b64encode(b"\xff:\xff").decode()},
        {"authorization": "Bearer wb_guessed"},
        {"authorization": "GoogleLogin"},
    ],
)
def test_invalid_credentials_are_refused(person, secret, headers):
    with pytest.raises(Refused) as refused:
        user_of(person, **headers)
    assert refused.value.status == 401


def test_a_token_is_of_its_person_alone(person, secret):
    a_user("Eve")
    with pytest.raises(Refused):
        user_of(person, authorization=basic("Eve", secret))


def test_a_token_that_allows_reading_changes_nothing(person, secret):
    request = RequestFactory().post("/", headers={"authorization": f"Bearer {secret}"})
    with pytest.raises(Refused) as refused:
        person_of(request, "write", now=NOON)
    assert refused.value.status == 403


def test_a_revoked_token_is_worth_nothing(person, secret):
    revoke_token(person, person.app_tokens.get().pk)
    with pytest.raises(Refused):
        user_of(person, authorization=f"Bearer {secret}")


def guess(**headers):
    """The status by which a wrong token is refused."""
    with pytest.raises(Refused) as refused:
        user_of(None, **headers)
    return refused.value.status


def test_wrong_tokens_are_limited():
    assert {guess(authorization="Bearer wb_guessed") for _ in range(WRONG_SECRETS)} == {401}
    assert guess(authorization="Bearer wb_another") == 429


@pytest.mark.parametrize("guessed_as", ["Ada", "Eve", ""])
def test_a_valid_token_works_during_guesses_from_the_same_address(person, secret, guessed_as):
    for _ in range(WRONG_SECRETS + 1):
        last = guess(authorization=basic(guessed_as, "wb_guessed"))
    assert last == 429
    assert user_of(person, authorization=basic("Ada", secret)) == person
    assert user_of(person, authorization=f"Bearer {secret}") == person


def test_wrong_tokens_are_counted_by_name_and_address(person, secret):
    for _ in range(WRONG_SECRETS):
        guess(authorization=basic("Ada", "wb_guessed"))
    assert guess(authorization=basic("ADA", "wb_guessed")) == 429
    assert guess(authorization=basic("Eve", "wb_guessed")) == 401
    elsewhere = RequestFactory(REMOTE_ADDR="10.1.2.3").get("/", headers={"authorization": basic("Ada", "wb_guessed")})
    with pytest.raises(Refused) as refused:
        person_of(elsewhere, now=NOON)
    assert refused.value.status == 401


def test_valid_tokens_are_not_counted(person, secret):
    for _ in range(WRONG_SECRETS + 1):
        user_of(person, authorization=basic("Ada", secret))
    assert guess(authorization=basic("Ada", "wb_guessed")) == 401
