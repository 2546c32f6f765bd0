"""Which migrations the database has, and which the program has."""

import functools
from typing import Any

import psycopg
from django.apps import apps
from django.db.migrations.loader import MigrationLoader

Migration = tuple[str, str]  # app, name


@functools.cache
def known() -> frozenset[Migration]:
    """The migrations that this program is made of."""
    return frozenset(MigrationLoader(None).disk_migrations)


def applied(connection: psycopg.Connection[Any]) -> frozenset[Migration]:
    """The migrations that were carried out; none in an empty database."""
    row = connection.execute("SELECT to_regclass('django_migrations') IS NOT NULL").fetchone()
    if row is None or not row[0]:
        return frozenset()
    return frozenset(connection.execute("SELECT app, name FROM django_migrations").fetchall())


def unknown(connection: psycopg.Connection[Any]) -> list[str]:
    """Applied migrations that this program does not have, as ``app.name``; apps that it does not have do not count."""
    ours = {config.label for config in apps.get_app_configs()}
    return sorted(f"{app}.{name}" for app, name in applied(connection) - known() if app in ours)


def parameters(connection_parameters: dict[str, Any]) -> dict[str, Any]:
    """What a plain connection needs of Django's parameters: no adapters, no cursors of Django's own."""
    return {name: value for name, value in connection_parameters.items() if name not in {"context", "cursor_factory"}}
