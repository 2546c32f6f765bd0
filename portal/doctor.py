"""The checks of `manage.py doctor`: everything that the portal needs, with a remedy for each problem."""

import os
import platform
import shutil
import stat
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import psycopg
from celery import current_app
from django.conf import settings
from django.core import checks, mail
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.utils.timezone import now
from prometheus_client.samples import Sample
from psycopg.rows import dict_row

from apps.dashboard.pages.metrics import metrics
from apps.dashboard.queries import services
from apps.database import schema
from apps.retrieval import sandbox
from apps.retrieval.algorithms.open_hosts import Entry
from apps.retrieval.sandbox.confinement import MEASURES
from apps.retrieval.scheduler.beat import LEADERSHIP
from portal import databases

OLDEST_SERVER = 15  # release of Postgres
MIN_KEY_LENGTH = 50  # characters
MIN_FREE_BYTES = 2 * 2**30  # bytes
MIN_FREE_SHARE = 0.05
ALARMS: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("alarms.toml").read_text("utf-8"))
MIN_WHOLE = 20  # below which a share says nothing
MAX_WAITING = 10_000  # messages in a queue of the broker
ANSWER_WITHIN = 3.0  # s, of workers and of the portal's own address


class Finding(NamedTuple):
    name: str
    text: str
    advice: str = ""  # the remedy; empty without a problem
    is_warning: bool = False  # a risk that the operator may have chosen

    @property
    def is_fine(self) -> bool:
        return not self.advice

    @property
    def is_wrong(self) -> bool:
        return bool(self.advice) and not self.is_warning


class Wrong(Exception):
    """A problem with its remedy."""

    def __init__(self, text: str, advice: str, *, is_warning: bool = False) -> None:
        super().__init__(text)
        self.text, self.advice, self.is_warning = text, advice, is_warning


def examined() -> Iterator[Finding]:
    """Run all checks; those that need the database are left out if it does not answer."""
    yield from map(_finding, ALONE)
    try:
        connection = databases.connect()
    except psycopg.Error as error:
        advice = "Start Postgres (manage.py up starts the embedded one), or correct DATABASE_URL."
        yield Finding("database", f"It does not answer: {' '.join(str(error).split())}", advice)
        return
    with connection:
        for check in OF_THE_DATABASE:
            yield _finding(check, connection)
        is_migrated = not schema.known() - schema.applied(connection)
    if is_migrated:
        yield from alarms([sample for metric in metrics(now()) for sample in metric.samples])


def _finding(check: Callable[..., str], *arguments: databases.Connection) -> Finding:
    name = check.__name__.replace("_", " ").strip()
    try:
        return Finding(name, check(*arguments))
    except Wrong as wrong:
        return Finding(name, wrong.text, wrong.advice, wrong.is_warning)
    except Exception as error:  # a failing check is a finding, and does not stop the others
        return Finding(name, f"The check failed: {type(error).__name__}: {error}", "See the error.")


def _unless(is_wrong: bool, text: str, advice: str) -> str:
    if is_wrong:
        raise Wrong(text, advice)
    return text


def alarms(samples: Sequence[Sample]) -> Iterator[Finding]:
    """What each alert of `alarms.toml` is about, by the metrics of this moment."""
    for name, alarm in ALARMS.items():
        if "metric" in alarm:
            value, is_share = _measured(alarm, samples), "of" in alarm or "longer_than" in alarm
            is_fine = alarm.get("below", -inf) <= value <= alarm.get("above", inf)
            text = alarm["summary"].format(value=f"{value:.1%}" if is_share else f"{value:,.6g}")
            yield Finding(name, text, "" if is_fine else alarm["remedy"], alarm.get("since_start", False))


def _measured(alarm: Mapping[str, Any], samples: Sequence[Sample]) -> float:
    def values(name: str, **labels: str) -> list[float]:
        return [each.value for each in samples if each.name == name and labels.items() <= each.labels.items()]

    metric, labels = alarm["metric"], alarm.get("labels", {})
    if "longer_than" in alarm:
        whole = sum(values(f"{metric}_count", **labels))
        part = whole - sum(values(f"{metric}_bucket", **labels, le=alarm["longer_than"]))
    else:
        found = values(metric, **labels)
        part = max(found, default=0.0) if alarm.get("largest") else sum(found)
        if "of" not in alarm:
            return part
        whole = sum(values(alarm["of"]))
    return part / whole if whole > MIN_WHOLE else 0.0


