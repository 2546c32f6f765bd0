"""Connections to the broker, the cache and Postgres: what each kind of server needs, and how dead peers are noticed."""

import socket

import psycopg
import pytest
import redis
from django.conf import settings
from django.db import connection
from kombu import Connection, Queue

from portal import brokers


def test_rabbitmq_gets_quorum_queues_with_an_end_to_deliveries_and_confirms_what_it_took():
    given = brokers.celery_settings("amqp://guest:guest@broker.example:5672//", ["celery", "retrieval-0"])
    assert [queue.name for queue in given["task_queues"]] == ["celery", "retrieval-0"]
    for queue in given["task_queues"]:
        assert queue.queue_arguments == {"x-queue-type": "quorum", "x-delivery-limit": brokers.MAX_DELIVERIES}
    assert given["broker_transport_options"]["confirm_publish"]
    assert "visibility_timeout" not in given["broker_transport_options"]


@pytest.mark.parametrize(
    "address", ["redis://broker.example:6379/0", "rediss://broker.example", "redis+socket:///b.sock"]
)
def test_valkey_redelivers_unacknowledged_messages(address):
    given = brokers.celery_settings(address, ["celery", "retrieval-0"])
    assert given["broker_transport_options"]["visibility_timeout"] == brokers.VISIBILITY
    assert [queue.name for queue in given["task_queues"]] == ["celery", "retrieval-0"]


def test_a_dead_peer_is_noticed_within_half_a_minute():
    assert brokers.IDLE + brokers.COUNT * brokers.INTERVAL <= 30
    assert brokers.UNACKNOWLEDGED <= 30
    assert 2 * brokers.HEARTBEAT <= 30


def test_options_that_an_address_gives_itself_are_kept():
    options = brokers.database_options({"sslmode": "require", "connect_timeout": "60", "options": "-c jit=off"})
    assert (options["sslmode"], options["connect_timeout"], options["options"]) == ("require", "60", "-c jit=off")


def test_postgres_takes_all_options(db):
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    assert "tcp_user_timeout" in settings.DATABASES["default"]["OPTIONS"]
    known = psycopg.pq.Conninfo.get_defaults()
    assert brokers.database_options({}).keys() <= {option.keyword.decode() for option in known}


def test_the_cache_takes_its_options_over_a_network_and_at_a_socket():
    for address, kind in {
        "redis://127.0.0.1:1/0": redis.Connection,
        "unix:///s": redis.UnixDomainSocketConnection,
    }.items():
        pool = redis.ConnectionPool.from_url(address, **brokers.cache_options(address))
        assert isinstance(pool.make_connection(), kind)
    assert brokers.cache_options("redis://cache.example")["socket_keepalive_options"][socket.TCP_KEEPCNT] == 3


def test_a_worker_that_lost_its_broker_drops_its_messages_and_continues():
    broker = Connection(settings.CELERY_BROKER_URL)
    queue = Queue("in-hand-of-a-test")
    channel = broker.channel()
    bound = queue(channel)
    bound.declare()
    with broker.Producer() as producer:
        producer.publish("a message", routing_key=queue.name)
    message = bound.get()
    broker.transport.client = None  # what is left of a connection when the broker has gone
    with pytest.raises(redis.ConnectionError, match="it will be delivered again"):
        message.ack()
    channel.qos.restore_unacked_once()
    channel.qos.restore_unacked_once()
