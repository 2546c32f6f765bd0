"""Learning what sources repeat, as their postings are stored."""

from collections.abc import Collection
from datetime import datetime

from django.db import connection

from apps.postings.algorithms.boilerplate import SourceBoilerplate, Strippers
from apps.postings.algorithms.markup import CleanMarkup
from apps.postings.queries.boilerplate import common, states

LEAD = 400  # characters; lists show fewer

_SAVE = """
INSERT INTO postings_boilerplate (source_id, state, keys) VALUES (%s, %s, %s)
ON CONFLICT (source_id) DO UPDATE SET state = excluded.state, keys = excluded.keys
"""


class Learner:
    """What some sources repeat, with rows locked until the transaction ends.

    Locks these rows before postings are locked. A posting that is learned twice counts once.
    """

    def __init__(self, source_ids: Collection[int]) -> None:
        self._sources = states(source_ids, lock=True)
        self._changed: set[int] = set()
        self._common = common()

    def observe(self, source_id: int, title: str, text: str, at: datetime) -> None:
        self._sources.setdefault(source_id, SourceBoilerplate()).observe(text, at.timestamp(), title)
        self._changed.add(source_id)

    def strip(self, source_id: int, title: str, text: str) -> str:
        return Strippers(self._sources, self._common).strip(source_id, text, title)

    def lead(self, source_id: int, title: str, markup: CleanMarkup, stripped: str) -> str | None:
        """What excerpts of a posting show: None if that is what its text begins with.

        `stripped` is its text without boilerplate.
        """
        prose = stripped if markup.prose == markup.text else self.strip(source_id, title, markup.prose)
        return None if prose[:LEAD] == markup.text[:LEAD] else prose[:LEAD]

    def save(self) -> None:
        rows = [
            (source_id, self._sources[source_id].serialize(), self._sources[source_id].keys())
            for source_id in sorted(self._changed)
        ]
        with connection.cursor() as cursor:
            cursor.executemany(_SAVE, rows)
