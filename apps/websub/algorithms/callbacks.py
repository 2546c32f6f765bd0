"""Whether others can call us at an address."""

from ipaddress import ip_address

from apps.sources.algorithms.addresses import resolve

_PRIVATE_ENDINGS = (".localhost", ".local", ".internal", ".lan", ".home.arpa", ".test", ".invalid")


def callback_base(url: str, mode: str) -> str:
    """The beginning of the addresses that hubs call us at, without a last slash; "" where none can or is to call.

    They are to call if the mode is "on", not if it is "off", and else if the address is one that others can call.

    >>> callback_base("https://news.example/", "auto"), callback_base("http://localhost:8000", "auto")
    ('https://news.example', '')
    >>> callback_base("http://localhost:8000", "on"), callback_base("https://news.example", "off")
    ('http://localhost:8000', '')
    """
    address = resolve(url)
    if mode == "off" or address is None or address.protocol not in {"http:", "https:"}:
        return ""
    return url.rstrip("/") if mode == "on" or _is_public(address.hostname) else ""


def _is_public(host: str) -> bool:
    try:
        return ip_address(host.strip("[]")).is_global
    except ValueError:
        return "." in host and not host.rstrip(".").endswith(_PRIVATE_ENDINGS)
