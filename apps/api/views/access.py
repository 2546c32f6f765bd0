"""Authenticates programs by app tokens, never by passwords."""

from base64 import b64decode
from binascii import Error as BadBase64
from collections.abc import Callable
from datetime import datetime

from allauth.account.adapter import get_adapter
from django.db.models import Q
from django.http import HttpRequest

from apps.accounts import queries
from apps.accounts.actions import rate_limits, use_token
from apps.accounts.algorithms.secrets import digest_of
from apps.accounts.models import AppToken, User

WRONG_SECRETS, WRONG_SECONDS = 30, 300  # from one address under one name, in that time
TOKEN_NEEDED = "An app token is needed. Make one in the account's settings."


class Refused(Exception):
    """The request is not authenticated or not allowed; `status` is that of the HTTP response."""

    def __init__(self, words: str, status: int = 401) -> None:
        super().__init__(words)
        self.status = status


def person_of(request: HttpRequest, scope: str = AppToken.Scope.READ, *, now: datetime) -> User:
    """The user of the token in `Authorization` (Basic, Bearer or GoogleLogin) or `X-Auth-Token`.

    Raises Refused without a valid token, if the token does not allow the scope (403), or after too many wrong tokens
    from the address under the same name (429).
    """
    name, secret = _credentials(request)
    return person_by(request, secret, scope, name=name, now=now)


def person_by(
    request: HttpRequest,
    secret: str,
    scope: str = AppToken.Scope.READ,
    *,
    name: str = "",
    use: Callable[..., User | None] = use_token,
    now: datetime,
) -> User:
    """The same for a secret from elsewhere. A name, if given, has to be that of the user."""
    person = use(secret, scope, now=now) if secret else None
    if person is not None and (not name or _is_called(person, name)):
        return person
    if secret and person is None and use(secret, now=now) is not None:
        raise Refused("This token does not allow changes.", 403)
    if secret:
        _count_wrong(request, name)
    raise Refused(TOKEN_NEEDED)


def _count_wrong(request: HttpRequest, name: str) -> None:
    """Count a wrong token. Valid ones have passed before, so users behind one address do not lock each other out.

    A token has 256 random bits and cannot be guessed; the limit makes programs stop.
    """
    address = get_adapter().get_client_ip(request)
    who = f"{address}:{digest_of(name.casefold())[:16]}"
    if not rate_limits.is_within("secret", who, most=WRONG_SECRETS, seconds=WRONG_SECONDS):
        raise Refused("Too many wrong tokens came from this address. Try again in some minutes.", 429)


def token_of(request: HttpRequest) -> AppToken:
    """The token of an authenticated request."""
    token = queries.token_of(_credentials(request)[1])
    if token is None:  # revoked since
        raise Refused(TOKEN_NEEDED)
    return token


def _credentials(request: HttpRequest) -> tuple[str, str]:
    """Name and secret; either may be empty."""
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
            # Programs send auth= or Auth=, and sometimes further pairs; the value is name/secret.
            pairs = (part.strip().partition("=")[::2] for part in value.split(","))
            name, _slash, secret = {key.lower(): text for key, text in pairs}.get("auth", "").rpartition("/")
            return name, secret
    return "", request.headers.get("X-Auth-Token", "").strip()


def _is_called(person: User, name: str) -> bool:
    if person.get_username().casefold() == name.casefold():
        return True
    return User.objects.filter(Q(emailaddress__email__iexact=name) | Q(email__iexact=name), pk=person.pk).exists()
