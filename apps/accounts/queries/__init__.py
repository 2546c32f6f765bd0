"""Reads of what belongs to an account."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db.models import QuerySet

from apps.accounts.algorithms.secrets import digest_of
from apps.accounts.models import AppToken, Invitation, User


# --- app tokens -------------------------------------------------------------------------------------------------------
def tokens_of(user: User) -> QuerySet[AppToken]:
    """The newest first."""
    return AppToken.objects.filter(user=user).order_by("-made_at", "-pk")


def token_of(secret: str) -> AppToken | None:
    """The token that a secret is of, with its person, as long as that person may sign in."""
    found = AppToken.objects.filter(digest=digest_of(secret), user__is_active=True)
    return found.select_related("user").first()


def token_of_fever_key(key: str) -> AppToken | None:
    """The same for a key that a program made of a token for Fever."""
    found = AppToken.objects.filter(fever_key=digest_of(key.lower()), user__is_active=True)
    return found.select_related("user").first()


# --- invitations ------------------------------------------------------------------------------------------------------
def may_sign_up(secret: str, now: datetime) -> bool:
    """Whether somebody may sign up: where everybody may, or with an invitation."""
    if settings.SIGN_UP == "invited":
        return invitation_of(secret, now) is not None
    return bool(settings.SIGN_UP == "open")


def invitation_of(secret: str, now: datetime) -> Invitation | None:
    """The invitation that a secret is of, if it can still be used."""
    return open_invitations(now).filter(digest=digest_of(secret), made_by__is_active=True).first() if secret else None


def open_invitations(now: datetime) -> QuerySet[Invitation]:
    return Invitation.objects.filter(used_at=None, expires_at__gt=now)


def latest_invitations(how_many: int) -> Sequence[Invitation]:
    return list(Invitation.objects.select_related("made_by", "used_by").order_by("-made_at", "-pk")[:how_many])


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
    """The OpenID providers by which people may sign in here."""
    return tuple(str(app["name"]) for app in settings.SOCIALACCOUNT_PROVIDERS["openid_connect"]["APPS"])


def foreign_account_count(user: User) -> int:
    return int(SocialAccount.objects.filter(user=user).count())


_NO_PREFERENCES = {field.name for field in AbstractUser._meta.get_fields()} | {"id"}


def preference_names() -> list[str]:
    """The fields of a person that say how they like the portal, whichever there are."""
    return [field.name for field in User._meta.concrete_fields if field.name not in _NO_PREFERENCES]


def preferences_of(user: User) -> dict[str, Any]:
    return {name: getattr(user, name) for name in preference_names()}
