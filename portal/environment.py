"""Readers of environment values that fail loudly: a malformed value stops the start with its name and what is wrong."""

import json
import os
import re
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from apps.retrieval.algorithms.open_hosts import BadEntry, OpenHosts
from apps.sources.algorithms.addresses import resolve


class BadEnvironment(ValueError):
    """An environment variable holds something that cannot be meant."""


def text(name: str, default: str = "") -> str:
    """The value of `name`, or the content of the file that `name`_FILE points to (for secrets)."""
    if (path := os.environ.get(f"{name}_FILE")) is not None:
        try:
            return Path(path).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise BadEnvironment(f"{name}_FILE: cannot read {path}: {error.strerror}") from error
    return os.environ.get(name, default)


def truth(name: str, default: bool) -> bool:
    value = text(name, "yes" if default else "no").lower()
    if value in {"1", "true", "yes", "on"}:
        return True
    if value in {"0", "false", "no", "off", ""}:
        return False
    raise BadEnvironment(f"{name}={value!r}: expected yes or no")


def whole(name: str, default: int, *, at_least: int = 0) -> int:
    value = text(name, str(default))
    if not value.isdecimal() or int(value) < at_least:
        raise BadEnvironment(f"{name}={value!r}: expected a whole number of at least {at_least}")
    return int(value)


def number(name: str, default: float, *, at_least: float = 0.0) -> float:
    value = text(name, str(default))
    try:
        result = float(value)
    except ValueError:
        result = at_least - 1
    if not result >= at_least:  # also catches nan
        raise BadEnvironment(f"{name}={value!r}: expected a number of at least {at_least}")
    return result


def choice(name: str, default: str, *others: str) -> str:
    """One of a few words; the first is the default."""
    value = text(name, default).lower()
    if value not in {default, *others}:
        raise BadEnvironment(f"{name}={value!r}: expected {', '.join((default, *others))}")
    return value


def words(name: str, default: str = "") -> list[str]:
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def addresses(name: str) -> list[str]:
    """Addresses of the web, with commas between them."""
    found = words(name)
    for address in found:
        if not address.startswith(("http://", "https://")) or resolve(address) is None:
            raise BadEnvironment(f"{name}: {address!r} is no address such as https://hub.example/")
    return found


def open_hosts(name: str) -> list[str]:
    """Hosts and networks that are opened to requests, in the notation of `algorithms.open_hosts`."""
    found = words(name)
    try:
        OpenHosts(found)
    except BadEntry as error:
        raise BadEnvironment(f"{name}: {error}") from None
    return found


def options(name: str, default: dict[str, object]) -> dict[str, object]:
    """Named values from a JSON object like ``{"bucket_name": "news"}``."""
    value = text(name)
    if not value:
        return default
    try:
        result = json.loads(value)
    except ValueError:
        result = None
    if not isinstance(result, dict):  # the value is not shown: it may hold keys
        raise BadEnvironment(f'{name}: expected a JSON object such as {{"bucket_name": "news"}}')
    return result


def database(name: str, default: str) -> dict[str, Any]:
    """Django's settings of a database from a URL like ``postgresql://user:password@host:5432/name?sslmode=require``."""
    url = urlsplit(text(name, default))
    if url.scheme not in {"postgresql", "postgres"} or not url.path.strip("/"):
        raise BadEnvironment(f"{name}: expected postgresql://user:password@host:port/database")
    options = dict(parse_qsl(url.query))
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(url.path.strip("/")),
        "USER": unquote(url.username or ""),
        "PASSWORD": unquote(url.password or ""),
        "HOST": options.pop("host", unquote(url.hostname or "")),  # ?host= carries a socket's directory
        "PORT": str(url.port or ""),
        "OPTIONS": options,
    }


class MailServer(NamedTuple):
    host: str
    port: int
    user: str
    password: str
    use_tls: bool  # from its own greeting on (STARTTLS)
    use_ssl: bool  # from the first byte


