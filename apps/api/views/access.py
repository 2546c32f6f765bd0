"""Whom a program acts for: programs sign in with app tokens, never with a person's password."""

from base64 import b64decode
from binascii import Error as BadBase64
from collections.abc import Callable
from datetime import datetime

from allauth.account.adapter import get_adapter
from django.db.models import Q
from django.http import HttpRequest

from apps.accounts import queries
from apps.accounts.actions import rate_limits, use_fever_key, use_token
from apps.accounts.algorithms.secrets import digest_of
from apps.accounts.models import AppToken, User

WRONG_SECRETS, WRONG_SECONDS = 30, 300  # from one address under one name, in so many seconds


class Refused(Exception):
    """Nobody whom the program could act for. `status` is that of the answer over HTTP."""

    def __init__(self, words: str, status: int = 401) -> None:
        super().__init__(words)
        self.status = status


def person_of(request: HttpRequest, scope: str = AppToken.Scope.READ, *, now: datetime) -> User:
    """Whose token a request brings: `Authorization` as Basic, Bearer or GoogleLogin has it, or `X-Auth-Token`.

    Raises Refused if it brings none, one that is unknown, or one that does not allow what is asked (status 403); or if
    it is wrong and too many wrong ones came from its address under the same name (status 429).
    """
    name, secret = _brought(request)
    return person_by(request, secret, scope, name=name, now=now)


def person_by(
    request: HttpRequest, secret: str, scope: str = AppToken.Scope.READ, *, name: str = "", now: datetime
) -> User:
    """The same for a secret that a request brings elsewhere. A name, if one comes with it, has to be that person's."""
    return _person(request, secret, use_token, scope, name, now)


def person_by_fever_key(request: HttpRequest, key: str, scope: str = AppToken.Scope.READ, *, now: datetime) -> User:
    """The same for a key that a program made of a token for Fever."""
    return _person(request, key, use_fever_key, scope, "", now)


def _person(
    request: HttpRequest, secret: str, use: Callable[..., User | None], scope: str, name: str, now: datetime
) -> User:
    person = use(secret, scope, now=now) if secret else None
    if person is not None and (not name or _is_called(person, name)):
        return person
    if secret and person is None and use(secret, now=now) is not None:
        raise Refused("This token does not allow changes.", 403)
    if secret:
        _count_wrong(request, name)
    raise Refused("An app token is needed. Make one in the account's settings.")


def _count_wrong(request: HttpRequest, name: str) -> None:
    """Count a wrong token, after the valid ones are let through: those who share an address do not lock each other out.

    A token is 256 random bits, so nobody finds one by guessing; the limit tells a program that it may stop.
    """
    address = get_adapter().get_client_ip(request)
    who = f"{address}:{digest_of(name.casefold())[:16]}"
    if not rate_limits.is_within("secret", who, most=WRONG_SECRETS, seconds=WRONG_SECONDS):
        raise Refused("Too many wrong tokens came from this address. Try again in some minutes.", 429)


def token_of(request: HttpRequest) -> AppToken:
    """The token that a request brings, whose person has been found before."""
    token = queries.token_of(_brought(request)[1])
    if token is None:  # revoked since
        raise Refused("An app token is needed. Make one in the account's settings.")
    return token


def _brought(request: HttpRequest) -> tuple[str, str]:
    """A name, which may be missing, and a secret, which may be missing."""
    scheme, _space, value = request.headers.get("Authorization", "").strip().partition(" ")
    match scheme.lower():
        case "basic":
            try:
                name, _colon, secret = b64decode(value, validate=True).decode().partition(":")
            except (BadBase64, UnicodeDecodeError):
                return "", ""
            return name, secret
        case "bearer":
            return "", value.strip()
        case "googlelogin":
            # Programs say auth=, Auth= and now and then more besides; what we told them is name/secret.
            pairs = dict(part.strip().partition("=")[::2] for part in value.split(","))
            name, _slash, secret = {key.lower(): said for key, said in pairs.items()}.get("auth", "").rpartition("/")
            return name, secret
    return "", request.headers.get("X-Auth-Token", "").strip()


def _is_called(person: User, name: str) -> bool:
    if person.get_username().casefold() == name.casefold():
        return True
    return User.objects.filter(Q(emailaddress__email__iexact=name) | Q(email__iexact=name), pk=person.pk).exists()
