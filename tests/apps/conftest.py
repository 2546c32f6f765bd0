import os
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest
import redis
from django.db import connection

from apps.jobs import kinds
from tests.apps.jobs import counting
from tests.apps.jobs.counting import Counting


@pytest.fixture
def counting_job(request, monkeypatch) -> Iterator[Callable[..., Counting]]:
    """Makes a kind of job known that counts numbers, as a test wants it."""
    request.getfixturevalue("transactional_db" if "transactional_db" in request.fixturenames else "db")
    kinds.all_kinds()  # so that those of the apps are looked for before
    counting.make_table()

    def known(**values) -> Counting:
        made = Counting(**values)
        monkeypatch.setitem(kinds._kinds, counting.KIND, made.kind())
        return made

    yield known
    counting.drop_table()


@pytest.fixture
def child_processes(transactional_db, monkeypatch, worker_id) -> Iterator[None]:
    """Processes that a test starts use its database, and a broker of their own."""
    database = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}")
    monkeypatch.setenv("DATABASE_URL", database.geturl())
    broker = os.environ["BROKER_URL"]
    number = 8 + int(worker_id.removeprefix("gw") if worker_id != "master" else 0) % 8  # below are caches
    monkeypatch.setenv("BROKER_URL", f"{broker}?virtual_host={number}")
    with redis.Redis(unix_socket_path=urlsplit(broker).path, db=number) as queues:
        queues.flushdb()
        yield
        queues.flushdb()
