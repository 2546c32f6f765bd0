"""What Celery has to know of each kind of broker, and how soon a dead peer of a connection is noticed.

A machine that loses its power or its network says no goodbye. Whoever waits for its answer learns of that from the
system, which by default takes fifteen minutes, or two hours where nothing was sent; here it takes half a minute.
"""

import socket
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from kombu.entity import Exchange, Queue
from kombu.transport import redis
from redis import ConnectionError as Disconnected

VISIBILITY = 900  # s after which Valkey gives a message to another worker; longer than any task may take
MAX_DELIVERIES = 10  # of a message by RabbitMQ; what takes its worker along is set aside long before
IDLE, INTERVAL, COUNT = 10, 5, 3  # s until the first question whether the peer lives, s between two, questions
UNACKNOWLEDGED = 20  # s that what was sent may remain so
ANSWER = 10.0  # s; Valkey answers at once, or at the end of a second of waiting for messages
CONNECT = 5.0  # s
HEARTBEAT = 10  # s, of RabbitMQ's own protocol

KEEPALIVE = {socket.TCP_KEEPIDLE: IDLE, socket.TCP_KEEPINTVL: INTERVAL, socket.TCP_KEEPCNT: COUNT}


class QoS(redis.QoS):
    """What a worker has in hand of Valkey's messages.

    Once the broker is lost, it can neither confirm them nor give them back. Kombu's own then ends the worker; but that
    is no reason to, as they become visible to others again by themselves.
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
    """Settings for the broker at an address, which is Valkey, Redis or RabbitMQ, and the names of its queues.

    A worker takes from all of them, unless it is told from which. RabbitMQ's are quorum queues: they outlive the loss
    of a machine, and count how often they deliver a message.
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
    """Options of the cache's connections. A page rather does without its cache than wait for it."""
    options: dict[str, Any] = {"socket_timeout": ANSWER}
    if urlsplit(url).scheme != "unix":
        options |= {"socket_connect_timeout": CONNECT, "socket_keepalive": True, "socket_keepalive_options": KEEPALIVE}
    return options


def database_options(given: dict[str, Any]) -> dict[str, Any]:
    """Options of a connection to Postgres, where the address itself gives no others.

    The other side has to notice, too: it would keep the locks of a worker that was cut off. Sockets of this machine
    ignore all of this.
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
