"""Candidate addresses of a site's icon, from a page of it and from its web manifest, without any request."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from apps.sources.algorithms.addresses import absolute
from apps.sources.algorithms.discovery import links_in_head

WANTED = 64  # pixels
MAX_ICONS = 4  # of a page or a manifest

_SIZE = re.compile(r"(\d{1,5})x\d", re.IGNORECASE)
_UNSTATED = {"icon": 32, "apple-touch-icon": 180, "apple-touch-icon-precomposed": 180}  # pixels, by relation


@dataclass(frozen=True, slots=True)
class SiteIcons:
    icons: tuple[str, ...] = ()  # the best first
    manifest: str = ""


_Icon = tuple[str, int]  # address and size in pixels


def icons_of_page(html: bytes, *, url: str) -> SiteIcons:
    """The icons and the web manifest that the head of the page at `url` names. Never raises.

    >>> icons_of_page(b"<head><link rel='shortcut icon' href='/a.ico'><link rel=manifest href=m.json>", url="http://x.org/y/")
    SiteIcons(icons=('http://x.org/a.ico',), manifest='http://x.org/y/m.json')
    """
    manifest, found = "", []
    for address, attributes in links_in_head(html, url):
        relations = attributes.get("rel", "").lower().split()
        if "manifest" in relations:
            manifest = manifest or address
        elif "dark" in attributes.get("media", ""):
            continue  # a white icon, which would vanish on other pages
        elif known := [_UNSTATED[each] for each in relations if each in _UNSTATED]:
            found.append(_icon(address, attributes, known[0]))
    return SiteIcons(_best(found), manifest)


def icons_of_manifest(content: bytes, *, url: str) -> tuple[str, ...]:
    """The icons of a web manifest, the best first. Never raises.

    >>> icons_of_manifest(b'{"icons": [{"src": "/512.png", "sizes": "512x512"}, {"src": "96.png", "sizes": "96x96"}]}',
    ...                   url="http://x.org/y/m.json")
    ('http://x.org/y/96.png', 'http://x.org/512.png')
    """
    try:
        manifest = json.loads(content)
    except (ValueError, RecursionError):
        return ()
    listed = manifest.get("icons") if isinstance(manifest, dict) else None
    icons = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    # Masks and silhouettes are no icons by themselves.
    usable = [each for each in icons if "any" in str(each.get("purpose", "any"))]
    return _best(_icon(absolute(str(each.get("src", "")), url), each, 0) for each in usable)


def _icon(address: str, attributes: Mapping[str, Any], unstated: int) -> _Icon:
    path = address.partition("?")[0].lower()
    is_vector = "svg" in str(attributes.get("type", "")).lower() or path.endswith(".svg")  # never decoded
    sizes = [int(size) for size in _SIZE.findall(str(attributes.get("sizes", ""))[:200])]
    return "" if is_vector else address, max(sizes, default=unstated)


def _best(icons: Iterable[_Icon]) -> tuple[str, ...]:
    """The smallest of those that are large enough, then the largest of the others."""
    ranked = sorted(icons, key=lambda icon: (icon[1] < WANTED, abs(icon[1] - WANTED)))
    return tuple(dict.fromkeys(address for address, _ in ranked if address))[:MAX_ICONS]