_MAIL_PORTS = {"smtp": 25, "smtps": 465, "smtp+tls": 587}


def mail_server(name: str) -> MailServer:
    """From a URL like ``smtp+tls://user:password@host:587``, which may begin with smtp, smtps or smtp+tls.

    Without one there is no host.
    """
    value = text(name)
    try:
        url = urlsplit(value)
        port = url.port or _MAIL_PORTS.get(url.scheme, 0)
    except ValueError:
        port = 0
    if value and not (port and url.hostname and not url.path.strip("/") and not url.query):
        # The value is not shown: it may hold a password.
        raise BadEnvironment(f"{name}: expected smtp://user:password@host:port, or smtps:// or smtp+tls://")
    user, password = unquote(url.username or ""), unquote(url.password or "")
    return MailServer(url.hostname or "", port, user, password, url.scheme == "smtp+tls", url.scheme == "smtps")


_PROVIDER = {"id", "name", "server", "client_id", "secret"}


def identity_providers(name: str) -> list[dict[str, Any]]:
    """allauth's description of OpenID providers from a JSON object, or several in a list: ``{"id": "acme",
    "name": "Acme", "server": "https://id.acme.example", "client_id": "wirebeat", "secret": "…"}``.
    """
    value = text(name)
    if not value.strip():
        return []
    try:
        given = json.loads(value)
    except ValueError as error:
        raise BadEnvironment(f"{name}: expected a JSON object, or a list of some") from error
    providers = given if isinstance(given, list) else [given]
    apps = [_identity_provider(f"{name}, provider {place}", each) for place, each in enumerate(providers, 1)]
    if len({app["provider_id"] for app in apps}) < len(apps):
        raise BadEnvironment(f"{name}: two providers have the same id")
    return apps


def _identity_provider(place: str, given: object) -> dict[str, Any]:
    if not isinstance(given, dict):  # nothing of a value is shown: it may hold a secret
        raise BadEnvironment(f"{place}: expected a JSON object with {', '.join(sorted(_PROVIDER))}")
    if unknown := sorted(given.keys() - _PROVIDER):
        raise BadEnvironment(f"{place}: {', '.join(unknown)} means nothing")
    if missing := sorted(key for key in _PROVIDER if not (isinstance(given.get(key), str) and given[key].strip())):
        raise BadEnvironment(f"{place}: {', '.join(missing)} must be given, as text")
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,39}", given["id"]):
        raise BadEnvironment(f"{place}: id is part of an address: up to 40 small letters, digits and hyphens")
    try:
        server = urlsplit(given["server"])
        host = server.hostname or ""
    except ValueError:
        host = ""
    is_safe = bool(host) and (server.scheme == "https" or (server.scheme == "http" and host in _OWN_MACHINE))
    if not is_safe or server.username or server.query or server.fragment:
        raise BadEnvironment(f"{place}: server is an address with https, without a password or query")
    return {
        "provider_id": given["id"],
        "name": given["name"],
        "client_id": given["client_id"],
        "secret": given["secret"],
        "settings": {"server_url": given["server"].rstrip("/"), "fetch_userinfo": True, "uid_field": "sub"},
    }


_OWN_MACHINE = ("localhost", "127.0.0.1", "::1")


def secret_key(name: str, file: Path) -> str:
    """The secret of sessions and signatures: from the environment, or made once and kept in `file`."""
    if value := text(name):
        return value
    try:
        return file.read_text(encoding="ascii")
    except FileNotFoundError:
        pass
    file.parent.mkdir(parents=True, exist_ok=True)
    candidate = file.with_name(f"{file.name}.{os.getpid()}")
    candidate.touch(mode=0o600)
    candidate.write_text(os.urandom(48).hex(), encoding="ascii")
    try:
        os.link(candidate, file)  # of several processes that start at once, the first one's key stays
    except FileExistsError:
        pass
    finally:
        candidate.unlink()
    return file.read_text(encoding="ascii")
