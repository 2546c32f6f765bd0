"""Which external addresses may occur in our pages: none that a browser would execute or open locally."""

import re

from apps.sources.algorithms.addresses import http_address

_PICTURE = re.compile(r"/(?!/)|data:image/(?:png|jpe?g|gif|webp|avif)[;,]", re.IGNORECASE)


def picture_address(address: str) -> str:
    """The address if a picture may be loaded from it (the web, this site, or a data URL); else "".

    >>> picture_address("data:image/png;base64,iVBORw0KGgo="), picture_address("data:image/svg+xml,<svg>")
    ('data:image/png;base64,iVBORw0KGgo=', '')
    """
    return address if _PICTURE.match(address) else http_address(address)
