"""Addresses in plain text, which become links."""

import re
from collections.abc import Callable
from functools import partial
from html import escape

from apps.postings.algorithms.tokens import replaced, with_texts

# It ends before quotes, brackets and the full stops of East Asian scripts, which people write without a space.
_ADDRESS = re.compile(
    r"(?<![a-z0-9@./-])(?:https?://|www\.)[^\s<>\"“”„«»‘’`{}|\\^\u3000-\u303f\uff00-\uffef]{3,2000}+", re.IGNORECASE
)
_ENDS = ".,;:!?'*_~…"
_BRACKETS = {")": "(", "]": "["}


def with_links(html: str, start_of: Callable[[str], str]) -> str:
    """Sanitized markup whose addresses in plain text are links, each with the start tag that `start_of` writes.

    >>> with_links("<p>See (https://a.example/b_(c)), &amp; more.</p>", '<a href="{}">'.format)
    '<p>See (<a href="https://a.example/b_(c)">https://a.example/b_(c)</a>), &amp; more.</p>'
    """
    if "://" not in html and "www." not in html.lower():
        return html

    def link(match: re.Match[str]) -> str:
        address = without_end(match[0])
        start = start_of(address if "://" in address else f"https://{address}")
        after = escape(match[0][len(address) :], quote=False)
        label = escape(address, quote=False)
        return f"{start}{label}</a>{after}"

    return with_texts(html, partial(replaced, _ADDRESS, link))


def without_end(address: str) -> str:
    """The address without the punctuation of the sentence around it, and without brackets that it does not open."""
    end = len(address)
    surplus = {closing: address.count(closing) - address.count(opening) for closing, opening in _BRACKETS.items()}
    while end and (address[end - 1] in _ENDS or surplus.get(address[end - 1], 0) > 0):
        end -= 1
        if address[end] in surplus:
            surplus[address[end]] -= 1
    return address[:end]
