"""Where the pictures and recordings of postings are loaded from, as each person wishes, and our addresses of them.

An address of ours names the publisher's and is signed: the portal fetches what stands in postings, and nothing else
that anybody asks for.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode

from django.contrib.auth.models import AnonymousUser
from django.urls import reverse
from django.utils.crypto import constant_time_compare, salted_hmac

from apps.accounts.models import User
from apps.web.algorithms.pictures import is_on_web, led_through, played_through, replaced

_SALTS = {
    "image": "apps.web.pages.pictures",
    "recording": "apps.reading.actions.recordings",
}  # by the name of the address
_WORDS = {"image": "picture", "recording": "recording"}
_SIGNATURE = 16  # bytes; nobody guesses one of 2**128


class BadSignature(ValueError):
    """An address of a picture was not made by us."""


def choice_of(user: User | AnonymousUser) -> User.Images:
    """What the person wishes; who is not signed in shows no site that they read."""
    return User.Images(user.images) if user.is_authenticated else User.Images.PROXIED


def picture_for(user: User | AnonymousUser, address: str, choice: str | None = None) -> str:
    """The address to show a picture from, or "" if it is not to be shown.

    `choice` is the person's of the source alone, empty or None where they made none.
    """
    match User.Images(choice or choice_of(user)):
        case User.Images.PROXIED if is_on_web(address):
            return proxied(address)
        case User.Images.BLOCKED if is_on_web(address):
            return ""
    return address


def article_for(user: User | AnonymousUser, html: str, choice: str | None = None) -> str:
    """An article that was made safe, with its pictures as the person wishes, of its source or of all."""
    match User.Images(choice or choice_of(user)):
        case User.Images.PROXIED:
            return played_through(led_through(html, proxied), proxied_recording)
        case User.Images.BLOCKED:
            return played_through(replaced(html), proxied_recording)
    return html


def recording_for(user: User | AnonymousUser, address: str, choice: str | None = None) -> str:
    """The address to play a recording from: nothing is loaded before somebody plays it, so none is blocked."""
    is_direct = User.Images(choice or choice_of(user)) == User.Images.DIRECT
    return address if is_direct else proxied_recording(address)


def proxied(address: str) -> str:
    """The address of ours that shows the picture at another one."""
    return _proxied(address, "image")


def proxied_recording(address: str) -> str:
    """The address of ours that plays the audio or video at another one."""
    return _proxied(address.partition("#")[0], "recording")


def _proxied(address: str, kind: str) -> str:
    return reverse(kind, args=[_signature(address, kind), _encoded(address.encode())])


def address_in(signature: str, encoded: str, *, kind: str = "image") -> str:
    """The address that an address of ours stands for.

    Raises
    ------
    BadSignature
        If we did not make it.
    """
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
