"""Health checks of the database, the broker and the cache, each with a short timeout."""

from concurrent.futures import ThreadPoolExecutor

import psycopg
import redis
from amqp.exceptions import ChannelError
from celery import current_app
from django.conf import settings
from django.db import connections

from apps.database import schema

LIMIT = 2.0  # s
SOCKET_LIMITS = {"socket_timeout": LIMIT, "socket_connect_timeout": LIMIT}  # of a client of Redis
# A server that hangs blocks a thread until its own timeouts; a later check that gets no thread fails, too.
_threads = ThreadPoolExecutor(max_workers=6, thread_name_prefix="health")


def problems() -> list[str]:
    """A sentence for each service that does not work; public, so it has no details."""
    checks = {
        "The database does not answer.": _database,
        "The broker does not answer.": check_broker,
        "The cache does not answer.": check_cache,
    }
    schema.known()  # the first call takes longer than the limit
    running = {sentence: _threads.submit(check) for sentence, check in checks.items()}
    found = []
    for sentence, future in running.items():
        try:
            found += future.result(LIMIT)
        except Exception:  # any error means that the service cannot be used
            found.append(sentence)
    return found


def _database() -> list[str]:
    parameters = schema.parameters(connections["default"].get_connection_params())
    parameters |= {"autocommit": True, "connect_timeout": int(LIMIT)}
    with psycopg.connect(**parameters) as connection:
        connection.execute(f"SET statement_timeout = {int(LIMIT * 1000)}")
        missing = schema.known() - schema.applied(connection)
    return [f"{len(missing)} migrations are not applied."] if missing else []


def check_broker() -> list[str]:
    """No problems; raises any error of the broker's client."""
    with current_app.connection_for_write(connect_timeout=LIMIT) as connection:
        connection.transport_options = connection.transport_options | SOCKET_LIMITS
        with connection.channel():  # with Redis, nothing connects earlier
            pass
    return []


def check_cache() -> list[str]:
    """No problems; raises any error of the cache's client."""
    location = str(settings.CACHES["default"]["LOCATION"])
    with redis.Redis.from_url(location, **SOCKET_LIMITS) as client:
        client.ping()
    return []


def queue_lengths() -> dict[str, int]:
    """The lengths of the broker's queues; empty if it does not respond."""
    try:
        return _threads.submit(_queue_lengths).result(LIMIT)
    except Exception:
        return {}


def _queue_lengths() -> dict[str, int]:
    lengths = {}
    with current_app.connection_for_write(connect_timeout=LIMIT) as connection:
        for name in current_app.amqp.queues or ["celery"]:
            try:
                # One channel per queue, since a missing queue closes it.
                with connection.channel() as channel:
                    lengths[name] = int(channel.queue_declare(name, passive=True).message_count)
            except ChannelError:  # no message was ever sent, or Redis dropped the empty queue
                lengths[name] = 0
    return lengths
