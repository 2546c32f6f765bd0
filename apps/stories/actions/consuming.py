"""Consumes the outbox: assigns new and edited postings to stories, and removes deleted ones.

Under an advisory lock each batch is one transaction. State from the previous batch is only reused if no other worker
has written since; otherwise it is reloaded.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID, uuid4

from apps.database.outbox import consume_rows
from apps.database.statements import execute
from apps.postings.queries import PostingText, texts
from apps.postings.queries.boilerplate import strippers
from apps.stories.actions.writing import Batch
from apps.stories.algorithms.features import features
from apps.stories.algorithms.grouping import Grouping
from apps.stories.queries import grouping as remembering
from apps.stories.queries.times import hours_of

GROUPING = 0x5354_4F52  # advisory lock
CONSUMED_AT_ONCE = 500  # changes in one transaction


class _Memory(NamedTuple):
    turn: UUID | None
    grouping: Grouping


_memory: _Memory | None = None  # of this process; only used under the lock


def consume(limit: int = CONSUMED_AT_ONCE, *, wait: bool = True) -> int | None:
    """Take up to `limit` changes in the order of publication, and assign their postings to stories.

    Returns how many, None if another worker holds the lock. Idempotent and crash-safe.
    """
    order = "published_at, posting_id, id"
    return consume_rows("stories_outboxrow", _group, lock=GROUPING, limit=limit, wait=wait, order=order)


def _group(changes: list[Any]) -> None:
    global _memory
    turn = remembering.turn()
    if _memory is None or _memory.turn != turn:
        _memory = _Memory(turn, remembering.remembered())
    grouping, _memory = _memory.grouping, None  # after a failure the state is reloaded
    _work_on(grouping, list(dict.fromkeys(change.posting_id for change in changes)))
    following_turn = uuid4()
    _write_head(grouping, following_turn)
    _memory = _Memory(following_turn, grouping)


def _work_on(grouping: Grouping, posting_ids: Sequence[int]) -> None:
    """Place and remove postings."""
    batch = Batch(grouping, posting_ids)
    postings = texts(posting_ids)
    boilerplate = strippers({posting.source_id for posting in postings.values()})
    for posting_id in posting_ids:
        posting, known = postings.get(posting_id), batch.known(posting_id)
        if (
            posting
            and known
            and (bytes(known.text_hash) == posting.text_hash or grouping.is_too_old(hours_of(posting.published_at)))
        ):
            batch.renew(known, posting.source_id, posting.text_hash)
            continue
        if known:
            batch.remove(known)
        if posting:
            text = boilerplate.strip(posting.source_id, posting.text, posting.title)
            _place(grouping, batch, posting, text, is_edit=known is not None)
    batch.write()


def _place(grouping: Grouping, batch: Batch, posting: PostingText, text: str, *, is_edit: bool) -> None:
    hours = hours_of(posting.published_at)
    batch.end(grouping.advance(hours))
    if grouping.is_too_old(hours):
        return
    found = features(posting.title, text, posting.language)
    placed = grouping.place(posting.id, hours, found)
    batch.add(posting.id, posting.source_id, posting.published_at, posting.text_hash, placed, found)
    batch.settle(grouping.settle())
    if not is_edit:  # the terms of an edited posting were counted when it was new
        batch.count(grouping.rarity.add(hours, found), found)


def _write_head(grouping: Grouping, turn: UUID) -> None:
    execute(
        "INSERT INTO stories_head (id, turn, next_story, clock, merged_at, touched) VALUES (1, %s, %s, %s, %s, %s)"
        " ON CONFLICT (id) DO UPDATE SET turn = excluded.turn, next_story = excluded.next_story,"
        " clock = excluded.clock, merged_at = excluded.merged_at, touched = excluded.touched",
        [turn, grouping.next_story, grouping.clock, grouping.merged_at, sorted(grouping.touched)],
    )
