"""Addresses from outside that may stand in our pages: what a browser would run, or open on its own machine, may not."""

import re

from apps.sources.algorithms.addresses import http_address

_PICTURE = re.compile(r"/(?!/)|data:image/(?:png|jpe?g|gif|webp|avif)[;,]", re.IGNORECASE)


def picture_address(address: str) -> str:
    """The address if a picture may be loaded from it: on the web, here, or out of itself; else "".

    >>> picture_address("data:image/png;base64,iVBORw0KGgo="), picture_address("data:image/svg+xml,<svg>")
    ('data:image/png;base64,iVBORw0KGgo=', '')
    """
    return address if _PICTURE.match(address) else http_address(address)