def _demo() -> str:
    if any(settings.VAR_DIR.glob("demo-*")):
        text = "A demo runs here, with servers and data of its own, or was killed: this examines the portal beside it."
        raise Wrong(text, "Stop the demo, or ignore what follows while it runs.", is_warning=True)
    return "None is running."


def _python() -> str:
    return f"Wirebeat {settings.VERSION}, Python {platform.python_version()} in {sys.prefix}"


def _settings() -> str:
    found = [message for message in checks.run_checks() if not message.is_silenced()]
    problems = [str(message.msg) for message in found if message.level >= checks.WARNING]
    if problems:
        raise Wrong(" ".join(problems), "Correct the variables; docs/configuration.md describes them.")
    if settings.DEBUG:
        raise Wrong("WIREBEAT_DEBUG is on: errors show strangers the program's insides.", "Leave WIREBEAT_DEBUG out.")
    return "They fit together."


def _secret_key() -> str:
    if len(settings.SECRET_KEY) < MIN_KEY_LENGTH or len(set(settings.SECRET_KEY)) < 5:
        raise Wrong("It is short or plain.", f"Set WIREBEAT_SECRET_KEY to {MIN_KEY_LENGTH} random characters.")
    file = settings.VAR_DIR / "secret_key"
    if file.exists() and stat.S_IMODE(file.stat().st_mode) & 0o077:
        raise Wrong(f"Others may read {file}.", f"chmod 600 {file}")
    return "It is long, and no other user may read it."


def _open_hosts() -> str:
    entries = list(map(Entry.parse, settings.RETRIEVAL_OPEN_HOSTS))
    if not entries:
        return "None: requests reach the public internet alone."
    text = " ".join(
        f"{entry.place} is open on {f'port {entry.port}' if entry.port else 'all usual ports'}." for entry in entries
    )
    advice = "Everybody with an account reaches these; remove from WIREBEAT_OPEN_HOSTS what no feed or webhook needs."
    raise Wrong(text, advice, is_warning=True)


def _disk() -> str:
    place = next(folder for folder in (settings.VAR_DIR, *settings.VAR_DIR.parents) if folder.exists())
    usage = shutil.disk_usage(place)
    return _unless(
        usage.free < max(MIN_FREE_BYTES, MIN_FREE_SHARE * usage.total),
        f"{usage.free / 2**30:.1f} of {usage.total / 2**30:.1f} GiB are free at {settings.VAR_DIR}.",
        "Make room, or move WIREBEAT_VAR to a larger disk.",
    )


def _documents() -> str:
    storage = storages["documents"]
    name = storage.save(f"doctor-{os.getpid()}", ContentFile(b"doctor"))
    try:
        with storage.open(name) as file:
            if file.read() != b"doctor":
                raise Wrong("The storage gives back something else than was written.", "Look after the storage.")
    finally:
        storage.delete(name)
    return "They can be written, read and deleted."


def _page_sandbox() -> str:
    try:
        active = sandbox.measures()
    finally:
        sandbox.stop()
    missing = [name for name in MEASURES if name not in active]
    text = f"Active: {', '.join(active) or 'nothing'}." + (
        f" Not available here: {', '.join(missing)}." if missing else ""
    )
    advice = "Pages may open files and connections: run workers on Linux, x86-64 or arm64, with seccomp."
    return _unless({"seccomp filter", "resource limits"} <= set(missing), text, advice)


def _ping(ping: Callable[[], object], advice: str) -> str:
    try:
        ping()
    except Exception as error:
        raise Wrong(f"It does not answer: {error}", advice) from error
    return "It answers."


def _cache() -> str:
    return _ping(services.check_cache, "Start Valkey, or correct CACHE_URL.")


def _broker() -> str:
    _ping(services.check_broker, "Start it, or correct BROKER_URL.")
    lengths = services.queue_lengths()
    text = "It answers; " + ", ".join(f"{length:,} messages wait in {name}" for name, length in lengths.items()) + "."
    return _unless(any(length > MAX_WAITING for length in lengths.values()), text, "Start more workers.")


