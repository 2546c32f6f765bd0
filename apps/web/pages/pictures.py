"""Where pictures and recordings are loaded from, by the user's setting, and the proxy's addresses.

A proxy address contains the publisher's and a signature: only what occurs in postings can be fetched through it.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode

from django.contrib.auth.models import AnonymousUser
from django.urls import reverse
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext

from apps.accounts.models import User
from apps.web.algorithms.articles import with_players, with_regions
from apps.web.algorithms.pictures import is_on_web, led_through, played_through, replaced

_SALTS = {
    "image": "apps.web.pages.pictures",
    "recording": "apps.reading.actions.recordings",
    "player": "apps.reading.views.media",
}  # by URL name
_WORDS = {"image": "picture", "recording": "recording", "player": "player"}
_SIGNATURE = 16  # bytes


class BadSignature(ValueError):
    """A proxy address was not signed here."""


def choice_of(user: User | AnonymousUser) -> User.Images:
    """The user's setting; visitors use the proxy, so that no site learns what they read."""
    return User.Images(user.images) if user.is_authenticated else User.Images.PROXIED


def picture_for(user: User | AnonymousUser, address: str, choice: str | None = None) -> str:
    """The address to load a picture from, or "" if it is not shown.

    `choice` is the user's setting for this source, empty or None for the general one.
    """
    match User.Images(choice or choice_of(user)):
        case User.Images.PROXIED if is_on_web(address):
            return proxied(address)
        case User.Images.BLOCKED if is_on_web(address):
            return ""
    return address


def article_for(user: User | AnonymousUser, html: str, choice: str | None = None) -> str:
    """A sanitized article for a page, with its pictures according to the setting for its source or the general one."""
    images = User.Images(choice or choice_of(user))
    html = arranged(html, pictured=images != User.Images.BLOCKED)
    match images:
        case User.Images.PROXIED:
            return played_through(led_through(html, proxied), proxied_recording)
        case User.Images.BLOCKED:
            return played_through(replaced(html), proxied_recording)
    return html


def arranged(html: str, *, pictured: bool) -> str:
    """A sanitized article with cards for players and regions for tables."""
    return with_regions(with_players(html, proxied_player, pictured=pictured), gettext("Table"))


def recording_for(user: User | AnonymousUser, address: str, choice: str | None = None) -> str:
    """The address to play a recording from. None is blocked, since nothing is loaded before playback."""
    is_direct = User.Images(choice or choice_of(user)) == User.Images.DIRECT
    return address if is_direct else proxied_recording(address)


def proxied(address: str) -> str:
    """The proxy address of a picture."""
    return _proxied(address, "image")


def proxied_recording(address: str) -> str:
    """The proxy address of audio or video."""
    return _proxied(address.partition("#")[0], "recording")


def proxied_player(address: str) -> str:
    """The address of our frame for the player of what a page shows."""
    return _proxied(address, "player")


def _proxied(address: str, kind: str) -> str:
    return reverse(kind, args=[_signature(address, kind), _encoded(address.encode())])


def address_in(signature: str, encoded: str, *, kind: str = "image") -> str:
    """The publisher's address in a proxy address; raises BadSignature if it was not signed here."""
    try:
        address = urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()
    except ValueError as error:
        raise BadSignature(f"This is no address of a {_WORDS[kind]}.") from error
    if not constant_time_compare(signature, _signature(address, kind)):
        raise BadSignature(f"The address of this {_WORDS[kind]} was not signed here.")
    return address


def _signature(address: str, kind: str) -> str:
    return _encoded(salted_hmac(_SALTS[kind], address, algorithm="sha256").digest()[:_SIGNATURE])


def _encoded(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()
