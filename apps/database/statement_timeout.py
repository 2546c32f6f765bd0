"""Read transactions with a time limit and one consistent snapshot."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import OperationalError, connection, transaction
from psycopg.errors import QueryCanceled


class TookTooLong(Exception):
    """A statement ran into its timeout."""


@contextmanager
def statement_timeout(seconds: float) -> Iterator[None]:
    """A read-only transaction whose statements raise `TookTooLong` after a time; the transaction is over then.

    Inside another transaction it is a savepoint, with the isolation of that and without the ban on writes.
    """
    is_outermost = not connection.in_atomic_block
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                if is_outermost:
                    cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                cursor.execute("SELECT current_setting('statement_timeout')")
                [former] = cursor.fetchone()
                cursor.execute("SELECT set_config('statement_timeout', %s, true)", [f"{int(1_000 * seconds)}ms"])
            yield
            if not is_outermost:  # restore the limit for the rest of that transaction
                with connection.cursor() as cursor:
                    cursor.execute("SELECT set_config('statement_timeout', %s, true)", [former])
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise TookTooLong("A statement took too long.") from error
        raise
