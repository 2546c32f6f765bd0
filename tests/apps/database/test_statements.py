"""Statements of pages are planned once for all values, all others for each, and what they raise is Django's."""

from collections.abc import Iterator

import pytest
from django.db import OperationalError, connection, transaction

from apps.database.statements import copy_rows, fetch, query

pytestmark = pytest.mark.django_db(transaction=True)

STATEMENT = "SELECT id FROM accounts_user WHERE id = %s"
PLANS = "SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement = %s"


def mode() -> str:
    [(shown,)] = fetch("SELECT current_setting('plan_cache_mode')")
    return shown


def test_a_generic_statement_has_one_plan():
    for number in range(6):
        fetch(STATEMENT, [number], generic=True)
    [plans] = query(PLANS, [STATEMENT.replace("%s", "$1")])
    assert plans.generic_plans >= 4
    assert plans.custom_plans == 0


def test_other_statements_are_planned_as_usual_even_in_a_transaction():
    fetch(STATEMENT, [1], generic=True)
    assert mode() == "auto"
    fetch(STATEMENT, [1], generic=True)
    with transaction.atomic():
        assert mode() == "auto"
        transaction.set_rollback(True)
    assert query("SHOW plan_cache_mode")[0].plan_cache_mode == "force_generic_plan"
    assert mode() == "auto"


@pytest.fixture
def session():
    """The number of this thread's session; the test may end it."""
    [(pid,)] = fetch("SELECT pg_backend_pid()")
    yield pid
    connection.close()


def rows_in_a_lost_session(pid: int) -> Iterator[tuple[str]]:
    """Rows whose COPY loses its session in the middle."""
    other = connection.copy()
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
    other.close()
    yield ("lost",)


def test_a_connection_lost_while_rows_are_copied_is_an_error_of_django(session):
    with pytest.raises(OperationalError):
        copy_rows("COPY retrieval_worker (name) FROM STDIN (FORMAT BINARY)", ["text"], rows_in_a_lost_session(session))


def test_a_connection_lost_before_its_mode_is_changed_is_an_error_of_django(session):
    list(rows_in_a_lost_session(session))
    with pytest.raises(OperationalError):
        fetch(STATEMENT, [1], generic=True)
