"""Adapters for allauth: who may sign up, and which addresses mails contain."""

import logging
from smtplib import SMTPException
from types import SimpleNamespace
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.contrib import messages
from django.core.exceptions import ImproperlyConfigured, PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.accounts import actions, queries
from apps.accounts.algorithms.browsers import browser_named
from apps.accounts.models import User
from apps.accounts.queries.site import own_address, own_name
from apps.accounts.queries.time_zones import browser_zone

log = logging.getLogger(__name__)
INVITATION = "invitation"  # session key of an invitation's secret
UNKNOWN_ADDRESS = "0.0.0.0"


class AccountAdapter(DefaultAccountAdapter):
    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return queries.may_sign_up(request.session.get(INVITATION, ""))

    def save_user(self, request: HttpRequest, user: User, form: Any, commit: bool = True) -> User:
        with transaction.atomic():
            super().save_user(request, user, form, commit)
            if commit:
                admit(request)
        return user

    def get_login_redirect_url(self, request: HttpRequest) -> str:
        """The first page after signing in, unless the address names another."""
        if isinstance(request.user, User) and request.user.is_staff:
            return reverse("dashboard")
        return str(super().get_login_redirect_url(request))

    def post_login(self, request: HttpRequest, user: User, **options: Any) -> HttpResponse:
        """Keep the browser's time zone for digests and quiet hours, unless another is chosen."""
        if not user.time_zone and (zone := browser_zone(request.COOKIES)):
            actions.set_preferences(user, time_zone=zone)
        response: HttpResponse = super().post_login(request, user, **options)
        return response

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send a mail without the Host header of the request, which an attacker may have chosen."""
        ours = {name: own_address(value) for name, value in context.items() if name.endswith("_url")}
        site = SimpleNamespace(name="Wirebeat", domain=own_name())
        try:
            super().send_mail(template_prefix, email, context | ours | {"current_site": site})
        except (SMTPException, OSError) as error:
            log.warning("a mail (%s) could not be sent: %s", template_prefix, error)
            text = _("The mail to you could not be sent: the mail server rejected it. Try again later.")
            self.add_message(self.request, messages.ERROR, message=text)

    def get_client_ip(self, request: HttpRequest) -> str:
        try:
            return str(super().get_client_ip(request))
        except (ImproperlyConfigured, PermissionDenied):  # by a Unix socket, or around the proxy
            return UNKNOWN_ADDRESS

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """Without the host name of the request: else each name would allow the attempts again."""
        return str(credentials.get("email") or credentials.get("username") or "").lower()


class ForeignAccountAdapter(DefaultSocialAccountAdapter):
    """Sign-in by an OpenID provider."""

    def save_user(self, request: HttpRequest, sociallogin: Any, form: Any = None) -> User:
        with transaction.atomic():
            user: User = super().save_user(request, sociallogin, form)
            if form is None:
                admit(request)
        return user


class TwoFactorAdapter(DefaultMFAAdapter):
    def _get_site_name(self) -> str:
        return "Wirebeat"

    def generate_authenticator_name(self, user: User, type: Any) -> str:
        """The device on which a key is created, which usually stores it."""
        user_agent = context.request.META.get("HTTP_USER_AGENT", "") if context.request else ""
        name = " · ".join(filter(None, browser_named(user_agent)))
        return name or str(super().generate_authenticator_name(user, type))


def admit(request: HttpRequest) -> None:
    """Refuse a sign-up without a valid invitation, unless sign-up is open."""
    if not queries.may_sign_up(request.session.pop(INVITATION, "")):
        messages.error(request, _("This invitation has expired. Ask for a new one."))
        raise ImmediateHttpResponse(redirect("account_signup"))
