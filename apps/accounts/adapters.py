"""What allauth asks of the portal: who may sign up, and which addresses mails name."""

import logging
from dataclasses import dataclass
from smtplib import SMTPException
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.contrib import messages
from django.core.exceptions import ImproperlyConfigured, PermissionDenied
from django.db import transaction
from django.http import HttpRequest
from django.shortcuts import redirect
from django.utils.timezone import now
from django.utils.translation import gettext as _

from apps.accounts import actions, queries
from apps.accounts.algorithms.browsers import browser_named
from apps.accounts.models import User
from apps.accounts.queries.site import own_address, own_name

log = logging.getLogger(__name__)
INVITATION = "invitation"  # under which a session holds the secret of a link
NOBODY = "0.0.0.0"  # where a request comes from that does not say so


@dataclass(frozen=True, slots=True)
class Portal:
    """As the texts of mails call it."""

    name: str
    domain: str


class AccountAdapter(DefaultAccountAdapter):
    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return queries.may_sign_up(request.session.get(INVITATION, ""), now())

    def save_user(self, request: HttpRequest, user: User, form: Any, commit: bool = True) -> User:
        with transaction.atomic():
            super().save_user(request, user, form, commit)
            if commit:
                admit(request, user)
        return user

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send a mail in which nothing stems from the name that the request was sent to."""
        ours = {name: own_address(value) for name, value in context.items() if name.endswith("_url")}
        site = Portal("Wirebeat", own_name())
        try:
            super().send_mail(template_prefix, email, context | ours | {"current_site": site})
        except (SMTPException, OSError) as error:
            log.warning("a mail (%s) could not be sent: %s", template_prefix, error)
            text = _("The mail to you could not be sent: the mail server rejected it. Try again later.")
            self.add_message(self.request, messages.ERROR, message=text)

    def get_client_ip(self, request: HttpRequest) -> str:
        try:
            return str(super().get_client_ip(request))
        except (ImproperlyConfigured, PermissionDenied):  # through a socket, or past the proxy
            return NOBODY

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """Without the name that the request was sent to: or each name would allow as many attempts again."""
        return str(credentials.get("email") or credentials.get("username") or "").lower()


class ForeignAccountAdapter(DefaultSocialAccountAdapter):
    """Of people who sign in by an OpenID provider."""

    def save_user(self, request: HttpRequest, sociallogin: Any, form: Any = None) -> User:
        with transaction.atomic():
            user: User = super().save_user(request, sociallogin, form)
            if form is None:
                admit(request, user)
        return user


class TwoFactorAdapter(DefaultMFAAdapter):
    def _get_site_name(self) -> str:
        return "Wirebeat"

    def generate_authenticator_name(self, user: User, type: Any) -> str:
        """Of a new key: the device on which it is made, which is most often where it lies."""
        user_agent = context.request.META.get("HTTP_USER_AGENT", "") if context.request else ""
        name = " · ".join(filter(None, browser_named(user_agent)))
        return name or str(super().generate_authenticator_name(user, type))


def admit(request: HttpRequest, user: User) -> None:
    """Use up the invitation of somebody who signs up; who has none, or one that somebody else used first, may not."""
    try:
        actions.take_invitation(user, request.session.get(INVITATION, ""), now=now())
    except actions.NotPossible as problem:
        messages.error(request, str(problem))
        raise ImmediateHttpResponse(redirect("account_signup")) from None
    finally:
        request.session.pop(INVITATION, None)
