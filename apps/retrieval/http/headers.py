"""Header fields as aiohttp reads and writes them."""

import re

from aiohttp import ClientResponse

_UNSENDABLE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")  # control characters but the tab


def headers_of(response: ClientResponse) -> dict[str, str]:
    headers: dict[str, str] = {}
    for raw_name, raw_value in response.raw_headers:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def sendable(validator: str) -> str:
    """A validator encoded so that aiohttp, which writes headers in UTF-8, sends the server's bytes.

    "" if that is impossible: another validator than the server's own is worse than none.
    """
    try:
        text = validator.encode("latin-1").decode()
    except UnicodeError:
        return ""
    return "" if _UNSENDABLE.search(text) else text
