"""Sizes of the tables, by app."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from django.apps import apps

from apps.database.statements import fetch_as

_SIZES = """
SELECT relname::text AS table, pg_table_size(oid) AS bytes, pg_indexes_size(oid) AS index_bytes,
    greatest(reltuples, 0)::bigint AS rows
FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
"""
OTHERS = "others"


@dataclass(frozen=True, slots=True)
class Size:
    table: str
    group: str  # label of the app that it belongs to
    bytes: int  # of the rows
    index_bytes: int
    rows: int  # as Postgres last estimated them

    @property
    def total(self) -> int:
        return self.bytes + self.index_bytes


def sizes() -> list[Size]:
    """Every table, the largest first. One statement."""
    groups = {model._meta.db_table: model._meta.app_label for model in apps.get_models(include_auto_created=True)}
    return sorted(fetch_as(partial(_size, groups), _SIZES), key=lambda size: (-size.total, size.table))


def _size(groups: Mapping[str, str], table: str, **numbers: int) -> Size:
    return Size(table=table, group=groups.get(table, OTHERS), **numbers)


def by_group(found: list[Size]) -> Mapping[str, int]:
    """Bytes of each group with its indexes, the largest first.

    >>> by_group([Size("a_x", "a", 1, 1, 0), Size("b_x", "b", 5, 0, 0), Size("a_y", "a", 2, 0, 0)])
    {'b': 5, 'a': 4}
    """
    totals: dict[str, int] = {}
    for size in found:
        totals[size.group] = totals.get(size.group, 0) + size.total
    return dict(sorted(totals.items(), key=lambda item: (-item[1], item[0])))
