"""Whether hubs can reach us at an address."""

from ipaddress import ip_address

from apps.sources.algorithms.addresses import resolve

_PRIVATE_ENDINGS = (".localhost", ".local", ".internal", ".lan", ".home.arpa", ".test", ".invalid")


def callback_base(url: str, mode: str) -> str:
    """The prefix of callback addresses, without a last slash; "" where hubs cannot or must not call.

    They may call if the mode is "on", not if it is "off", and otherwise if the address is public.

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
