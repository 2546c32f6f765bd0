"""The pictures of an article that is stored for offline reading.

Works on the text, as `pictures` does and for the same reason.
"""

import re
from html import escape, unescape

from apps.web.algorithms.pictures import LOADING

_CHOICE = re.compile(r' (?:srcset|sizes)="[^"]*"')
_ADDRESS = re.compile(r' src="([^"]*)"')
_CANDIDATES = re.compile(r' srcset="([^"]*)"')


def with_one_address_each(html: str) -> tuple[str, list[str]]:
    """The article without `srcset`, and the distinct addresses of its pictures.

    Otherwise a browser might choose a size that is not stored.

    >>> with_one_address_each('<p><img alt="x" src="/a?b=1&amp;c=2" srcset="/large 2x"><img srcset="/only 1x, /o 2x">')
    ('<p><img alt="x" src="/a?b=1&amp;c=2"><img src="/only">', ['/a?b=1&c=2', '/only'])
    """
    found: dict[str, None] = {}

    def tag(match: re.Match[str]) -> str:
        candidates = _CANDIDATES.search(match[0])
        only = _CHOICE.sub("", match[0])
        if match[1] != "img":
            return only if " src=" in only or match[1] == "video" else ""
        address = _ADDRESS.search(only)
        if address is None and candidates is not None:
            first = candidates[1].split(" ")[0].removesuffix(",")
            only = f'{only.removesuffix(">")} src="{escape(unescape(first))}">'
            address = _ADDRESS.search(only)
        if address is not None and address[1]:
            found[unescape(address[1])] = None
        return only

    return LOADING.sub(tag, html), list(found)
