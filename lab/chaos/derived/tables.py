"""Tables derived from postings: emptied, computed again, and compared row by row."""

from collections.abc import Collection
from typing import Any

from django.db import connection, transaction
from django.db.models import Model

from apps.stories import models as stories
from apps.summaries import models as summaries
from apps.trending import models as trending

# With the columns that may differ: ids without references, and the last writer. Nightly results (lists of trends, the
# worth of sources, vocabularies) follow from these tables and the time of their computation.
_DERIVED: dict[type[Model], frozenset[str]] = {
    trending.Counted: frozenset(),
    trending.Slice: frozenset({"id"}),
    stories.Story: frozenset(),
    stories.Redirect: frozenset(),
    stories.Member: frozenset(),
    stories.Centroid: frozenset(),
    stories.WordCount: frozenset({"id"}),
    stories.Head: frozenset({"turn"}),
    summaries.Outline: frozenset(),
    summaries.Summary: frozenset(),
}
DERIVED = tuple(model._meta.db_table for model in _DERIVED)
WAITING: tuple[type[Model], ...] = (trending.OutboxRow, trending.Stale, stories.OutboxRow, summaries.OutboxRow)
_SHOWN = 160  # characters of a row that differs


def _run(statement: str, values: Collection[Any] = ()) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, list(values) or None)
        return cursor.fetchall() if cursor.description else []


def empty() -> None:
    """Delete all derived rows and the changes that wait."""
    _run(f"TRUNCATE {', '.join(model._meta.db_table for model in (*_DERIVED, *WAITING))}")


def posting_ids() -> list[int]:
    return [id for (id,) in _run("SELECT id FROM postings_posting ORDER BY id")]


def enqueue(ids: Collection[int]) -> None:
    """Enqueue postings as if they had just been stored."""
    _run("INSERT INTO trending_outboxrow (posting_id) SELECT unnest(%s::bigint[])", [list(ids)])
    _run("INSERT INTO summaries_outboxrow (posting_id) SELECT unnest(%s::bigint[])", [list(ids)])
    _run(
        "INSERT INTO stories_outboxrow (posting_id, published_at)"
        " SELECT id, published_at FROM postings_posting WHERE id = ANY(%s)",
        [list(ids)],
    )


@transaction.atomic
def reset_twice() -> int:
    """Delete all derived rows and enqueue every posting twice; return the number of postings."""
    empty()
    ids = posting_ids()
    enqueue(ids)
    enqueue(ids)
    return len(ids)


def waiting() -> int:
    """The number of unprocessed changes."""
    return sum(model._default_manager.count() for model in WAITING)


# --- comparison -------------------------------------------------------------------------------------------------------
def save_digests() -> dict[str, int]:
    """Save a digest of every row for `differing`; return the rows per table."""
    for model in _DERIVED:
        _run(f"DROP TABLE IF EXISTS {_former(model)}")
        _run(f"CREATE UNLOGGED TABLE {_former(model)} AS SELECT {_digest(model)} digest FROM {model._meta.db_table}")
    return {model._meta.db_table: model._default_manager.count() for model in _DERIVED}


def drop_digests() -> None:
    _run(f"DROP TABLE IF EXISTS {', '.join(map(_former, _DERIVED))}")


def differing() -> dict[str, tuple[int, list[str]]]:
    """For each table with changed, surplus or missing rows: how many, and examples."""
    found = {}
    for model in _DERIVED:
        table, former, digest = model._meta.db_table, _former(model), _digest(model)
        [(missing,)] = _run(
            f"SELECT count(*) FROM (SELECT digest FROM {former} EXCEPT ALL SELECT {digest} FROM {table}) missing"
        )
        [(added,)] = _run(
            f"SELECT count(*) FROM (SELECT {digest} FROM {table} EXCEPT ALL SELECT digest FROM {former}) added"
        )
        if missing or added:
            rows = _run(
                f"SELECT left({_content(model)}, {_SHOWN}) FROM {table}"
                f" WHERE {digest} NOT IN (SELECT digest FROM {former}) LIMIT 3"
            )
            found[table] = max(missing, added), [row for (row,) in rows]
    return found


def _former(model: type[Model]) -> str:
    return f"former_{model._meta.db_table}"


def _content(model: type[Model]) -> str:
    names = [field.column for field in model._meta.concrete_fields if field.column]
    return f"ROW({', '.join(name for name in names if name not in _DERIVED[model])})::text"


def _digest(model: type[Model]) -> str:
    return f"md5({_content(model)})"
