"""Accounts, seen through a browser."""

import re
import time

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from allauth.usersessions.models import UserSession
from django.core import mail
from playwright.sync_api import Page, expect

from apps.accounts.models import User
from tests.browser.scripts import with_and_without_scripts, without_scripts
from tests.builders import a_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PASSWORD = "a long password"


def a_person(name: str = "ada") -> User:
    user = a_user(name)
    user.set_password(PASSWORD)
    user.save()
    return user


def press(page: Page, name: str) -> None:
    page.get_by_role("main").get_by_role("button", name=name, exact=True).click()


def sign_in(page: Page, name: str, password: str = PASSWORD) -> None:
    page.goto("/accounts/login/")
    page.locator("[name=login]").fill(name)
    page.locator("[name=password]").fill(password)
    press(page, "Sign in")


def sign_out(page: Page) -> None:
    page.goto("/accounts/logout/")
    press(page, "Sign Out")


def confirm_with_password(page: Page) -> None:
    page.locator("[name=password]").fill(PASSWORD)
    press(page, "Confirm")


@with_and_without_scripts
def test_signing_up_and_choosing_another_password_by_mail(page: Page, settings):
    settings.ACCOUNT_EMAIL_VERIFICATION = "optional"
    page.goto("/accounts/signup/")
    page.locator("[name=username]").fill("ada")
    page.locator("[name=email]").fill("ada@mail.example")
    for name in ("password1", "password2"):
        page.locator(f"[name={name}]").fill(PASSWORD)
    press(page, "Sign up")
    expect(page).to_have_url(re.compile("/welcome/"))
    [path] = re.findall(r"http://localhost:8000(\S+)", mail.outbox[-1].body)
    page.goto(path)
    press(page, "Confirm")
    assert EmailAddress.objects.get(user__username="ada").verified
    sign_out(page)

    page.goto("/accounts/login/")
    page.get_by_role("main").get_by_role("link", name="Forgot your password?").click()
    page.locator("[name=email]").fill("ada@mail.example")
    press(page, "Reset my password")
    expect(page.get_by_text("We have sent you an email")).to_be_visible()
    [path] = re.findall(r"http://localhost:8000(\S+)", mail.outbox[-1].body)
    page.goto(path)
    for name in ("password1", "password2"):
        page.locator(f"[name={name}]").fill("quite another one")
    press(page, "Change Password")
    sign_in(page, "ada", "quite another one")
    expect(page).to_have_url(re.compile("/river/"))


@with_and_without_scripts
def test_enrolling_an_app_and_signing_in_with_its_codes(page: Page):
    a_person()
    sign_in(page, "ada")
    page.goto("/account/")
    page.get_by_role("link", name="Two-factor authentication").click()
    page.get_by_role("main").get_by_role("link", name="Activate").click()
    confirm_with_password(page)
    expect(page.locator("img.qr")).to_be_visible()
    secret = page.locator("#authenticator_secret").input_value()
    counter = int(time.time()) // 30
    page.locator("[name=code]").fill(format_hotp_value(hotp_value(secret, counter)))
    press(page, "Activate")
    expect(page.get_by_role("heading", name="Recovery Codes")).to_be_visible()
    [recovery, *_] = page.locator("#recovery_codes").input_value().split()
    sign_out(page)

    sign_in(page, "ada")
    expect(page.get_by_role("heading", name="Two-Factor Authentication")).to_be_visible()
    page.goto("/river/")
    expect(page).to_have_url(re.compile("/2fa/authenticate/"))  # the password alone opens nothing
    page.locator("[name=code]").fill(format_hotp_value(hotp_value(secret, counter + 1)))
    press(page, "Sign In")
    expect(page).to_have_url(re.compile("/river/"))

    for is_first in (True, False):
        sign_out(page)
        sign_in(page, "ada")
        page.locator("[name=code]").fill(recovery)
        press(page, "Sign In")
        if is_first:
            expect(page).to_have_url(re.compile("/river/"))
    expect(page.get_by_text("Incorrect code.")).to_be_visible()  # it was used


def plug_in_a_device(page: Page) -> None:
    """One that makes passkeys, and whose person confirms everything at once."""
    device = page.context.new_cdp_session(page)
    device.send("WebAuthn.enable")
    can = {"hasResidentKey": True, "hasUserVerification": True, "isUserVerified": True}
    options = {"protocol": "ctap2", "transport": "internal", "automaticPresenceSimulation": True} | can
    device.send("WebAuthn.addVirtualAuthenticator", {"options": options})


def test_adding_a_passkey_and_signing_in_with_it_alone(page: Page):
    a_person()
    plug_in_a_device(page)
    sign_in(page, "ada")
    page.goto("/account/")
    page.get_by_role("link", name="Passkeys").click()
    page.get_by_role("main").get_by_role("link", name="Add").click()
    confirm_with_password(page)
    page.locator("#id_name").fill("Laptop")
    press(page, "Add")
    expect(page.get_by_role("heading", name="Recovery Codes")).to_be_visible()
    page.goto("/accounts/2fa/webauthn/")
    expect(page.get_by_text("Laptop")).to_be_visible()
    sign_out(page)

    page.goto("/accounts/login/")
    press(page, "Use a passkey")
    expect(page).to_have_url(re.compile("/river/"))
    assert UserSession.objects.filter(user__username="ada").exists()


def test_a_missing_passkey_shows_an_error(page: Page):
    plug_in_a_device(page)
    page.goto("/accounts/login/")
    press(page, "Use a passkey")
    expect(page.get_by_role("alert")).to_contain_text("That did not work")


@without_scripts
def test_without_scripts_nothing_is_offered_that_needs_them(page: Page):
    page.goto("/accounts/login/")
    expect(page.get_by_role("button", name="Use a passkey")).to_be_hidden()


@with_and_without_scripts
def test_a_token_is_made_and_revoked(page: Page):
    a_person()
    sign_in(page, "ada")
    page.goto("/account/")
    page.get_by_role("link", name="App tokens").click()
    page.get_by_role("main").get_by_label("Name").fill("Phone")
    press(page, "Create")
    expect(page.locator(".secret code")).to_have_text(re.compile("^wb_.{40,}"))
    page.get_by_role("button", name="Revoke Phone").click()
    expect(page.get_by_text("Token revoked")).to_be_visible()


@with_and_without_scripts
def test_taking_everything_along_and_leaving(page: Page, tmp_path):
    a_person()
    sign_in(page, "ada")
    page.goto("/account/")
    page.get_by_role("link", name="Export & import").click()
    with page.expect_download() as download:
        press(page, "Export all data")
    archive = tmp_path / "archive.zip"
    download.value.save_as(archive)
    page.locator("[name=file]").set_input_files(archive)
    press(page, "Import")
    expect(page.get_by_role("heading", name="Imported")).to_be_visible()
    page.goto("/account/")
    page.get_by_role("link", name="Delete account").click()
    confirm_with_password(page)
    page.get_by_label("Type your username to confirm").fill("ada")
    press(page, "Delete permanently")
    expect(page.get_by_text("Your account and all your data have been deleted")).to_be_visible()
    assert not User.objects.exists()
