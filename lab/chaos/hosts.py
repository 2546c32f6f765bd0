"""Network namespaces as hosts: one for the servers and beats, one for each worker, with a cable to the first."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from portal.launcher import embedded
from portal.launcher.embedded import StartError

NETWORK = "10.77"  # private, and rarely used
FROM_ALL_HOSTS = f"local all all trust\nhost all all {NETWORK}.0.0/16 trust\n"  # who may connect to Postgres
BROKER_PORT = 6379


class Hosts:
    """The first host, and further ones by the names of their workers."""

    def __init__(self, workers: Sequence[str]) -> None:
        self._prefix = f"wirebeat{os.getpid()}"
        self._numbers = {worker: number for number, worker in enumerate(workers, start=1)}
        self.first = f"{self._prefix}-0"

    def of(self, worker: str) -> str:
        return f"{self._prefix}-{self._numbers[worker]}"

    def enter(self, host: str) -> list[str]:
        """The prefix of a command that runs it there."""
        return ["nsenter", f"--net=/run/netns/{host}"]

    def addresses_for(self, worker: str) -> dict[str, str]:
        """The servers as a worker's host sees them."""
        first = f"{NETWORK}.{self._numbers[worker]}.1"
        return {
            "DATABASE_URL": f"postgresql://postgres@{first}:5432/{embedded.DATABASE}",
            "BROKER_URL": f"redis://{first}:{BROKER_PORT}/0",
            "CACHE_URL": f"redis://{first}:{BROKER_PORT}/1",
        }

    def cut_off(self, worker: str) -> None:
        """Drop all traffic, without closing connections."""
        self._ip("-n", self.first, "link", "set", self._cable(worker), "down")

    def heal(self, worker: str) -> None:
        self._ip("-n", self.first, "link", "set", self._cable(worker), "up")

    def make(self) -> None:
        """Raises StartError without the privileges or programs for it."""
        if os.geteuid() != 0 or shutil.which("ip") is None or shutil.which("nsenter") is None:
            raise StartError("Hosts of their own need root, and the programs ip and nsenter.")
        self._add(self.first)
        for worker, number in self._numbers.items():
            host, cable = self.of(worker), self._cable(worker)
            self._add(host)
            self._ip("-n", self.first, "link", "add", cable, "type", "veth", "peer", "name", "cable", "netns", host)
            self._ip("-n", self.first, "addr", "add", f"{NETWORK}.{number}.1/24", "dev", cable)
            self._ip("-n", host, "addr", "add", f"{NETWORK}.{number}.2/24", "dev", "cable")
            self._ip("-n", self.first, "link", "set", cable, "up")
            self._ip("-n", host, "link", "set", "cable", "up")

    def remove(self) -> None:
        for host in (self.first, *map(self.of, self._numbers)):
            subprocess.run(["ip", "netns", "del", host], capture_output=True, check=False)

    def _add(self, host: str) -> None:
        self._ip("netns", "add", host)
        self._ip("-n", host, "link", "set", "lo", "up")

    def _cable(self, worker: str) -> str:
        return f"to{self._numbers[worker]}"

    def _ip(self, *arguments: str) -> None:
        done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
        if done.returncode:
            raise StartError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")


@contextmanager
def hosts(workers: Sequence[str]) -> Iterator[Hosts]:
    """Hosts that exist until the end of the block."""
    made = Hosts(workers)
    try:
        made.make()
        yield made
    finally:
        made.remove()
