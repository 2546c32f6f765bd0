"""The method of the old Yioop: one database query per item, and the whole index rebuilt for every shard."""

import pickle
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.db import connection, transaction

from apps.search.algorithms.index.levels import SMALLEST
from apps.search.algorithms.index.reading import read
from lab.worlds.feed import Text

ITEMS_PER_TRANSACTION = 100  # as many as a feed shows

_TABLES = """
CREATE TABLE benchmark_item (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, guid text NOT NULL UNIQUE, title text, body text);
CREATE TABLE benchmark_shard (id int PRIMARY KEY, postings bytea NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class OldGrowth:
    seconds: float
    items: int  # fewer than there were, if the time was up


def grow(texts: Sequence[Text], *, limit: float, report: Callable[[int], None]) -> OldGrowth:
    """Store the texts one by one, and index everything again after as many as one of our segments has.

    Nothing is retrieved, parsed or cleaned: only storing and indexing remain, with the same analysis of words. Stops
    after `limit` seconds.
    """
    with connection.cursor() as cursor:
        cursor.execute(_TABLES)
    try:
        begin = time.perf_counter()
        for first in range(0, len(texts), ITEMS_PER_TRANSACTION):
            _store(texts[first : first + ITEMS_PER_TRANSACTION], first)
            count = min(first + ITEMS_PER_TRANSACTION, len(texts))
            if count == len(texts) or count // SMALLEST > first // SMALLEST:
                _index_everything()
            report(count)
            if time.perf_counter() - begin > limit:
                return OldGrowth(time.perf_counter() - begin, count)
        return OldGrowth(time.perf_counter() - begin, len(texts))
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE benchmark_item, benchmark_shard")


@transaction.atomic
def _store(texts: Sequence[Text], first: int) -> None:
    with connection.cursor() as cursor:
        for number, text in enumerate(texts, first):
            guid = f"https://news.example/{number}"
            cursor.execute("SELECT id FROM benchmark_item WHERE guid = %s", [guid])
            if cursor.fetchone() is None:
                cursor.execute(
                    "INSERT INTO benchmark_item (guid, title, body) VALUES (%s, %s, %s)",
                    [guid, text.title, "\n\n".join(text.paragraphs)],
                )


@transaction.atomic
def _index_everything() -> None:
    postings: dict[str, list[int]] = {}
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, title, body FROM benchmark_item ORDER BY id")
        for number, title, body in cursor.fetchall():
            reading = read(title, body, language="en")
            for item in {*reading.sequence, *reading.pairs}:
                postings.setdefault(item, []).append(number)
        cursor.execute("DELETE FROM benchmark_shard")
        cursor.execute("INSERT INTO benchmark_shard VALUES (1, %s)", [pickle.dumps(postings)])
