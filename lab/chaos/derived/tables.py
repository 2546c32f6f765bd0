"""The tables that follow from postings: emptied, worked out anew, and compared row by row."""

from collections.abc import Collection
from typing import Any

from django.db import connection, transaction
from django.db.models import Model

from apps.stories import models as stories
from apps.summaries import models as summaries
from apps.trending import models as trending

# With the columns that may differ: names of rows that nothing refers to, and of who wrote last. What is computed at
# night for a moment (lists of trends, the worth of sources, vocabularies) follows from these and from that moment.
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
    """Forget all that was worked out, and what is waiting to be."""
    _run(f"TRUNCATE {', '.join(model._meta.db_table for model in (*_DERIVED, *WAITING))}")


def posting_ids() -> list[int]:
    return [id for (id,) in _run("SELECT id FROM postings_posting ORDER BY id")]


def note(ids: Collection[int]) -> None:
    """Let postings be worked on as if they had just been stored."""
    _run("INSERT INTO trending_outboxrow (posting_id) SELECT unnest(%s::bigint[])", [list(ids)])
    _run("INSERT INTO summaries_outboxrow (posting_id) SELECT unnest(%s::bigint[])", [list(ids)])
    _run(
        "INSERT INTO stories_outboxrow (posting_id, published_at)"
        " SELECT id, published_at FROM postings_posting WHERE id = ANY(%s)",
        [list(ids)],
    )


@transaction.atomic
def begin_anew() -> int:
    """Forget all that was worked out, and note every posting twice; how many there are."""
    empty()
    ids = posting_ids()
    note(ids)
    note(ids)
    return len(ids)


def waiting() -> int:
    """Changes that nobody has worked on."""
    return sum(model._default_manager.count() for model in WAITING)


# --- comparing --------------------------------------------------------------------------------------------------------
def remember() -> dict[str, int]:
    """Note down what every row is now, for `differing`; how many there are in each table."""
    for model in _DERIVED:
        _run(f"DROP TABLE IF EXISTS {_former(model)}")
        _run(f"CREATE UNLOGGED TABLE {_former(model)} AS SELECT {_digest(model)} digest FROM {model._meta.db_table}")
    return {model._meta.db_table: model._default_manager.count() for model in _DERIVED}


def forget() -> None:
    _run(f"DROP TABLE IF EXISTS {', '.join(map(_former, _DERIVED))}")


def differing() -> dict[str, tuple[int, list[str]]]:
    """Of each table with rows that are not as remembered, or too many or missing: how many, and a few of them."""
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
