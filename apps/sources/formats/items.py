"""Entries from the values that paths found in a document, for all kinds of sources that are read by paths."""

import html
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Self

from apps.sources.formats.dates import parse_date
from apps.sources.formats.feed import NotAFeed, ParsedEntry
from apps.sources.formats.text import (
    MAX_CONTENT,
    one_line,
    paragraphs,
    plain_text,
    web_address,
    with_absolute_addresses,
)

MAX_ITEMS = 500
MAX_AUTHORS = 50
_TAG = re.compile(r"<(?:!--|/?[a-zA-Z][^<>]*>)")
# How pages for people write dates that no feed would: "2. March 2026", "March 2nd, 2026", "02.03.2026, 10:15".
_ORDINAL = re.compile(r"\b(\d{1,2})(?:\.(?=\s+[^\W\d])|(?:st|nd|rd|th)\b)", re.IGNORECASE)
_WITH_DOTS = re.compile(r"\b(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})\b(?:\D{1,8}(\d{1,2})[:.](\d\d))?")
_STAMP = re.compile(r"(\d{9,10}|\d{12,13})(?:\.\d+)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class FoundItem:
    """The values that the paths found in one item, as written."""

    title: str = ""  # text or HTML
    description: str = ""  # HTML
    link: str = ""  # absolute or relative
    dates: tuple[str, ...] = ()  # the ways in which it is written, the most exact first
    image: str = ""  # absolute or relative
    authors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recipe:
    """The path of each field; "" where there is none."""

    channel: str = ""  # the part of the document that items are looked for in; the whole document by default
    item: str = ""  # for regular expressions what separates items
    title: str = ""
    description: str = ""
    link: str = ""  # or the one address of all items
    date: str = ""
    image: str = ""  # with "^" before it relative to the channel
    author: str = ""
    more: str = ""  # a line for each page to be followed to a recording

    @classmethod
    def from_json(cls, value: object) -> Self:
        """The inverse of `to_json`; unknown members and values that are not text are ignored."""
        given = value if isinstance(value, Mapping) else {}
        names = [field.name for field in fields(cls)]
        return cls(**{name: given[name] for name in names if isinstance(given.get(name), str)})

    def to_json(self) -> dict[str, str]:
        """The fields that are not empty.

        >>> Recipe(item="//li", title=".//a").to_json()
        {'item': '//li', 'title': './/a'}
        """
        return {field.name: text for field in fields(self) if (text := getattr(self, field.name))}


def entries_of(
    found: Sequence[FoundItem], recipe: Recipe, *, base: str, shared_image: str = ""
) -> tuple[tuple[ParsedEntry, ...], tuple[str, ...]]:
    """The entries of items, and the problems of the others.

    An entry needs a title or a description, and a link. If the link's path is an address, all items share it and are
    identified by their words. Raises NotAFeed if a path found nothing in any of the items.
    """
    problems: Counter[str] = Counter()
    entries = []
    for item in found[:MAX_ITEMS]:
        entry, problem = _entry(item, recipe, base, shared_image)
        if entry is not None:
            entries.append(entry)
        if problem:
            problems[problem] += 1
    if found and not entries:
        raise NotAFeed(f"{_items(len(found))} found, but {problems.most_common(1)[0][0]} in any of them.")
    if len(found) > MAX_ITEMS:
        problems[f"the first {MAX_ITEMS} were read"] = len(found)
    return tuple(entries), tuple(f"{_items(count)}: {problem}." for problem, count in problems.items())


def _items(count: int) -> str:
    return f"{count:,} item" if count == 1 else f"{count:,} items"


def _entry(item: FoundItem, recipe: Recipe, base: str, shared_image: str) -> tuple[ParsedEntry | None, str]:
    title = plain_text(item.title)
    description = with_absolute_addresses(item.description.strip()[:MAX_CONTENT], base)
    if not title and not plain_text(description):
        return None, f"the title path “{recipe.title}” found nothing"
    guid, link = "", web_address(item.link.strip(), base)
    if is_address(recipe.link):
        guid = blake2b(f"{title}\0{description}".encode("utf-8", "replace"), digest_size=8).hexdigest()
        link = f"{web_address(recipe.link)}#{guid}"
    if not link:
        return None, f"the link path “{recipe.link}” found no web address"
    published = next(filter(None, map(date_of, item.dates)), None)
    problem = ""
    if recipe.date and published is None:
        written = one_line(item.dates[0], 50) if item.dates else ""
        problem = f"“{written}” is not a readable date" if written else f"the date path “{recipe.date}” found nothing"
    entry = ParsedEntry(
        guid=guid,
        link=link,
        title=title,
        summary=description,
        published=published,
        authors=tuple(dict.fromkeys(filter(None, map(plain_text, item.authors[:MAX_AUTHORS])))),
        image_url=web_address(item.image.strip(), base) or shared_image,
    )
    return entry, problem


def is_address(link: str) -> bool:
    """Whether a link's path is not a path but the shared address of all items."""
    return link.startswith(("http://", "https://"))


def date_of(text: str) -> datetime | None:
    """The time that a text states, or that is given in seconds or milliseconds since 1970.

    >>> date_of("1700000000").isoformat(), date_of("1700000000123").isoformat()
    ('2023-11-14T22:13:20+00:00', '2023-11-14T22:13:20+00:00')
    >>> date_of("2. March 2026").isoformat(), date_of("02.03.2026, 10:15 Uhr").isoformat()
    ('2026-03-02T00:00:00+00:00', '2026-03-02T10:15:00+00:00')
    """
    text = " ".join(text[:200].split())
    stamp = _STAMP.fullmatch(text)
    if stamp is None:
        return parse_date(text) or parse_date(_ORDINAL.sub(r"\1", text)) or _with_dots(text)
    seconds = int(stamp[1]) // (1_000 if len(stamp[1]) > 10 else 1)
    return datetime.fromtimestamp(seconds, UTC)


def _with_dots(text: str) -> datetime | None:
    match = _WITH_DOTS.search(text)
    if match is None:
        return None
    day, month, year, hour, minute = (int(part or 0) for part in match.groups())
    return parse_date(f"{year}-{month:02}-{day:02}T{hour:02}:{minute:02}")


def markup_of_text(text: str) -> str:
    """A text as HTML, whether it is plain, has entities, or is escaped HTML.

    >>> markup_of_text("<p>Tea</p>"), markup_of_text("&lt;p&gt;Tea&lt;/p&gt;"), markup_of_text("Tea &amp; cake")
    ('<p>Tea</p>', '<p>Tea</p>', '<p>Tea &amp; cake</p>')
    """
    if not _TAG.search(text):
        text = html.unescape(text)
        if not _TAG.search(text):
            return paragraphs(text)
    return text
