"""What sources repeat in their postings."""

import time
from collections.abc import Callable, Collection
from functools import lru_cache

from apps.database.statements import fetch, query
from apps.postings.algorithms.boilerplate import SOURCES, Learned, SourceBoilerplate, Strippers

COMMON_SECONDS = 600

_STATES = "SELECT source_id, state FROM postings_boilerplate WHERE source_id = ANY(%s)"
_COMMON = f"""
SELECT key FROM postings_boilerplate, unnest(keys) key GROUP BY key HAVING count(*) >= {SOURCES}
"""


def strippers(source_ids: Collection[int]) -> Strippers:
    """What these sources repeat, to read their postings without it. One query, and another one every ten minutes.

    For whatever is derived from the words of postings, such as stories, trends and summaries:

        text = strippers({posting.source_id for posting in postings}).strip(source_id, text, title)

    A posting has been learned when it is stored, so before anything is derived from it.
    """
    return Strippers(states(source_ids), common())


def learned(source_id: int) -> list[Learned]:
    """The segments that a source repeats, the most frequent first. One query."""
    return states([source_id]).get(source_id, SourceBoilerplate()).learned()


def states(source_ids: Collection[int], *, lock: bool = False) -> dict[int, SourceBoilerplate]:
    """What is known of each source, if anything; `lock` keeps the rows until the transaction ends."""
    if not source_ids:
        return {}
    statement = f"{_STATES} ORDER BY source_id FOR UPDATE" if lock else _STATES
    parse: Callable[[bytes], SourceBoilerplate] = SourceBoilerplate.parse if lock else _remembered
    return {source_id: parse(bytes(state)) for source_id, state in fetch(statement, [sorted(source_ids)])}


# Stories, trends and summaries read the same states one after another; 3 MB. Not for `Learner`, which changes them.
_remembered = lru_cache(64)(SourceBoilerplate.parse)


def common() -> frozenset[int]:
    """Keys of segments that several sources repeat. Not in the cache: postings are stored while it is away, too."""
    return _common(time.monotonic() // COMMON_SECONDS)


@lru_cache(1)
def _common(_: float) -> frozenset[int]:
    return frozenset(row.key for row in query(_COMMON))
