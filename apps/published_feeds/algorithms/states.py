"""A reader's state of a feed, encoded in the entity tag: a few characters for each entry.

The portal stores nothing about readers of its feeds, yet sends each of them exactly the entries that are new to it
(RFC 3229 with the instance manipulation "feed").
"""

import re
from base64 import urlsafe_b64encode
from hashlib import sha256

from apps.published_feeds.formats.feed import LONG_AGO, Entry, Feed

_VERSION = "1"  # of the serialization of feeds
_HEAD = 7  # characters
_FINGERPRINT = 5  # characters, 30 bits: among a hundred entries a new one is taken for a known one once in 10^7
_TAG = re.compile(rf'(?:W/)?"{_VERSION}[\w-]{{{_HEAD}}}\.((?:[\w-]{{{_FINGERPRINT}}})*)"', re.ASCII)
_PREFERENCE = re.compile(r"feed\s*(?:;\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*)?", re.IGNORECASE)


def tag_of(feed: Feed) -> str:
    """The entity tag of a feed: a digest of its metadata, and a shorter one of each entry."""
    head = _digest(repr(feed._replace(entries=())), _HEAD)
    return f'"{_VERSION}{head}.{"".join(map(_fingerprint, feed.entries))}"'


def delta(feed: Feed, if_none_match: str) -> Feed | None:
    """The feed with the entries that the reader's state lacks, in their order.

    None if that is the whole feed, or the header has no tag of the portal; truncated ones do not count.
    """
    tag = _TAG.search(if_none_match)
    if tag is None:
        return None
    had = {tag[1][at : at + _FINGERPRINT] for at in range(0, len(tag[1]), _FINGERPRINT)}
    lacking = tuple(entry for entry in feed.entries if _fingerprint(entry) not in had)
    return feed._replace(entries=lacking) if len(lacking) < len(feed.entries) else None


def takes_deltas(header: str) -> bool:
    """Whether an A-IM header accepts feeds of the new entries alone.

    >>> [takes_deltas(value) for value in ("feed", "vcdiff, feed;q=0.5", "feed;q=0", "feedback", "")]
    [True, True, False, False, False]
    """
    preferences = (_PREFERENCE.fullmatch(item.strip()) for item in header.split(","))
    return any(float(found[1] or 1) > 0 for found in preferences if found)


def _fingerprint(entry: Entry) -> str:
    return _digest(repr(entry._replace(listed=LONG_AGO)), _FINGERPRINT)  # the content, not its time of arrival


def _digest(text: str, length: int) -> str:
    return urlsafe_b64encode(sha256(text.encode("utf-8", "surrogatepass")).digest())[:length].decode()


# --- shared -----------------------------------------------------------------------------------------------------------
MAX_ADDRESS_LENGTH = 2_000  # characters, of the forms that take it
_ADDRESS = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)
_BEHIND = ".,;:!?'’”»"  # closes a sentence, not an address


def address_in(*texts: str) -> str:
    """The first address of the web, "" without one.

    >>> address_in("", "Read this (https://en.example/Rain_(film)), please!"), address_in("javascript:x", "none")
    ('https://en.example/Rain_(film)', '')
    """
    for text in texts:
        if found := _ADDRESS.search(text):
            address = found[0].rstrip(_BEHIND)
            while address.endswith(")") and address.count(")") > address.count("("):
                address = address[:-1].rstrip(_BEHIND)
            return address if len(address) <= MAX_ADDRESS_LENGTH else ""
    return ""
