"""Reads of accounts."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.core import signing
from django.db.models import QuerySet

from apps.accounts.algorithms.secrets import digest_of
from apps.accounts.models import AppToken, User


# --- app tokens -------------------------------------------------------------------------------------------------------
def tokens_of(user: User) -> QuerySet[AppToken]:
    """The newest first."""
    return AppToken.objects.filter(user=user).order_by("-made_at", "-pk")


def token_of(secret: str) -> AppToken | None:
    """The token with that secret and its user, if the user may sign in."""
    return _active_tokens().filter(digest=digest_of(secret)).first()


def token_of_fever_key(key: str) -> AppToken | None:
    """The same for a Fever key."""
    return _active_tokens().filter(fever_key=digest_of(key.lower())).first()


def _active_tokens() -> QuerySet[AppToken]:
    return AppToken.objects.filter(user__is_active=True).select_related("user")


# --- invitations ------------------------------------------------------------------------------------------------------
INVITED_FOR = timedelta(days=7)


def invitation_by(made_by: User) -> str:
    """The secret of a link with which others can sign up for a week; it is signed, and stored nowhere."""
    return signing.dumps(made_by.pk, salt="invitation")


def may_sign_up(invitation: str) -> bool:
    """Whether sign-up is open, or the secret is that of a valid invitation whose author is still on the staff."""
    if settings.SIGN_UP != "invited":
        return bool(settings.SIGN_UP == "open")
    try:
        made_by = signing.loads(invitation, salt="invitation", max_age=INVITED_FOR)
    except signing.BadSignature:
        return False
    return User.objects.filter(pk=made_by, is_active=True, is_staff=True).exists()


# --- an account -------------------------------------------------------------------------------------------------------
def email_addresses(user: User) -> list[EmailAddress]:
    return list(EmailAddress.objects.filter(user=user).order_by("-primary", "email"))


def authenticator_kinds(user: User) -> list[str]:
    return list(Authenticator.objects.filter(user=user).values_list("type", flat=True))


def sessions_of(user: User) -> QuerySet[UserSession]:
    """The newest first."""
    sessions: QuerySet[UserSession] = UserSession.objects.filter(user=user)
    return sessions.order_by("-created_at", "-pk")


def provider_names() -> tuple[str, ...]:
    """Names of the OpenID providers."""
    return tuple(str(app["name"]) for app in settings.SOCIALACCOUNT_PROVIDERS["openid_connect"]["APPS"])


def foreign_account_count(user: User) -> int:
    return int(SocialAccount.objects.filter(user=user).count())


_NO_PREFERENCES = {field.name for field in AbstractUser._meta.get_fields()} | {"id"}


def preference_names() -> list[str]:
    """The fields of `User` that are preferences."""
    return [field.name for field in User._meta.concrete_fields if field.name not in _NO_PREFERENCES]


def preferences_of(user: User) -> dict[str, Any]:
    return {name: getattr(user, name) for name in preference_names()}
