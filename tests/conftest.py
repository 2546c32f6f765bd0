"""Fixtures and hooks of all tests, which use a real Postgres and a real Valkey that `manage.py test` starts."""

import gc
import os
import signal
import socket
import sys
from collections.abc import Generator, Iterator
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import hypothesis
import pytest
import redis
from _pytest.doctest import DoctestModule

from lab import throwaway

os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")  # the browser's driver runs a loop in the test's thread

gc.disable()  # until all tests are collected, since objects created until then stay alive

# Shells start background jobs with SIGINT ignored, which processes that tests stop by SIGINT would inherit.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Without deadlines, since the time of an example depends on the load of the machine.
hypothesis.settings.register_profile("quick", deadline=None, max_examples=5)
hypothesis.settings.register_profile("full", deadline=None, max_examples=30)  # beside trials
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=200)  # by --hypothesis-profile
hypothesis.settings.load_profile("quick")

# In one statement: triggers would fill outboxes, and foreign keys would want an order.
EMPTY_TABLES = """
DO $$
DECLARE
    name text;
BEGIN
    SET LOCAL session_replication_role = replica;
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public'
        AND tablename NOT IN ('auth_permission', 'django_content_type', 'django_migrations')
    LOOP
        EXECUTE format('DELETE FROM %I', name);
    END LOOP;
END $$
"""
RARELY = (50_000, 20, 100)  # new objects, and collections, until the next generation of garbage is collected
LOOPBACK = ("127.", "::1", "0.0.0.0", "::", "localhost")


@pytest.hookimpl(trylast=True)  # after tests were deselected
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin each process' share of the tests with modules that may take long, so that all processes end together."""
    shares = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    limits: dict[Path, float] = {}
    for item in items:
        limits[_unit(item)] = max(limits.get(_unit(item), 0.0), _time_limit(item))
    long = [unit for unit in sorted(limits, key=limits.__getitem__, reverse=True) if limits[unit]]
    others = iter([item for item in items if not limits[_unit(item)]])
    ordered = list[pytest.Item]()
    for share in range(shares):
        first = set(long[share::shares])
        ordered += [item for item in items if _unit(item) in first]
        end = len(items) * (share + 1) // shares  # xdist gives each process as many
        ordered += islice(others, max(end - len(ordered), 0))
    items[:] = [*ordered, *others]


def _unit(item: pytest.Item) -> Path:
    """What one process runs: a module, or all pages in the browser that it then starts."""
    return item.path.parent if item.get_closest_marker("browser") else item.path


def _time_limit(item: pytest.Item) -> float:
    """Its seconds, or 0 for a test that has no more than all others."""
    marker = item.get_closest_marker("timeout")
    return float(marker.args[0]) if marker else 0.0


class OnlyWithExamples:
    """Looks for doctests only where there are any: each process would import and search a thousand modules."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
        collectors = yield
        if not any(isinstance(each, DoctestModule) for each in collectors) or b">>> " in file_path.read_bytes():
            return collectors
        return [each for each in collectors if not isinstance(each, DoctestModule)]


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(OnlyWithExamples())  # a hook in this file would only see files of this folder


def pytest_runtestloop() -> None:
    gc.freeze()
    gc.set_threshold(*RARELY)
    gc.enable()


@pytest.fixture(autouse=True, scope="session")
def no_network() -> Iterator[None]:
    """Fail tests that connect to another machine, with the host that they tried to reach."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: object) -> None:
        if self.family in {socket.AF_INET, socket.AF_INET6}:
            host = str(address[0])  # type: ignore[index]
            if not host.startswith(LOOPBACK):
                raise AssertionError(f"a test tried to reach {host}")
        connect(self, address)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded)
        yield


@pytest.fixture(autouse=True, scope="session")
def own_cache(worker_id: str) -> Iterator[None]:
    """Give each test process a cache database of its own, since every test clears it."""
    from django.conf import settings  # noqa: PLC0415, after the settings
    from django.test import override_settings  # noqa: PLC0415

    if worker_id == "master":
        yield
        return
    number = 2 + int(worker_id.removeprefix("gw")) % 14  # of Valkey's sixteen databases; 0 is the broker's
    present = settings.CACHES["default"]
    address = present["LOCATION"].partition("?")[0]
    with override_settings(CACHES={"default": present | {"LOCATION": f"{address}?db={number}"}}):
        yield


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None, django_db_blocker: object) -> None:
    """Clone the migrated database of `manage.py test`, where the server has it."""
    from django.db import connection  # noqa: PLC0415, after the settings

    with django_db_blocker.unblock(), connection._nodb_cursor() as cursor:  # type: ignore[attr-defined]
        cursor.execute("SELECT FROM pg_database WHERE datname = %s", [throwaway.TEMPLATE])
        if cursor.fetchone() is not None:
            connection.settings_dict["TEST"] |= {"TEMPLATE": throwaway.TEMPLATE, "MIGRATE": False}


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """Keep databases on temporary servers, which are deleted as a whole even if sessions are open."""
    return "WIREBEAT_THROWAWAY" in os.environ


