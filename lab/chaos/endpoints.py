"""Addresses of the portal's servers: embedded ones on sockets, Debian's on loopback, or those of another host."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from lab.chaos import rabbitmq
from portal.launcher import embedded

SERIAL = "serial"  # the database of the serial run


@dataclass(frozen=True)
class Endpoints:
    """A folder of files, one of sockets, and the URLs of the database and the broker."""

    var: Path
    sockets: Path
    database: str
    broker: str

    @property
    def environment(self) -> dict[str, str]:
        return {
            "DATABASE_URL": self.database,
            "BROKER_URL": self.broker,
            "CACHE_URL": embedded.cache_url(self.var),
            "WIREBEAT_VAR": str(self.var),
            "WIREBEAT_LOG_LEVEL": "WARNING",
            "PYTHONUNBUFFERED": "1",
        }

    @property
    def own(self) -> Path:
        """The folder of what the laboratory writes, whatever happens to the portal's disk."""
        return self.var.parent

    @property
    def use_debian(self) -> bool:
        return self.broker.startswith("amqp")

    @property
    def database_port(self) -> int:
        return urlsplit(self.database).port or 5432

    @property
    def broker_port(self) -> int:
        return urlsplit(self.broker).port or 0

    def other_database(self, name: str) -> str:
        return urlsplit(self.database)._replace(path=f"/{name}").geturl()


def for_arguments(var: Path, arguments: Collection[str]) -> Endpoints:
    """Endpoints in a folder, by the arguments of the command."""
    sockets = embedded.run_directory(var)
    if "--debian" in arguments:
        database = f"postgresql://postgres@{rabbitmq.HOST}:{rabbitmq.free_port()}/{embedded.DATABASE}"
        return Endpoints(var, sockets, database, rabbitmq.url(rabbitmq.free_port()))
    return Endpoints(var, sockets, embedded.database_url(var), embedded.broker_url(var))


def from_environment(var: Path, environment: Mapping[str, str]) -> Endpoints:
    """Endpoints that environment variables name."""
    return Endpoints(var, embedded.run_directory(var), environment["DATABASE_URL"], environment["BROKER_URL"])
