"""How busy and how large the database is."""

from dataclasses import dataclass

from django.db import connection


@dataclass(frozen=True, slots=True)
class Load:
    connections: dict[str, int]  # of all databases of the server, by state
    max_connections: int
    size: int  # bytes


def load() -> Load:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(state, 'other'), count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
            " GROUP BY 1 ORDER BY 1"
        )
        connections = dict(cursor.fetchall())
        cursor.execute("SELECT current_setting('max_connections')::int, pg_database_size(current_database())")
        return Load(connections, *cursor.fetchone())
