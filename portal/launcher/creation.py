"""Creates a database of Postgres, if it does not exist yet; the arguments are where, and its name."""

import sys
from contextlib import suppress

import psycopg
from psycopg import errors, sql


def main(where: str, name: str) -> None:
    with psycopg.connect(where, autocommit=True) as connection:
        if connection.execute("SELECT FROM pg_database WHERE datname = %s", [name]).fetchone() is None:
            with suppress(errors.DuplicateDatabase, errors.UniqueViolation):  # another process was faster
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))


if __name__ == "__main__":
    main(*sys.argv[1:])
