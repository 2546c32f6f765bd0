"""How busy and how large the database is."""

from typing import NamedTuple

from apps.database.statements import fetch, fetch_rows


class Load(NamedTuple):
    connections: dict[str, int]  # of all databases of the server, by state
    max_connections: int
    size: int  # bytes


def load() -> Load:
    connections = fetch(
        "SELECT coalesce(state, 'other'), count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
        " GROUP BY 1 ORDER BY 1"
    )
    [server] = fetch_rows(
        "SELECT current_setting('max_connections')::int AS max_connections,"
        " pg_database_size(current_database()) AS size"
    )
    return Load(dict(connections), server.max_connections, server.size)
