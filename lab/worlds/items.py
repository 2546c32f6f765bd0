"""Postings of a file, copied into the database as if retrievals had stored them."""

import csv
import json
import lzma
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from xml.sax.saxutils import escape

from django.db import connection
from psycopg.types.json import Jsonb

from apps.postings.actions import Document
from apps.postings.algorithms.edits import text_hash
from apps.sources.actions.editing import add_sources
from apps.sources.formats.feed import ParsedEntry
from apps.sources.models import Source

COPIED_AT_ONCE = 20_000
LENGTHENED, JOINED = 20, 10  # every 20th item of a source has the texts of ten
_COPY = """
COPY postings_posting (source_id, identity, link_key, content_hash, text_hash, guid, url, title, author, html, text,
    language, categories, image_url, comments_url, enclosures, published_at, retrieved_at) FROM STDIN BINARY
"""
_TYPES = ["int8", *["bytea"] * 4, *["text"] * 7, "text[]", "text", "text", "jsonb", "timestamptz", "timestamptz"]


@dataclass(frozen=True, slots=True)
class Item:
    source: int  # of the file
    published: int  # s since 1970
    title: str
    text: str


def read_items(path: Path, count: int, *, seed: int) -> list[Item]:
    """`count` items drawn from a file of JSON lines packed by xz, the oldest first; all of them if it has fewer.

    Each line has `src` (a number), `t` (seconds since 1970), `title` and `desc` (without markup).
    """
    with lzma.open(path, "rt", encoding="utf-8") as file:
        lines = file.readlines()
    drawn = random.Random(seed).sample(lines, min(count, len(lines)))
    items = [Item(found["src"], found["t"], found["title"], found["desc"]) for found in map(json.loads, drawn)]
    return sorted(items, key=lambda item: (item.published, item.source, item.title))


def lengthened(items: Sequence[Item]) -> list[Item]:
    """Give each 20th item of a source the words of the items before it, too: a text worth summarizing.

    >>> found = lengthened([Item(1, second, "", str(second)) for second in range(20)])
    >>> found[18].text, found[19].text
    ('18', '10 11 12 13 14 15 16 17 18 19')
    """
    texts: defaultdict[int, list[str]] = defaultdict(list)
    longer = []
    for item in items:
        texts_of_source = texts[item.source]
        texts_of_source.append(item.text)
        longer.append(
            item if len(texts_of_source) % LENGTHENED else replace(item, text=" ".join(texts_of_source[-JOINED:]))
        )
    return longer


def add_sources_of(items: Sequence[Item], path: Path, *, listed: bool = False) -> dict[int, int]:
    """Add the sources of the file; their languages are in `sources.csv` beside it, if that exists."""
    languages: dict[int, str] = {}
    table = path.with_name("sources.csv")
    if table.exists():
        with table.open(encoding="utf-8", newline="") as file:
            languages = {int(row["src"]): row["lang"] for row in csv.DictReader(file)}
    numbers = sorted({item.source for item in items})
    ids = add_sources(
        [
            Source(url=f"https://source{number}.example/feed", language=languages.get(number, "")[:20], listed=listed)
            for number in numbers
        ]
    )
    return dict(zip(numbers, ids, strict=True))


def copy_postings(items: Sequence[Item], source_ids: dict[int, int], *, first: int) -> None:
    """Copy items into the table, numbered from `first`; they must be new and distinct."""
    with connection.cursor() as cursor, cursor.copy(_COPY) as copy:
        copy.set_types(_TYPES)
        for number, item in enumerate(items, first):
            copy.write_row(_row(item, source_ids[item.source], number))


def _row(item: Item, source_id: int, number: int) -> tuple[object, ...]:
    published = datetime.fromtimestamp(item.published, UTC)
    name = f"item-{number}"
    words = text_hash(item.title, item.text)
    return (
        source_id,
        blake2b(name.encode(), digest_size=16).digest(),
        b"",
        words,
        words,
        name,
        f"https://news.example/{number}",
        item.title,
        "",
        f"<p>{escape(item.text)}</p>",
        item.text,
        "",
        [],
        "",
        "",
        Jsonb([]),
        published,
        published,
    )


def as_document(items: Sequence[Item], source_id: int, label: str) -> Document:
    """The items as the document of one retrieval."""
    now = datetime.now(UTC)
    entries = [
        ParsedEntry(
            guid=f"{label}-{number}",
            link=f"https://news.example/{label}/{number}",
            title=item.title,
            content=f"<p>{escape(item.text)}</p>",
            published=datetime.fromtimestamp(item.published, UTC),
        )
        for number, item in enumerate(items)
    ]
    return Document(source_id, entries, "https://news.example/", "", "en", now)
