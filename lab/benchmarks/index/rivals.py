"""Other engines for the same queries and postings: Postgres' full text search, and tantivy."""

import importlib
import time
from collections.abc import Callable
from types import ModuleType

from django.core.management.base import CommandError
from django.db import connection

from lab.benchmarks.index.searching import RESULTS, Question

READ_AT_ONCE = 20_000

_TEXTS = """
CREATE TABLE benchmark_text AS
SELECT posting_id, to_tsvector('english', posting.title || ' ' || posting.text) AS words
FROM search_document document JOIN postings_posting posting ON posting.id = posting_id
"""
_RANKED = """
SELECT posting_id, ts_rank(words, query, 1) FROM benchmark_text, websearch_to_tsquery('english', %s) query
WHERE words @@ query ORDER BY 2 DESC LIMIT %s
"""


def build_text_search() -> float:
    """Build a GIN index of all postings for Postgres' full text search; return the seconds."""
    begin = time.perf_counter()
    with connection.cursor() as cursor:
        cursor.execute(_TEXTS)
        cursor.execute("CREATE INDEX ON benchmark_text USING gin (words)")
        cursor.execute("VACUUM ANALYZE benchmark_text")
    return time.perf_counter() - begin


def drop_text_search() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE benchmark_text")


def search_postgres(question: Question) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(_RANKED, [" or ".join(question.text.split()), RESULTS])
        return [posting_id for posting_id, _ in cursor.fetchall()]


def load_tantivy() -> ModuleType:
    """Import tantivy, before the long measurement, which would fail without it."""
    try:
        return importlib.import_module("tantivy")
    except ImportError as error:
        raise CommandError(
            "tantivy, which is measured beside ours, is not installed: `manage.py test` installs it."
        ) from error


def build_tantivy(tantivy: ModuleType) -> tuple[Callable[[Question], list[int]], float]:
    """A search function on an index of tantivy in memory, with English stems, and the seconds to build it."""
    schema = (
        tantivy.SchemaBuilder()
        .add_text_field("words", tokenizer_name="en_stem", index_option="freq")
        .add_integer_field("posting", stored=True)
        .build()
    )
    index = tantivy.Index(schema)
    writer = index.writer(128 * 2**20, 1)
    seconds = 0.0
    with connection.chunked_cursor() as cursor:
        cursor.execute("SELECT id, title || ' ' || text FROM postings_posting ORDER BY id")
        while rows := cursor.fetchmany(READ_AT_ONCE):
            begin = time.perf_counter()
            for posting, text in rows:
                writer.add_document(tantivy.Document(posting=posting, words=text))
            seconds += time.perf_counter() - begin
    begin = time.perf_counter()
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def search(question: Question) -> list[int]:
        hits = searcher.search(index.parse_query(question.text, ["words"]), RESULTS).hits
        return [searcher.doc(address)["posting"][0] for _, address in hits]

    return search, seconds + time.perf_counter() - begin
