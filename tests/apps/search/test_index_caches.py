"""The memory that a process keeps of the index."""

import pytest

from apps.search.actions.reindexing import consume
from apps.search.queries import snapshot, stored
from tests.builders import a_posting, a_source


@pytest.mark.django_db
def test_of_superseded_chunks_nothing_stays_in_memory():
    source = a_source()
    for _ in range(3):
        a_posting(source, title="Flood", text="The storm.")
        consume()
        with snapshot() as index:
            assert [block.size for block in index.blocks(index.numbers(["storm"]))]
    assert [(first, end) for _, first, end, _ in stored._chunks._values] == [(0, 3)]


def test_a_small_machine_has_small_caches(monkeypatch):
    rooms = []
    for gibibytes in (64, 8, 0.5):
        monkeypatch.setattr(stored.machine, "memory", lambda gibibytes=gibibytes: int(gibibytes * 2**30))
        rooms.append(stored._room(32) / stored.MEGABYTE)
    assert rooms == [32, 32, 2]
