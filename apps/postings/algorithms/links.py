"""Addresses in plain text, which become links."""

import re
from collections.abc import Callable
from html import escape

from apps.postings.algorithms.tokens import with_replaced

MAX_ADDRESSES = 5_000  # per article; lists of more are no text

# It ends before quotes, brackets and the full stops of East Asian scripts, which people write without a space.
_ADDRESS = re.compile(
    r"(?<![a-z0-9@./-])(?:https?://|www\.)[a-z0-9\u00c0-\u1fff][a-z0-9\u00c0-\u1fff.-]{0,250}+(?::\d{1,5})?+"
    r"(?:[/?#][^\s<>\"“”„«»‘’`{}|\\^\[\]\u3000-\u303f\uff00-\uffef]{0,2000}+)?+",
    re.IGNORECASE,
)
_ANY = re.compile(r"(?:^|>)[^<]*?(?:://|www\.)", re.IGNORECASE)
_ENDS = ".,;:!?'*_~…"


def with_links(html: str, start_of: Callable[[str], str]) -> str:
    """Sanitized markup whose addresses in plain text are links, each with the tag of `start_of`, which is "" for none.

    >>> with_links("<p>See (https://a.example/b_(c)), &amp; more.</p>", '<a href="{}">'.format)
    '<p>See (<a href="https://a.example/b_(c)">https://a.example/b_(c)</a>), &amp; more.</p>'
    """
    if not _ANY.search(html) or html.count("://") + html.count("www.") > MAX_ADDRESSES:
        return html

    def link(match: re.Match[str]) -> str:
        address = without_end(match[0])
        start = start_of(f"https://{address}" if address[:4].lower() == "www." else address)
        after = escape(match[0][len(address) :], quote=False)
        label = escape(address, quote=False)
        return f"{start}{label}</a>{after}" if start else label + after

    return with_replaced(html, _ADDRESS, link)


def without_end(address: str) -> str:
    """The address without the punctuation of the sentence around it, and without brackets that it does not open."""
    surplus = address.count(")") - address.count("(")
    while address[-1] in _ENDS or (surplus > 0 and address[-1] == ")"):
        surplus -= address[-1] == ")"
        address = address[:-1]
    return address
