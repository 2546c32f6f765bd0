"""Which IP addresses a source may have: those of the public internet and no others."""

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_address

# IANA's registry of special-purpose addresses (RFC 6890 and its successors), and multicast.
_REFUSED_IPV4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # unspecified
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # inside a provider's network
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link-local, with the metadata services of clouds
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # reserved for protocols
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # relays of 6to4
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, with the broadcast address
    )
)

# The only part of IPv6 that is allocated for the public internet. Loopback, unspecified, unique local, link-local and
# site-local addresses, multicast, IPv4-mapped addresses and the prefixes of NAT64 lie outside it.
_GLOBAL_UNICAST = IPv6Network("2000::/3")
_REFUSED_IPV6 = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # reserved for protocols: Teredo, benchmarks, ORCHID
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4
        "3ffe::/16",  # given back
        "3fff::/20",  # documentation
    )
)


@lru_cache(maxsize=4_096)
def is_public(address: str) -> bool:
    """Whether an IP address belongs to the public internet; what is no IP address does not.

    An address that carries an IPv4 address inside (mapped, translated or tunnelled) does not, whatever it carries.

    >>> is_public("8.8.8.8"), is_public("192.168.1.1"), is_public("::ffff:8.8.8.8"), is_public("localhost")
    (True, False, False, False)
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, IPv4Address):
        return not any(parsed in network for network in _REFUSED_IPV4)
    return parsed in _GLOBAL_UNICAST and not any(parsed in network for network in _REFUSED_IPV6)
