"""Where the pictures of postings are shown from, as each person wishes, and the addresses of ours that do so.

An address of ours names the publisher's and is signed: the portal fetches what stands in postings, and nothing else
that anybody asks for.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode

from django.contrib.auth.models import AnonymousUser
from django.urls import reverse
from django.utils.crypto import constant_time_compare, salted_hmac

from apps.accounts.models import User
from apps.reading.algorithms.pictures import is_on_web, led_through, replaced

_SALT = "apps.reading.pictures"
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
            return led_through(html, proxied)
        case User.Images.BLOCKED:
            return replaced(html)
    return html


def proxied(address: str) -> str:
    """The address of ours that shows the picture at another one."""
    return reverse("image", args=[_signature(address), _encoded(address.encode())])


def address_in(signature: str, encoded: str) -> str:
    """The address that an address of ours stands for.

    Raises
    ------
    BadSignature
        If we did not make it.
    """
    try:
        address = urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()
    except ValueError as error:
        raise BadSignature("This is no address of a picture.") from error
    if not constant_time_compare(signature, _signature(address)):
        raise BadSignature("The address of this picture was not signed here.")
    return address


def _signature(address: str) -> str:
    return _encoded(salted_hmac(_SALT, address, algorithm="sha256").digest()[:_SIGNATURE])


def _encoded(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()
