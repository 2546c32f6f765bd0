"""The portal's own addresses, for mails and links."""

from urllib.parse import urlsplit, urlunsplit

from django.conf import settings
from django.urls import get_script_prefix


def own_address(address: str) -> str:
    """A path, or the address of one of our pages under any host name, below the configured base address.

    The host name of the request is not trusted, because the client chooses it.
    """
    parts = urlsplit(address)
    own = urlsplit(settings.PROJECT_URL)
    # Below a subpath, Django knows it as the script prefix, which is in every path already.
    path = own.path.rstrip("/") + "/" + parts.path.removeprefix(get_script_prefix())
    return urlunsplit((own.scheme, own.netloc, path, parts.query, parts.fragment))


def own_name() -> str:
    """Host, with the port unless it is the default one."""
    return urlsplit(settings.PROJECT_URL).netloc


def own_host() -> str:
    """The host alone."""
    return urlsplit(settings.PROJECT_URL).hostname or "localhost"


def sends_mail() -> bool:
    """Whether mails are delivered instead of printed."""
    return not settings.EMAIL_BACKEND.endswith(("console.EmailBackend", "dummy.EmailBackend"))
