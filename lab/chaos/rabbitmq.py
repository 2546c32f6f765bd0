"""Debian's RabbitMQ as a program of its own: on loopback, in a folder, without the system's service."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

from portal.launcher.embedded import StartError
from portal.launcher.supervisor import Program

SERVER = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")  # what Debian's own script runs after it has changed the account
HOST = "127.0.0.1"


def is_installed() -> bool:
    return SERVER.exists()


def url(port: int) -> str:
    return f"amqp://guest:guest@{HOST}:{port}//"


def programs(var: Path, port: int) -> list[Program]:
    """RabbitMQ with its files in a folder, and the name server that Erlang wants, which would otherwise stay behind.

    Raises
    ------
    StartError
        If it is not installed.
    """
    if not is_installed():
        raise StartError("RabbitMQ is not installed: apt-get install rabbitmq-server")
    home = var / "rabbitmq"
    home.mkdir(parents=True, exist_ok=True)
    plugins = home / "plugins"
    plugins.write_text("[].\n", encoding="ascii")
    names = free_port()
    environment = {
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "HOME": str(home),  # of Erlang's cookie
        "ERL_EPMD_ADDRESS": HOST,
        "ERL_EPMD_PORT": str(names),
        "RABBITMQ_NODENAME": f"wirebeat{port}@localhost",
        "RABBITMQ_NODE_IP_ADDRESS": HOST,
        "RABBITMQ_NODE_PORT": str(port),
        "RABBITMQ_DIST_PORT": str(free_port()),
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1} +S 2:2 +sbwt none",
        "RABBITMQ_MNESIA_BASE": str(home / "data"),
        "RABBITMQ_LOG_BASE": str(home / "log"),
        "RABBITMQ_LOGS": "-",
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(plugins),
        "RABBITMQ_CONFIG_FILE": str(home / "none"),
    }
    return [
        Program(
            name="names", command=["epmd", "-address", HOST, "-port", str(names)], is_ready=_accepts_connections(names)
        ),
        Program(
            name="broker",
            command=[SERVER],
            environment=environment,
            directory=home,
            is_ready=_accepts_connections(port),
            stop_within=30.0,
        ),
    ]


def free_port() -> int:
    with socket.create_server((HOST, 0)) as probe:
        return int(probe.getsockname()[1])


def _accepts_connections(port: int) -> Callable[[], bool]:
    def is_ready() -> bool:
        try:
            socket.create_connection((HOST, port), timeout=1.0).close()
        except OSError:
            return False
        return True

    return is_ready
