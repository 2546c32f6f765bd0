"""What the portal may connect to: the public internet on its usual ports, and the hosts that the operator opens.

An entry opens a name (`nas.lan`), all names below one (`.lan`), an address (`10.0.0.7`) or a network (`10.0.0.0/8`),
each on the usual ports; with a port (`nas.lan:8080`, `[fd00::]/8:443`) on this one alone, which may be an unusual one.
"""

import re
from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import NamedTuple

from apps.retrieval.algorithms.address_ranges import is_public

# The ports that browsers block (WHATWG Fetch), and those of databases and control planes: none of them serves public
# HTTP, and some would execute a request as commands.
BLOCKED_PORTS = frozenset({
    1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
    111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
    540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
    6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
    445, 873, 1433, 1521, 2181, 2375, 2376, 2379, 2380, 3306, 3389, 4369, 5432, 5672, 5900, 5984, 6379, 6380, 7000,
    7001, 9042, 9092, 9200, 9300, 10250, 11211, 26379, 27017, 27018, 50000,
})  # fmt: skip

_ENTRY = re.compile(
    r"""(?: \[ (?P<v6>[0-9a-f:.]+) \] (?P<v6_length>/[0-9]+)? | (?P<host>[^\[\]:/]+ (?:/[0-9]+)?) )
        (?: :(?P<port>[0-9]+) )?""",
    re.VERBOSE,
)
_NAME = re.compile(r"\.?(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.)*[a-z_](?:[a-z0-9_-]*[a-z0-9_])?")


class BadEntry(ValueError):
    """An invalid entry; the message names what is expected."""


class Entry(NamedTuple):
    """One opened name (with a leading dot: all names below it) or network, on the usual ports or on one alone."""

    place: str | IPv4Network | IPv6Network
    port: int | None = None

    @classmethod
    def parse(cls, text: str) -> "Entry":
        """Read an operator's entry. Raises BadEntry if it is no name, address or network, or its port is invalid.

        >>> Entry.parse("NAS.lan.:8080"), Entry.parse("[fd00::]/8:443")
        (Entry(place='nas.lan', port=8080), Entry(place=IPv6Network('fd00::/8'), port=443))
        """
        lowered = text.strip().lower()
        if lowered.count(":") > 1 and "[" not in lowered:  # an IPv6 address without a port needs no brackets
            address, slash, length = lowered.partition("/")
            lowered = f"[{address}]{slash}{length}"
        found = _ENTRY.fullmatch(lowered)
        port = int(found["port"]) if found and found["port"] else None
        if found is None or (port is not None and not 1 <= port <= 65_535):
            raise BadEntry(_complaint(text))
        host = found["v6"] + (found["v6_length"] or "") if found["v6"] else found["host"]
        entry = cls.of(host, port)
        if isinstance(entry.place, str) and not _NAME.fullmatch(entry.place):
            raise BadEntry(_complaint(text))
        return entry

    @classmethod
    def of(cls, host: str, port: int | None) -> "Entry":
        """The entry for a host of a URL, or for a network."""
        try:
            return cls(ip_network(host.strip("[]")), port)
        except ValueError:
            return cls(host.removesuffix("."), port)

    def names(self, host: str) -> bool:
        """Whether it opens a host by its name.

        >>> Entry.parse(".lan").names("nas.lan"), Entry.parse(".lan").names("lan")
        (True, False)
        """
        if not isinstance(self.place, str):
            return False
        return host.endswith(self.place) if self.place.startswith(".") else host == self.place

    def holds(self, address: str) -> bool:
        """Whether it opens an IP address."""
        return not isinstance(self.place, str) and ip_address(address) in self.place

    def on(self, port: int) -> bool:
        """Whether it opens a port: the one it names, or any usual one if it names none."""
        return port not in BLOCKED_PORTS if self.port is None else port == self.port


def _complaint(text: str) -> str:
    return (
        f"{text!r} opens nothing: expected a name (nas.lan), all names below one (.lan), an address or a network"
        " (10.0.0.0/8, [fd00::]/8), each with :port if it is one port alone"
    )


class OpenHosts:
    """All entries together."""

    def __init__(self, entries: Iterable[str | Entry] = ()) -> None:
        """Raises BadEntry if an entry is invalid."""
        self._entries = tuple(entry if isinstance(entry, Entry) else Entry.parse(entry) for entry in entries)

    def opens_name(self, host: str, port: int) -> bool:
        """Whether a host may lie at any address, on this port.

        >>> OpenHosts(["nas.lan:8080"]).opens_name("nas.lan", 8080), OpenHosts(["nas.lan"]).opens_name("nas.lan", 22)
        (True, False)
        """
        bare = host.removesuffix(".")
        return any(entry.names(bare) and entry.on(port) for entry in self._entries)

    def may_have_port(self, host: str, port: int) -> bool:
        """Whether a port may be connected to; if a network opens it, the address decides when connecting."""
        if port not in BLOCKED_PORTS or self.opens_name(host, port):
            return True
        return any(not isinstance(entry.place, str) and entry.port == port for entry in self._entries)

    def may_connect(self, address: str, port: int) -> bool:
        """Whether an IP address may be connected to without an opened name.

        >>> OpenHosts(["10.0.0.0/8"]).may_connect("10.0.0.7", 8080), OpenHosts().may_connect("10.0.0.7", 8080)
        (True, False)
        """
        if port not in BLOCKED_PORTS and is_public(address):
            return True
        return any(entry.holds(address) and entry.on(port) for entry in self._entries)