@pytest.fixture(autouse=True, scope="session")
def quick_emptying() -> Iterator[None]:
    """Delete rows after transactional tests: Django would truncate 110 tables, and fill two of them again."""
    from django.db import connections  # noqa: PLC0415, after the settings
    from django.test import TransactionTestCase  # noqa: PLC0415

    def empty(case: TransactionTestCase) -> None:
        for name in case._databases_names(include_mirrors=False):
            with connections[name].cursor() as cursor:
                cursor.execute(EMPTY_TABLES)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", empty)
        yield


@pytest.fixture(autouse=True, scope="session")
def quick_clients() -> Iterator[None]:
    """Scan the static files once; otherwise every test client checks 200 files before its first response."""
    from whitenoise.middleware import WhiteNoiseMiddleware  # noqa: PLC0415, after the settings

    find = WhiteNoiseMiddleware.add_files_from_finders
    found: dict[str, object] = {}

    def add(middleware: WhiteNoiseMiddleware) -> None:
        if not found:
            find(middleware)
            found.update(middleware.files)
        middleware.files.update(found)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WhiteNoiseMiddleware, "add_files_from_finders", add)
        yield


@pytest.fixture(autouse=True, scope="session")
def kept_readers() -> Iterator[None]:
    """Keep children that read documents when an engine stops: starting one takes a quarter of a second."""
    engine = sys.modules.get("apps.retrieval.worker.engine")
    if engine is None:
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "sandbox", SimpleNamespace(CHILDREN=engine.sandbox.CHILDREN, stop=lambda: None))
        yield


@pytest.fixture(autouse=True, scope="session")
def counters_without_threads() -> Iterator[None]:
    """Flush counters only when a test does, not from a thread in the middle of a later one that changes settings."""
    from apps.database import counters  # noqa: PLC0415, after the settings

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counters, "threading", SimpleNamespace(Timer=lambda *_: SimpleNamespace(start=lambda: None)))
        yield


def _uses_database(request: pytest.FixtureRequest) -> bool:
    is_marked = request.node.get_closest_marker("django_db") is not None
    return is_marked or not {"db", "transactional_db", "live_server"}.isdisjoint(request.fixturenames)


@pytest.fixture(autouse=True)
def quick_passwords(request: pytest.FixtureRequest) -> None:
    """Hash passwords cheaply, since argon2 is slow on purpose."""
    if _uses_database(request):
        request.getfixturevalue("settings").PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def empty_cache(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if _uses_database(request):
        from django.core.cache import cache  # noqa: PLC0415, after the settings

        from apps.database import counters  # noqa: PLC0415, after the settings
        from apps.postings.queries import boilerplate  # noqa: PLC0415, after the settings

        counters._pending.clear()  # otherwise the errors of a test's pages would be added in the middle of a later one
        cache.clear()
        boilerplate._common.cache_clear()


@pytest.fixture
def child_processes(transactional_db: None, monkeypatch: pytest.MonkeyPatch, worker_id: str) -> Iterator[None]:
    """Have processes that a test starts use the test's database, and a separate broker."""
    from django.db import connection  # noqa: PLC0415, after the settings

    database = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}")
    monkeypatch.setenv("DATABASE_URL", database.geturl())
    broker = os.environ["BROKER_URL"]
    number = 8 + int(worker_id.removeprefix("gw") if worker_id != "master" else 0) % 8  # below are caches
    monkeypatch.setenv("BROKER_URL", f"{broker}?virtual_host={number}")
    with redis.Redis(unix_socket_path=urlsplit(broker).path, db=number) as queues:
        queues.flushdb()
        yield
        queues.flushdb()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests recorded to be shown; what they print themselves is lost in a worker."""
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        if shown := dict(report.user_properties).get("shown"):
            terminalreporter.write_line(str(shown))
