"""What a browser needs to show pages without a network: their files, and a pseudonym of the user.

The files and templates of one version share a version number. A browser stores all or none of them, so that it never
mixes two versions.
"""

from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.templatetags.static import static
from django.utils.crypto import salted_hmac

from apps.accounts.models import User

_SALT = "apps.web.pages.offline_shell"
_FILES = ("css/**/*.css", "js/*.js", "vendor/**/*.js", "icon.svg", "icons.svg")
_WORKER = ("js/worker/*.js", "js/worker.js")  # concatenated in this order
_TEMPLATES = ("base.html", "partials/*.html", "reading/offline*.html", "reading/_*.html")


class Shell(NamedTuple):
    """The styles and scripts of pages that a browser shows without a network."""

    version: str
    digests: Mapping[str, str]  # SHA-256 of each file by its address, hexadecimal
    worker: str  # the service worker's script


def shell() -> Shell:
    return _read() if settings.DEBUG else _read_once()


def person_key(user: User | AnonymousUser) -> str:
    """A pseudonym by which a browser knows whose articles it stores; "" for visitors."""
    return salted_hmac(_SALT, str(user.pk), algorithm="sha256").hexdigest()[:32] if user.is_authenticated else ""


def _read() -> Shell:
    root = Path(settings.STATICFILES_DIRS[0])
    contents = {path.relative_to(root).as_posix(): path.read_bytes() for path in _found(root, _FILES)}
    digests = {static(name): sha256(data).hexdigest() for name, data in contents.items() if name != "js/worker.js"}
    worker = "\n".join(path.read_text(encoding="utf-8") for path in _found(root, _WORKER))
    templates = [path.read_text(encoding="utf-8") for path in _found(Path(settings.BASE_DIR, "templates"), _TEMPLATES)]
    everything = "\0".join([*(f"{address} {digest}" for address, digest in digests.items()), worker, *templates])
    return Shell(sha256(everything.encode()).hexdigest()[:16], digests, worker)


_read_once = cache(_read)


def _found(root: Path, patterns: tuple[str, ...]) -> list[Path]:
    return [path for pattern in patterns for path in sorted(root.glob(pattern))]
