from collections.abc import Callable, Iterator

import pytest

from apps.jobs import kinds
from tests.apps.jobs import counting
from tests.apps.jobs.counting import Counting


@pytest.fixture
def counting_job(request, monkeypatch) -> Iterator[Callable[..., Counting]]:
    """Makes a kind of job known that counts numbers, as a test wants it."""
    request.getfixturevalue("transactional_db" if "transactional_db" in request.fixturenames else "db")
    kinds.all_kinds()  # so that those of the apps are looked for before
    counting.make_table()

    def known(**values) -> Counting:
        made = Counting(**values)
        monkeypatch.setitem(kinds._kinds, counting.KIND, made.kind())
        return made

    yield known
    counting.drop_table()
