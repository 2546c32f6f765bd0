"""Addresses from outside that may stand in our pages: what a browser would run, or open on its own machine, may not."""

import re

_ON_WEB = re.compile(r"https?://[^\s/]", re.IGNORECASE)
_PICTURE = re.compile(r"/(?!/)|data:image/(?:png|jpe?g|gif|webp|avif)[;,]", re.IGNORECASE)


def web_address(address: str) -> str:
    """The address if it leads to a page of the web, else "".

    >>> web_address("HTTPS://news.example/1"), web_address("javascript:alert(1)"), web_address("\\tjava\\nscript:x")
    ('HTTPS://news.example/1', '', '')
    """
    return address if _ON_WEB.match(address) else ""


def picture_address(address: str) -> str:
    """The address if a picture may be loaded from it: on the web, here, or out of itself; else "".

    >>> picture_address("data:image/png;base64,iVBORw0KGgo="), picture_address("data:image/svg+xml,<svg>")
    ('data:image/png;base64,iVBORw0KGgo=', '')
    """
    return address if _PICTURE.match(address) else web_address(address)
