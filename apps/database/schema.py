"""Migrations of the database compared with those of the program."""

import functools
from pathlib import Path
from typing import Any

import psycopg
from django.apps import apps

Migration = tuple[str, str]  # app, name


@functools.cache
def known() -> frozenset[Migration]:
    """The migrations of this program, by their files: to import them takes half a second."""
    files = ((app.label, file) for app in apps.get_app_configs() for file in Path(app.path, "migrations").glob("*.py"))
    return frozenset((label, file.stem) for label, file in files if file.stem[0] not in "_~")


def applied(connection: psycopg.Connection[Any]) -> frozenset[Migration]:
    """The applied migrations; none in an empty database."""
    if connection.execute("SELECT WHERE to_regclass('django_migrations') IS NOT NULL").fetchone() is None:
        return frozenset()
    return frozenset(connection.execute("SELECT app, name FROM django_migrations").fetchall())


def unknown(connection: psycopg.Connection[Any]) -> list[str]:
    """Applied migrations that this program does not have, as ``app.name``; those of unknown apps are ignored."""
    ours = {config.label for config in apps.get_app_configs()}
    return sorted(f"{app}.{name}" for app, name in applied(connection) - known() if app in ours)


def parameters(connection_parameters: dict[str, Any]) -> dict[str, Any]:
    """Django's connection parameters for a plain connection, without Django's adapters and cursors."""
    return {name: value for name, value in connection_parameters.items() if name not in {"context", "cursor_factory"}}
