"""Trackers in postings: parameters of links, pixels, and the hosts that count readers."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

from apps.sources.algorithms.addresses import host, is_tracking_parameter

_HOSTS = frozenset(json.loads(Path(__file__).with_name("tracker-hosts.json").read_text("utf-8")))
_PATHS = re.compile(
    r"https?://(?:www\.facebook\.com/tr\b|feeds\.feedburner\.com/~(?:r|ff|a|f|n)/|feeds\.wordpress\.com/1\.0/"
    r"|counter\.theconversation\.com/|medium\.com/_/stat|feedpress\.me/(?:link|pixel)/|rss\.art19\.com/pixel)",
    re.IGNORECASE,
)
_HIDDEN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|(?:^|[;\s])(?:width|height)\s*:\s*[01](?:px)?\s*(?:;|$)"
)
_POINT = re.compile(r"\s*0*[01](?:\.0*)?\s*(?:px)?\s*")


def without_tracking(address: str) -> str:
    """The address without parameters that only track where its reader came from.

    >>> without_tracking("https://example.org/a?utm_source=rss&id=7&fbclid=x#part")
    'https://example.org/a?id=7#part'
    """
    before, mark, fragment = address.partition("#")
    page, question, query = before.partition("?")
    if not question:
        return address
    parameters = query.split("&")
    kept = [each for each in parameters if not is_tracking_parameter(each.partition("=")[0])]
    if len(kept) == len(parameters):
        return address
    return f"{page}{'?' if kept else ''}{'&'.join(kept)}{mark}{fragment}"


def is_tracker(address: str) -> bool:
    """Whether an absolute address belongs to one of the well-known counters of readers or sellers of their attention.

    >>> is_tracker("https://sb.scorecardresearch.com/p?c1=2"), is_tracker("https://example.org/p.gif")
    (True, False)
    """
    labels = host(address).split(".")
    domains = (".".join(labels[start:]) for start in range(len(labels) - 1))
    return any(domain in _HOSTS for domain in domains) or _PATHS.match(address) is not None


def is_unseen(attributes: Mapping[str, str]) -> bool:
    """Whether a picture or frame with these attributes is hidden or a single pixel, so that it only counts readers.

    >>> is_unseen({"width": "1", "height": "1"}), is_unseen({"width": "100%", "height": "1080"})
    (True, False)
    """
    sizes = (attributes.get("width", ""), attributes.get("height", ""))
    hidden = "hidden" in attributes or _HIDDEN.search(attributes.get("style", "").lower()) is not None
    return hidden or any(_POINT.fullmatch(size) for size in sizes)
