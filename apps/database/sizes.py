"""Sizes of the tables."""

from typing import NamedTuple

from apps.database.statements import fetch_as

_SIZES = """
SELECT relname::text AS table, pg_table_size(oid) AS bytes, pg_indexes_size(oid) AS index_bytes,
    greatest(reltuples, 0)::bigint AS rows
FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
ORDER BY pg_total_relation_size(oid) DESC, relname
"""


class Size(NamedTuple):
    table: str
    bytes: int  # of the rows
    index_bytes: int
    rows: int  # as Postgres last estimated them

    @property
    def total(self) -> int:
        return self.bytes + self.index_bytes


def sizes() -> list[Size]:
    """Every table, the largest first. One statement."""
    return fetch_as(Size, _SIZES)
