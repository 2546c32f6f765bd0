"""The rows that a request has changed, except those of its user."""

from collections.abc import Mapping

from django.apps import apps
from django.db import connection, models

from apps.accounts.models import User
from tests.apps.api.test_other_peoples_objects import ways_to_owners

# Changed by any request: sessions, and which public feeds programs fetch.
NOT_COMPARED = {"django_session", "django_migrations", "published_feeds_requestedfeed"}

# Rows that belong to a person without a foreign key.
OWNED = {"alerts_revision": "saved_id IN (SELECT id FROM search_savedsearch WHERE user_id = {})"}

_WRITTEN = """
SELECT coalesce(sum(pg_stat_get_xact_tuples_inserted(id) + pg_stat_get_xact_tuples_updated(id)
    + pg_stat_get_xact_tuples_deleted(id)), 0) FROM unnest(%s::oid[]) id
"""


def compared_tables() -> list[str]:
    return sorted(set(connection.introspection.table_names()) - NOT_COMPARED)


class Writes:
    """Counts the rows written by this transaction, undone savepoints included; far cheaper than checksums."""

    def __init__(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT oid FROM pg_class WHERE relname = ANY(%s)", [compared_tables()])
            self._ids = [row[0] for row in cursor.fetchall()]

    def count(self) -> int:
        with connection.cursor() as cursor:
            cursor.execute(_WRITTEN, [self._ids])
            return int(cursor.fetchone()[0])


class Checksums:
    """Of every table of the database, without the rows that belong to one person."""

    def __init__(self, person: User | None) -> None:
        ways = ways_to_owners()
        models_by_table = {model._meta.db_table: model for model in apps.get_models(include_auto_created=True)}
        pieces = []
        for table in compared_tables():
            model = models_by_table.get(table)
            own = "false"
            if person is not None and table in OWNED:
                own = OWNED[table].format(person.pk)
            elif person is not None and model in ways:
                own = _belongs(model, ways[model], person.pk)
            pieces.append(
                f"SELECT '{table}', count(*), coalesce(sum(hashtextextended(t::text, 0)), 0)"
                f' FROM "{table}" t WHERE ({own}) IS NOT TRUE'
            )
        self.tables = len(pieces)
        self._statement = " UNION ALL ".join(pieces)

    def read(self) -> Mapping[str, tuple[int, int]]:
        with connection.cursor() as cursor:
            cursor.execute(self._statement)
            return {table: (count, digest) for table, count, digest in cursor.fetchall()}


def _belongs(model: type[models.Model], way: str, user_id: int) -> str:
    """An SQL condition: a row of a model hangs on the person to whom the lookup leads."""
    if way == "pk":
        return f"id = {user_id}"
    name, _separator, rest = way.partition("__")
    field = model._meta.get_field(name)
    if not rest or rest == "pk":
        return f'"{field.column}" = {user_id}'
    above = field.related_model
    table, key = above._meta.db_table, above._meta.pk.column
    return f'"{field.column}" IN (SELECT "{key}" FROM "{table}" WHERE {_belongs(above, rest, user_id)})'
