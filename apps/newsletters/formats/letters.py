"""Mails as articles. Anyone can send them, so malformed headers and parts must not raise other errors."""

import re
from collections.abc import Callable
from email import message_from_bytes, policy
from email.message import EmailMessage
from email.utils import parseaddr
from hashlib import blake2b
from html import escape
from typing import Any, NamedTuple, TypeVar

from apps.sources.formats.dates import parse_date
from apps.sources.formats.feed import ParsedEntry
from apps.sources.formats.text import MAX_CONTENT, one_line, web_address, without_controls

MAX_LETTER_BYTES = 5_000_000
MAX_HEADER_BYTES = 64_000  # the time of parsing one grows with the square of its length
Value = TypeVar("Value")

_END_OF_HEADERS = re.compile(rb"\r?\n\r?\n")
_ADDRESS_IN_TEXT = re.compile(r"https?://[^\s<>\"]+[^\s<>\".,;:!?)\]]")
_UNSUBSCRIBE = re.compile(r"<\s*(https?://[^<>\s]+|mailto:[^<>\s]+)\s*>", re.IGNORECASE)


class NotALetter(ValueError):
    """A mail that cannot become an article; the message gives the reason."""


class Letter(NamedTuple):
    sender: str  # its address in lower case; empty without one
    unsubscribe: str  # an address of the web, or else of mail; empty without one
    entry: ParsedEntry

    @property
    def host(self) -> str:
        """Of the sender."""
        return self.sender.rpartition("@")[2]


def read(content: bytes) -> Letter:
    """The article in a mail. Raises NotALetter, and nothing else.

    >>> mail = b"From: Ada <ada@news.example>\\nSubject: Hello\\nMessage-ID: <1@news.example>\\n\\nOne & two"
    >>> letter = read(mail)
    >>> letter.sender, letter.entry.title, letter.entry.authors, letter.entry.content
    ('ada@news.example', 'Hello', ('Ada',), '<p>One &amp; two</p>')
    """
    if len(content) > MAX_LETTER_BYTES:
        raise NotALetter(f"The mail is larger than {MAX_LETTER_BYTES // 1_000_000} MB.")
    end = _END_OF_HEADERS.search(content)
    if (end.start() if end else len(content)) > MAX_HEADER_BYTES:
        raise NotALetter("The headers of the mail are too long.")
    message = _tried(lambda: message_from_bytes(content, policy=policy.default), None)
    if message is None:
        raise NotALetter("The mail cannot be read.")
    title, html, sender = _header(message, "Subject"), _body(message), _header(message, "From")
    if not title and not html:
        raise NotALetter("The mail is empty.")
    name, address = _tried(lambda: parseaddr(sender), ("", ""))
    found = _UNSUBSCRIBE.findall(_header(message, "List-Unsubscribe"))
    unsubscribe = min(found, key=str.lower, default="")  # https before mailto
    if unsubscribe:
        html += f'<p><a href="{escape(unsubscribe)}">Unsubscribe</a></p>'
    # Some senders repeat a Message-ID, so the content is a part of the identity; headers differ with each delivery.
    digest = blake2b("\n".join([title, address, html]).encode(), digest_size=16).hexdigest()
    entry = ParsedEntry(
        guid=f"{one_line(_header(message, 'Message-ID'), 500)} {digest}",
        link=web_address(_header(message, "Archived-At").strip("<> ")),  # RFC 5064
        title=title,
        content=html,
        published=parse_date(_header(message, "Date")),
        authors=(one_line(name, 200) or address,) if name or address else (),
    )
    return Letter(address.lower() if "@" in address else "", unsubscribe, entry)


def _tried(action: Callable[[], Value], otherwise: Value) -> Value:
    """The result of an action, or `otherwise`: the package `email` raises many kinds of errors for malformed mails."""
    try:
        return action()
    except Exception:  # whatever a hostile mail causes
        return otherwise


def _header(message: EmailMessage, name: str) -> str:
    return one_line(without_controls(_tried(lambda: str(message.get(name) or ""), "")))


def _body(message: EmailMessage) -> str:
    """The HTML of a mail; plain text becomes paragraphs."""
    part = _tried(lambda: message.get_body(("html", "plain")), None)
    if part is None:
        return ""
    text = _tried(lambda: _text(part.get_content()), None)
    if text is None:  # an unknown or wrong character set
        text = _tried(lambda: _text(part.get_payload(decode=True)), "")
    text = without_controls(text[:MAX_CONTENT])
    return text if _tried(part.get_content_subtype, "plain") == "html" else _paragraphs(text)


def _text(content: Any) -> str:
    return content.decode("utf-8", "replace") if isinstance(content, bytes) else str(content or "")


def _paragraphs(text: str) -> str:
    r"""
    >>> _paragraphs("See https://a.example/x.\nBye\n\n\nAda")
    '<p>See <a href="https://a.example/x">https://a.example/x</a>.<br>Bye</p><p>Ada</p>'
    """
    blocks = (block.strip() for block in re.split(r"\n\s*\n", text.replace("\r", "")))
    linked = (
        _ADDRESS_IN_TEXT.sub(r'<a href="\g<0>">\g<0></a>', escape(block, quote=False)) for block in blocks if block
    )
    return "".join(f"<p>{block}</p>".replace("\n", "<br>") for block in linked)
