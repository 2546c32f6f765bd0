"""Which IP addresses a source may have: those of the public internet and no others."""

from functools import lru_cache
from ipaddress import IPv4Address, IPv6Network, ip_address, ip_network
from pathlib import Path

# Loopback, unspecified, unique local, link-local and site-local addresses, multicast, IPv4-mapped addresses and the
# prefixes of NAT64 lie outside the only part of IPv6 that is allocated for the public internet.
_GLOBAL_UNICAST = IPv6Network("2000::/3")
_LINES = Path(__file__).with_name("special-networks.txt").read_text("ascii").splitlines()
_REFUSED = tuple(ip_network(network) for line in _LINES if (network := line.partition("#")[0].strip()))


@lru_cache(maxsize=4_096)
def is_public(address: str) -> bool:
    """Whether an IP address belongs to the public internet; False for anything else.

    An address that carries an IPv4 address inside (mapped, translated or tunnelled) does not, whatever it carries.

    >>> is_public("8.8.8.8"), is_public("192.168.1.1"), is_public("::ffff:8.8.8.8"), is_public("localhost")
    (True, False, False, False)
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    is_allocated = isinstance(parsed, IPv4Address) or parsed in _GLOBAL_UNICAST
    return is_allocated and not any(parsed in network for network in _REFUSED)