def _workers() -> str:
    try:
        answers = current_app.control.inspect(timeout=ANSWER_WITHIN).ping() or {}
    except Exception as error:  # each kind of broker raises its own
        raise Wrong(f"They cannot be reached: {error}", "Start the broker, or correct BROKER_URL.") from error
    if not answers:
        raise Wrong("None answers.", "Start one: celery -A portal worker -P threads -c 32")
    return f"{len(answers)} answer: {', '.join(sorted(answers))}."


def _mail() -> str:
    if not settings.EMAIL_BACKEND.endswith(("smtp.EmailBackend",)):
        if settings.ACCOUNT_EMAIL_VERIFICATION == "mandatory":
            raise Wrong("Addresses must be verified, but no mail is sent.", "Set EMAIL_URL.")
        return f"No server; messages go to {settings.EMAIL_BACKEND}."
    server = mail.get_connection(timeout=ANSWER_WITHIN)
    try:
        server.open()
    except OSError as error:
        raise Wrong(f"{settings.EMAIL_HOST} does not take us: {error}", "Correct EMAIL_URL.") from error
    server.close()
    return f"{settings.EMAIL_HOST} takes our messages."


def _address() -> str:
    address = f"{settings.PROJECT_URL.rstrip('/')}/health/live"
    advice = "Start the site, or set WIREBEAT_URL to the address at which others reach it."
    try:
        with urlopen(Request(address), timeout=ANSWER_WITHIN) as response:
            body = response.read(100)
    except HTTPError as error:
        raise Wrong(f"{address} answers {error.code}.", "Is the name in WIREBEAT_HOSTS?") from error
    except (OSError, ValueError) as error:
        raise Wrong(f"{address} cannot be reached from here: {error}", advice) from error
    if body.strip() != b"ok":
        raise Wrong(f"At {address} something else answers.", advice)
    return f"{settings.PROJECT_URL} is this portal."


def _database(connection: databases.Connection) -> str:
    release = connection.info.server_version // 10_000
    text = f"Postgres {release}, {databases.name()}"
    return _unless(release < OLDEST_SERVER, text, f"Use Postgres {OLDEST_SERVER} or newer.")


def _migrations(connection: databases.Connection) -> str:
    applied, known = schema.applied(connection), schema.known()
    if missing := known - applied:
        raise Wrong(f"{len(missing)} are not applied.", "manage.py migrate")
    if problem := databases.newer_schema(connection):
        raise Wrong(problem, "Run the newer program that made them, or restore a backup of this one's time.")
    return f"All {len(known)} are applied."


def _locale(connection: databases.Connection) -> str:
    [row] = connection.cursor(row_factory=dict_row).execute(
        "SELECT pg_encoding_to_char(encoding) AS encoding, datcollversion AS made_with,"
        " pg_database_collation_actual_version(oid) AS present FROM pg_database WHERE datname = current_database()"
    )
    encoding, made_with, present = row["encoding"], row["made_with"], row["present"]
    if encoding != "UTF8":
        raise Wrong(f"The database is written in {encoding}.", "Make one with ENCODING 'UTF8' and restore a backup.")
    if made_with != present:
        raise Wrong(
            f"The system sorts words by version {present} of its rules, the indexes by {made_with}.",
            f"REINDEX DATABASE {databases.name()}; ALTER DATABASE {databases.name()} REFRESH COLLATION VERSION",
        )
    return "UTF8, and words are sorted as the indexes were made."


def _indexes(connection: databases.Connection) -> str:
    statement = "SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid"
    broken = [name for (name,) in connection.execute(statement).fetchall()]
    if broken:
        raise Wrong(f"Not usable: {', '.join(broken)}.", f"REINDEX INDEX {broken[0]}")
    return "All of Postgres' are usable."


def _beat(connection: databases.Connection) -> str:
    leaders = connection.execute(
        "SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database"
        " WHERE locktype = 'advisory' AND datname = current_database() AND classid = 0 AND objid = %s AND granted",
        [LEADERSHIP],
    )
    if not leaders.rowcount:
        raise Wrong("None leads.", "Start one: celery -A portal beat --pidfile=")
    return "One leads."


# Each is shown by the name of its function.
ALONE = (
    *(_demo, _python, _settings, _secret_key, _open_hosts, _disk, _documents, _page_sandbox),
    *(_cache, _broker, _workers, _mail, _address),
)
OF_THE_DATABASE = (_database, _migrations, _locale, _indexes, _beat)
