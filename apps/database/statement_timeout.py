"""Reading that may not take long, and sees one instant."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import OperationalError, connection, transaction
from psycopg.errors import QueryCanceled


class TookTooLong(Exception):
    """A statement was ended since it took longer than it may."""


@contextmanager
def statement_timeout(seconds: float) -> Iterator[None]:
    """Read within a transaction whose statements take so long at most, and which can write nothing.

    Inside another transaction it is only a part of that, as consistent as that is, and could write.

    Raises
    ------
    TookTooLong
        If a statement took longer; the transaction is over then.
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
            if not is_outermost:  # what comes after it in that transaction may take as long as before
                with connection.cursor() as cursor:
                    cursor.execute("SELECT set_config('statement_timeout', %s, true)", [former])
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise TookTooLong("A statement took too long.") from error
        raise
