"""Celery's settings for each kind of broker, and timeouts that detect a dead peer.

A machine without power or network does not close its connections. By default the kernel reports that after fifteen
minutes, or two hours on an idle connection; with these settings it takes half a minute.
"""

import socket
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from kombu.entity import Exchange, Queue
from kombu.transport import redis
from redis import ConnectionError as Disconnected

VISIBILITY = 900  # s after which Valkey redelivers a message; longer than any task may take
MAX_DELIVERIES = 10  # of a message by RabbitMQ; one that kills its workers is a dead letter long before
IDLE, INTERVAL, COUNT = 10, 5, 3  # s until the first keepalive probe, s between two, probes
UNACKNOWLEDGED = 20  # s that sent data may remain unacknowledged
ANSWER = 10.0  # s; Valkey answers at once, or at the end of a second of waiting for messages
CONNECT = 5.0  # s
HEARTBEAT = 10  # s, of RabbitMQ's own protocol

KEEPALIVE = {socket.TCP_KEEPIDLE: IDLE, socket.TCP_KEEPINTVL: INTERVAL, socket.TCP_KEEPCNT: COUNT}


class QoS(redis.QoS):
    """Unacknowledged messages of a worker with Valkey.

    Without the broker it can neither acknowledge nor return them. Kombu then ends the worker; that is not necessary,
    since they become visible to others after the visibility timeout.
    """

    def restore_unacked(self, client: Any = None) -> None:
        if self._is_connected():
            super().restore_unacked(client)  # type: ignore[no-untyped-call]
        self._delivered.clear()

    def _remove_from_indices(self, delivery_tag: str, pipe: Any = None) -> Any:
        if not self._is_connected():
            raise Disconnected("The broker was lost while the task was at work; it will be delivered again.")
        return super()._remove_from_indices(delivery_tag, pipe)  # type: ignore[no-untyped-call]

    def _is_connected(self) -> bool:
        return self.channel.connection is not None and self.channel.connection.client is not None


redis.Channel.QoS = QoS


def celery_settings(url: str, queues: Sequence[str]) -> dict[str, Any]:
    """Settings for a broker (Valkey, Redis or RabbitMQ) and its queues.

    A worker consumes all queues by default. RabbitMQ's are quorum queues: they survive the loss of a machine, and count
    deliveries of a message.
    """
    if urlsplit(url).scheme in {"amqp", "amqps", "pyamqp"}:
        arguments = {"x-queue-type": "quorum", "x-delivery-limit": MAX_DELIVERIES}
        return {
            "broker_heartbeat": HEARTBEAT,
            "broker_transport_options": {"confirm_publish": True, "connect_timeout": CONNECT},
            "task_default_queue_type": "quorum",
            "task_queues": [Queue(name, routing_key=name, queue_arguments=arguments) for name in queues],
        }
    return {
        "task_queues": [Queue(name, Exchange(name), routing_key=name) for name in queues],
        "broker_transport_options": {
            "visibility_timeout": VISIBILITY,
            "socket_timeout": ANSWER,
            "socket_connect_timeout": CONNECT,
            "socket_keepalive": True,
            "socket_keepalive_options": KEEPALIVE,
        },
    }


def cache_options(url: str) -> dict[str, Any]:
    """Options of the cache's connections, with timeouts: a page works without the cache."""
    options: dict[str, Any] = {"socket_timeout": ANSWER}
    if urlsplit(url).scheme != "unix":
        options |= {"socket_connect_timeout": CONNECT, "socket_keepalive": True, "socket_keepalive_options": KEEPALIVE}
    return options


def database_options(given: dict[str, Any]) -> dict[str, Any]:
    """Options of a connection to Postgres; those in its URL take precedence.

    The server has to detect a dead peer, too: it would keep the locks of an unreachable worker. Unix sockets ignore
    these options.
    """
    ends_of_server = {
        "tcp_keepalives_idle": IDLE,
        "tcp_keepalives_interval": INTERVAL,
        "tcp_keepalives_count": COUNT,
        "tcp_user_timeout": f"{UNACKNOWLEDGED}s",
    }
    return {
        "connect_timeout": int(CONNECT),
        "keepalives_idle": IDLE,
        "keepalives_interval": INTERVAL,
        "keepalives_count": COUNT,
        "tcp_user_timeout": UNACKNOWLEDGED * 1000,  # ms
        "options": " ".join(f"-c {name}={value}" for name, value in ends_of_server.items()),
    } | given
