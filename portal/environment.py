"""Readers of environment variables: a malformed value stops the start with its name and the problem."""

import difflib
import json
import os
import re
import zoneinfo
from collections.abc import Collection
from contextlib import suppress
from importlib.util import find_spec
from ipaddress import IPv6Address
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from apps.retrieval.algorithms.open_hosts import BadEntry, OpenHosts

PREFIX = "WIREBEAT_"
# Kubernetes and Docker set these for other containers if a service or container is called "wirebeat".
_OF_ORCHESTRATORS = re.compile(
    r"WIREBEAT_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT|PORT_\d+_(TCP|UDP)(_\w+)?|NAME)"
)
_read: set[str] = set()


class BadEnvironment(ValueError):
    """An environment variable has an invalid value."""


def text(name: str, default: str = "") -> str:
    """The value of `name`, or the content of the file that `name`_FILE points to (for secrets)."""
    _read.add(name)
    if (path := os.environ.get(f"{name}_FILE")) is None:
        return os.environ.get(name, default)
    try:
        value = Path(path).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise BadEnvironment(f"{name}_FILE: cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise BadEnvironment(f"{name}_FILE: {path} does not hold text") from error
    if not value:
        raise BadEnvironment(f"{name}_FILE: {path} is empty")
    return value


def refuse_unknown(others: Collection[str]) -> None:
    """Refuse variables with our prefix that have not been read and are not among `others`."""
    known = _read | set(others)
    for name in sorted(os.environ):
        if not name.startswith(PREFIX) or name.removesuffix("_FILE") in known or _OF_ORCHESTRATORS.fullmatch(name):
            continue
        closest = difflib.get_close_matches(name, sorted(known), n=1)
        advice = f"did you mean {closest[0]}?" if closest else "docs/configuration.md lists all names."
        raise BadEnvironment(f"{name} is no setting; {advice}")


def folder(name: str, default: Path) -> Path:
    """A folder, which need not exist yet."""
    path = Path(text(name) or default).absolute()
    if path.exists() and not path.is_dir():
        raise BadEnvironment(f"{name}: {path} is a file, expected a folder")
    return path


def unusable(folder: Path, error: OSError) -> str:
    """The message for a data folder that is not writable."""
    return f"The data folder {folder} cannot be used: {error.strerror}. WIREBEAT_VAR may name another one."


def truth(name: str, default: bool) -> bool:
    value = text(name, "yes" if default else "no").lower()
    if value in {"1", "true", "yes", "on"}:
        return True
    if value in {"0", "false", "no", "off", ""}:
        return False
    raise BadEnvironment(f"{name}={value!r}: expected yes or no")


def whole(name: str, default: int, *, at_least: int = 0, at_most: int) -> int:
    value = text(name, str(default))
    if not (value.isdecimal() and len(value) < 20 and at_least <= int(value) <= at_most):
        raise BadEnvironment(f"{name}={value!r}: expected a whole number from {at_least} to {at_most}")
    return int(value)


def number(name: str, default: float, *, at_least: float = 0.0, at_most: float) -> float:
    value = text(name, str(default))
    try:
        result = float(value)
    except ValueError:
        result = at_least - 1
    if not at_least <= result <= at_most:  # also catches nan
        raise BadEnvironment(f"{name}={value!r}: expected a number from {at_least:.10g} to {at_most:.10g}")
    return result


def choice(name: str, default: str, *others: str) -> str:
    """One of a few words; the first is the default."""
    value = text(name, default).lower()
    if value not in {default, *others}:
        raise BadEnvironment(f"{name}={value!r}: expected {', '.join((default, *others))}")
    return value


def time_zone(name: str, default: str) -> str:
    """A name of the tz database."""
    if (value := text(name, default)) not in zoneinfo.available_timezones():
        raise BadEnvironment(f"{name}={value!r}: expected a time zone such as Europe/Lisbon")
    return value


def words(name: str, default: str = "") -> list[str]:
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def site(name: str, default: str) -> str:
    """The address of a whole site, or of a path of one."""
    value = text(name) or default
    url = _split(value)
    if not _is_of_web(url) or "?" in value or "#" in value or "@" in url.netloc:
        raise BadEnvironment(f"{name}: expected an address such as https://news.example or https://example.org/news")
    return value.rstrip("/")


def origins(name: str) -> list[str]:
    """Origins as browsers name them; `*.` stands for all names below one."""
    found = words(name)
    for origin in found:
        url = _split(origin.replace("://*.", "://", 1))
        if not _is_of_web(url) or url.path or "?" in origin or "#" in origin or "@" in url.netloc:
            raise BadEnvironment(f"{name}: {origin!r} is no origin such as https://news.example")
    return found


_HOST = re.compile(
    r"\.?(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*\.?", re.IGNORECASE
)


def hosts(name: str, default: str) -> list[str]:
    """Host names or addresses; a leading dot stands for all subdomains, a star for every host."""
    found = [host.lower() for host in words(name, default)]
    for host in found:
        if not (_HOST.fullmatch(host) or host == "*" or _is_ipv6(host)):
            raise BadEnvironment(f"{name}: {host!r} is no host such as news.example, 10.0.0.1 or [::1], without port")
    return found


def _is_ipv6(host: str) -> bool:
    bare = host.removeprefix("[").removesuffix("]")
    try:
        IPv6Address(bare)
    except ValueError:
        return False
    return bare != host


def open_hosts(name: str) -> list[str]:
    """Hosts and networks that are opened to requests, in the notation of `algorithms.open_hosts`."""
    found = words(name)
    try:
        OpenHosts(found)
    except BadEntry as error:
        raise BadEnvironment(f"{name}: {error}") from None
    return found


def token(name: str) -> str:
    """A secret that is sent in a header."""
    value = text(name)
    if not re.fullmatch(r"[\x21-\x7e]*", value):
        raise BadEnvironment(f"{name}: expected letters, digits and signs of ASCII, without blanks")
    return value


def mail_address(name: str, default: str) -> str:
    """The address of a sender, with a name before it or without: ``Wirebeat <news@example.org>``."""
    value = (text(name) or default).strip()
    if not re.fullmatch(r"([^<>\x00-\x1f\x7f]*<)?[^@\s<>,;]+@[^@\s<>,;]+(?(1)>)", value):
        raise BadEnvironment(f"{name}={value!r}: expected an address such as Wirebeat <news@example.org>")
    return value


def class_path(name: str, default: str) -> str:
    """The path of a Python class whose module is installed."""
    value = text(name) or default
    module = value.rpartition(".")[0]
    if value == default:
        return value
    try:
        is_there = bool(re.fullmatch(r"\w+(\.\w+)+", value)) and find_spec(module) is not None
    except ImportError:
        is_there = False
    if not is_there:
        raise BadEnvironment(f"{name}={value!r}: expected a class of an installed module, such as {default}")
    return value


_OF_SOCKETS = {"unix", "redis+socket"}


def server(name: str, default: str, schemes: Collection[str]) -> str:
    """The address of a broker or cache, or several with semicolons between. It is not shown: it may hold a password."""
    value = text(name) or default
    for address in value.split(";"):
        url = _split(address)
        lies_there = url.path.strip("/") if url.scheme in _OF_SOCKETS else url.hostname
        number = url.path.strip("/")
        is_number = not url.scheme.startswith("redis") or url.scheme in _OF_SOCKETS or re.fullmatch(r"\d{0,9}", number)
        if url.scheme not in schemes or not lies_there or not is_number:
            kinds = ", ".join(f"{scheme}://" for scheme in schemes)
            raise BadEnvironment(f"{name}: expected the address of a server that begins with one of {kinds}")
    return value


def _split(address: str) -> SplitResult:
    """The parts of a URL, all empty if it is invalid."""
    try:
        url = urlsplit(address)
        _ = url.port, url.hostname  # whose values are checked when they are read
    except ValueError:
        return urlsplit("")
    return url


def _is_of_web(url: SplitResult) -> bool:
    return url.scheme in {"http", "https"} and bool(_HOST.fullmatch(url.hostname or "") or ":" in (url.hostname or ""))


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
    url = _split(text(name) or default)
    if url.scheme not in {"postgresql", "postgres"} or not url.path.strip("/"):
        raise BadEnvironment(f"{name}: expected postgresql://user:password@host:port/database, the port a number")
    options = dict(parse_qsl(url.query, keep_blank_values=True))
    for option in options:
        if option != "host" and option not in _options():
            raise BadEnvironment(f"{name}: {option!r} is no option of a connection to Postgres")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(url.path.strip("/")),
        "USER": unquote(url.username or ""),
        "PASSWORD": unquote(url.password or ""),
        "HOST": options.pop("host", unquote(url.hostname or "")),  # ?host= carries a socket's directory
        "PORT": str(url.port or ""),
        "OPTIONS": options,
    }


