"""The pages of an account: whose they are, and that each is there."""

import pytest
from django.test import Client
from django.urls import reverse

from tests.builders import a_follow, a_user

pytestmark = pytest.mark.django_db

PAGES = [
    "account",
    "app_tokens",
    "archive",
    "account_email",
    "account_change_password",
    "account_reauthenticate",
    "mfa_index",
    "mfa_list_webauthn",
    "mfa_reauthenticate",
    "usersessions_list",
    "socialaccount_connections",
]
ENTRANCES = [
    "account_login",
    "account_signup",
    "account_reset_password",
    "account_reset_password_done",
    "account_email_verification_sent",
    "account_inactive",
    "socialaccount_login_cancelled",
    "socialaccount_login_error",
]


@pytest.fixture
def signed_in() -> Client:
    user = a_user("ada")
    user.set_password("a long password")
    user.save()
    a_follow(user)  # the sidebar shows it
    client = Client()
    client.post(reverse("account_login"), {"login": "ada", "password": "a long password"})
    return client


@pytest.mark.parametrize("name", PAGES)
def test_pages_of_an_account_are_for_its_person(client, signed_in, name):
    assert client.get(reverse(name)).url.startswith(reverse("account_login"))
    answer = signed_in.get(reverse(name))
    if name == "mfa_reauthenticate":  # there is no second factor
        assert answer.status_code == 302
        return
    assert answer.status_code == 200
    assert "css/accounts.css" in answer.text
    assert 'class="sidebar"' in answer.text


@pytest.mark.parametrize("name", ENTRANCES)
def test_entrances_look_like_the_portal(client, name):
    answer = client.get(reverse(name))
    assert answer.status_code in {200, 401}
    assert "css/accounts.css" in answer.text
    assert 'class="sidebar"' not in answer.text


def test_the_menu_leads_to_the_account(signed_in):
    assert f'href="{reverse("account")}"' in signed_in.get(reverse("river")).text


def test_the_account_page_links_to_all_settings(signed_in):
    page = signed_in.get(reverse("account")).text
    for name in ("account_email", "account_change_password", "mfa_index", "mfa_list_webauthn", "usersessions_list"):
        assert reverse(name) in page
    for name in ("app_tokens", "archive", "delete_account"):
        assert reverse(name) in page
    assert reverse("socialaccount_connections") not in page
    assert reverse("invitations") not in page


def test_the_account_page_takes_a_fixed_number_of_queries(client, django_assert_max_num_queries):
    client.force_login(a_user())
    with django_assert_max_num_queries(8):
        client.get(reverse("account"))


@pytest.mark.parametrize(
    "name", ["mfa_activate_totp", "mfa_add_webauthn", "mfa_generate_recovery_codes", "delete_account"]
)
def test_sensitive_pages_require_the_password_again(client, name):
    user = a_user()
    user.set_password("a long password")
    user.save()
    client.force_login(user)
    assert client.get(reverse(name)).url.startswith(reverse("account_reauthenticate"))


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example/", "javascript:alert(1)"])
def test_signing_in_leads_nowhere_else(client, elsewhere):
    user = a_user("ada")
    user.set_password("a long password")
    user.save()
    words = {"login": "ada", "password": "a long password", "next": elsewhere}
    assert client.post(reverse("account_login"), words).url == reverse("river")
