"""The portal's own addresses, as mails and links for other people name them."""

from urllib.parse import urlsplit, urlunsplit

from django.conf import settings
from django.urls import get_script_prefix


def own_address(address: str) -> str:
    """A path, or the address of one of our pages under whatever name it was asked for, below the portal's own address.

    The name that a request was sent to is never believed: whoever asks chooses it.
    """
    asked = urlsplit(address)
    own = urlsplit(settings.PROJECT_URL)
    # Below a folder the server says so to Django as well, which writes it before every path.
    path = own.path.rstrip("/") + "/" + asked.path.removeprefix(get_script_prefix())
    return urlunsplit((own.scheme, own.netloc, path, asked.query, asked.fragment))


def own_name() -> str:
    """Host, and port if it is an unusual one."""
    return urlsplit(settings.PROJECT_URL).netloc


def sends_mail() -> bool:
    """Whether mails reach people: elsewhere they are only printed."""
    return not settings.EMAIL_BACKEND.endswith(("console.EmailBackend", "dummy.EmailBackend"))
