"""Whether what the portal stands on answers: the database, the broker and the cache, each within a short time."""

from concurrent.futures import ThreadPoolExecutor

import psycopg
import redis
from amqp.exceptions import ChannelError
from celery import current_app
from django.conf import settings
from django.db import connections

from apps.database import schema

LIMIT = 2.0  # s
# A server that hangs takes a thread until its own limits end that; a later look waits for one in vain: an answer, too.
_threads = ThreadPoolExecutor(max_workers=6, thread_name_prefix="health")


def problems() -> list[str]:
    """A sentence for each service that does not do its work; it tells a stranger nothing else."""
    looks = {
        "The database does not answer.": _database,
        "The broker does not answer.": ask_broker,
        "The cache does not answer.": ask_cache,
    }
    schema.known()  # which takes longer than the limit the first time
    running = {sentence: _threads.submit(look) for sentence, look in looks.items()}
    found = []
    for sentence, future in running.items():
        try:
            found += future.result(LIMIT)
        except Exception:  # whatever it is, the service cannot be used
            found.append(sentence)
    return found


def _database() -> list[str]:
    parameters = schema.parameters(connections["default"].get_connection_params())
    parameters |= {"autocommit": True, "connect_timeout": int(LIMIT)}
    with psycopg.connect(**parameters) as connection:
        connection.execute(f"SET statement_timeout = {int(LIMIT * 1000)}")
        missing = schema.known() - schema.applied(connection)
    return [f"{len(missing)} migrations are not applied."] if missing else []


def ask_broker() -> list[str]:
    """Nothing; raises whatever the broker's client does where it does not answer."""
    with current_app.connection_for_write(connect_timeout=LIMIT) as connection:
        connection.transport_options = connection.transport_options | {
            "socket_timeout": LIMIT,
            "socket_connect_timeout": LIMIT,
        }
        with connection.channel():  # where it is Redis, nothing connects any earlier
            pass
    return []


def ask_cache() -> list[str]:
    """Nothing; raises whatever the cache's client does where it does not answer."""
    location = str(settings.CACHES["default"]["LOCATION"])
    with redis.Redis.from_url(location, socket_timeout=LIMIT, socket_connect_timeout=LIMIT) as client:
        client.ping()
    return []


def queue_lengths() -> dict[str, int]:
    """How many messages wait in each queue of the broker; none where it does not answer."""
    try:
        return _threads.submit(_queue_lengths).result(LIMIT)
    except Exception:
        return {}


def _queue_lengths() -> dict[str, int]:
    lengths = {}
    with current_app.connection_for_write(connect_timeout=LIMIT) as connection:
        for name in current_app.amqp.queues or ["celery"]:
            try:
                # A channel each: asking for a queue that is not there ends it.
                with connection.channel() as channel:
                    lengths[name] = int(channel.queue_declare(name, passive=True).message_count)
            except ChannelError:  # nobody has sent anything yet, or Redis has forgotten an empty queue
                lengths[name] = 0
    return lengths