def _options() -> set[str]:
    from psycopg import pq  # noqa: PLC0415 - it takes the supervisor 9 MB

    return {option.keyword.decode() for option in pq.Conninfo.get_defaults()} - {"dbname", "user", "password"}


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
    if value and not (port and url.scheme in _MAIL_PORTS and url.hostname and not url.path.strip("/") + url.query):
        # The value is not shown: it may hold a password.
        raise BadEnvironment(f"{name}: expected smtp://user:password@host:port, or smtps:// or smtp+tls://")
    user, password = unquote(url.username or ""), unquote(url.password or "")
    return MailServer(url.hostname or "", port, user, password, url.scheme == "smtp+tls", url.scheme == "smtps")


_PROVIDER = {"id", "name", "server", "client_id", "secret"}


def identity_providers(name: str) -> list[dict[str, Any]] | None:
    """allauth's description of OpenID providers from a JSON object, or several in a list; None if nothing is set.

    ``{"id": "acme", "name": "Acme", "server": "https://id.acme.example", "client_id": "wirebeat", "secret": "…"}``
    """
    value = text(name)
    if not value.strip():
        return None
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
    if not isinstance(given, dict):  # no value is shown, since it may be a secret
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
        return _kept_secret(file)
    except OSError as error:
        raise BadEnvironment(unusable(file.parent, error)) from error


def _kept_secret(file: Path) -> str:
    with suppress(FileNotFoundError):
        return file.read_text(encoding="ascii")
    file.parent.mkdir(parents=True, exist_ok=True)
    candidate = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        candidate.touch(mode=0o600)
        candidate.write_text(os.urandom(48).hex(), encoding="ascii")
        os.link(candidate, file)  # if several processes start at once, the first key stays
    except FileExistsError:
        pass
    finally:
        candidate.unlink(missing_ok=True)
    return file.read_text(encoding="ascii")
