"""Passwords, codes and links cannot be guessed, neither quickly nor patiently."""

import time
from types import SimpleNamespace

import pytest
from allauth.core.internal import ratelimit
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret, hotp_value, yield_hotp_counters_from_time
from django.core import mail
from django.test import Client, RequestFactory
from django.urls import reverse

from tests.builders import a_user

pytestmark = pytest.mark.django_db
LOGIN, CODE, RESET = "/accounts/login/", "/accounts/2fa/authenticate/", "/accounts/password/reset/"
PASSWORD = "correct horse battery"
STOPPED = "Too many failed login attempts"


@pytest.fixture
def person():
    user = a_user("ada", email="ada@mail.example")
    user.set_password(PASSWORD)
    user.save()
    return user


@pytest.fixture
def later(monkeypatch):
    """Lets minutes pass for the limits."""
    passed = SimpleNamespace(minutes=0)
    clock = SimpleNamespace(time=lambda: time.time() + 60 * passed.minutes, monotonic=time.monotonic, sleep=time.sleep)
    monkeypatch.setattr(ratelimit, "time", clock)
    return passed


def attempt(action, how_many, later, *, address=None, key=None):
    """Use so many attempts up, a minute or more apart, as views do."""
    for number in range(how_many):
        request = RequestFactory(REMOTE_ADDR=address or f"10.0.1.{number}").post("/")
        names = key or f"name{number}"
        assert ratelimit.consume(request, app="allauth.account", action=action, key=names), number
        later.minutes += 2


def sign_in(name, password, address="10.0.0.1", client=None):
    return (client or Client()).post(LOGIN, {"login": name, "password": password}, REMOTE_ADDR=address)


# --- passwords --------------------------------------------------------------------------------------------------------
def test_guesses_of_one_password_are_limited_across_addresses(person):
    for number in range(5):
        assert STOPPED not in sign_in("ada", "wrong", f"10.0.0.{number}").text
    assert STOPPED in sign_in("ada", PASSWORD, "10.0.1.1").text


def test_guesses_from_one_address_are_limited_across_names(person):
    for number in range(10):
        assert STOPPED not in sign_in(f"name{number}", "wrong").text
    assert STOPPED in sign_in("ada", PASSWORD).text
    assert sign_in("ada", PASSWORD, "10.0.0.2").status_code == 302


def test_a_patient_guesser_has_a_hundred_passwords_a_day(person, later):
    attempt("login_failed", 100, later, key="ada")
    assert STOPPED in sign_in("ada", PASSWORD, "10.0.2.1").text
    later.minutes += 24 * 60
    assert sign_in("ada", PASSWORD, "10.0.2.1").status_code == 302


def test_many_names_from_one_address_are_limited_by_the_day(person, later):
    attempt("login_failed", 300, later, address="10.0.0.1")
    assert STOPPED in sign_in("ada", PASSWORD).text


def test_successful_sign_ins_do_not_count_as_guesses(person):
    for _ in range(12):
        assert sign_in("ada", PASSWORD).status_code == 302


def test_a_hijacked_session_cannot_guess_the_password(person, client):
    client.force_login(person)
    for _ in range(5):
        client.post("/accounts/reauthenticate/", {"password": "wrong"})
    assert STOPPED in client.post("/accounts/reauthenticate/", {"password": PASSWORD}).text


def test_changing_a_password_is_limited(person, client):
    client.force_login(person)
    wrong = {"oldpassword": "wrong", "password1": "another horse battery", "password2": "another horse battery"}
    statuses = [client.post(reverse("account_change_password"), wrong).status_code for _ in range(6)]
    assert statuses == [200] * 5 + [429]


def test_the_admin_has_no_page_of_its_own_to_guess_a_password(client):
    client.force_login(a_user(is_staff=True, is_superuser=True))
    for answer in (client.get("/admin/password_change/"), client.post("/admin/password_change/")):
        assert answer.url == reverse("account_change_password")


# --- codes ------------------------------------------------------------------------------------------------------------
@pytest.fixture
def codes(person):
    """The right code of each kind."""
    secret = generate_totp_secret()
    TOTP.activate(person, secret)
    now = list(yield_hotp_counters_from_time())[1]
    return {"totp": f"{hotp_value(secret, now):06}", "recovery": RecoveryCodes.activate(person).get_unused_codes()[0]}


def with_password(address):
    client = Client(REMOTE_ADDR=address)
    assert client.post(LOGIN, {"login": "ada", "password": PASSWORD}).url.startswith(CODE)
    return client


@pytest.mark.parametrize("kind", ["totp", "recovery"])
def test_a_right_code_signs_in(codes, kind):
    assert with_password("10.0.0.1").post(CODE, {"code": codes[kind]}).url == reverse("river")


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        ("totp", "000000"),
        pytest.param("totp", "12345678", marks=pytest.mark.trial),
        pytest.param("recovery", "000000", marks=pytest.mark.trial),
        ("recovery", "12345678"),
    ],
)
def test_guesses_of_codes_are_limited_in_all_sessions_together(codes, kind, wrong):
    for number in range(5):
        assert STOPPED not in with_password(f"10.0.0.{number}").post(CODE, {"code": wrong}).text
    assert STOPPED in with_password("10.0.1.1").post(CODE, {"code": codes[kind]}).text


def test_a_patient_guesser_has_a_hundred_codes_a_day(person, codes, later):
    attempt("login_failed", 100, later, key=f"mfa-auth-user-{person.pk}")
    assert STOPPED in with_password("10.0.2.1").post(CODE, {"code": codes["recovery"]}).text


# --- mails and links --------------------------------------------------------------------------------------------------
def test_a_mailbox_gets_twenty_links_a_day(person, later):
    person.emailaddress_set.create(email=person.email, primary=True, verified=True)
    for number in range(25):
        later.minutes += 2
        Client().post(RESET, {"email": person.email}, REMOTE_ADDR=f"10.0.1.{number}")
    assert len(mail.outbox) == 20


def test_wrong_links_to_reset_a_password_are_limited(client):
    address = "/accounts/password/reset/key/1-set-password/"
    assert [client.post(address).status_code for _ in range(21)][-1] == 429


def test_sign_ups_from_one_address_are_limited_by_the_day(client, later):
    attempt("signup", 99, later, address="127.0.0.1")
    statuses = [client.post("/accounts/signup/", {"username": "x"}).status_code for _ in range(2)]
    assert statuses == [200, 429]
