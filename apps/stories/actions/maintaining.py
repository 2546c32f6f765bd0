"""Pruning of the tables."""

from collections import defaultdict
from datetime import datetime, timedelta

from django.db import transaction

from apps.database.advisory_locks import take
from apps.stories.actions.consuming import GROUPING
from apps.stories.algorithms.rarity import BLOCK, LAG, MEMORY, Block
from apps.stories.models import Reaction, WordCount
from apps.stories.queries.grouping import head
from apps.stories.queries.packing import packed_counts, unpacked_counts

REACTIONS_KEPT = timedelta(days=180)  # by then their weight is 1/64


@transaction.atomic
def maintain(*, now: datetime) -> bool:
    """Add up the counts of each block, and prune old rows; False if another worker holds the lock."""
    Reaction.objects.filter(changed_at__lt=now - REACTIONS_KEPT).delete()
    if not take(GROUPING, wait=False):
        return False
    row = head()
    if row is not None:
        oldest = int((row.clock - LAG) // BLOCK) - int(MEMORY // BLOCK)
        WordCount.objects.filter(block__lt=oldest).delete()
        _add_up()
    return True


def _add_up() -> None:
    rows: defaultdict[int, list[int]] = defaultdict(list)
    for id, block in WordCount.objects.order_by("block", "pk").values_list("pk", "block"):
        rows[block].append(id)
    for ids in rows.values():
        if len(ids) > 1:
            total = Block()
            for row in WordCount.objects.filter(pk__in=ids):
                total.merge(row.documents, unpacked_counts(row.terms, row.counts))
            terms, counts = packed_counts(total)
            WordCount.objects.filter(pk=ids[0]).update(documents=total.documents, terms=terms, counts=counts)
            WordCount.objects.filter(pk__in=ids[1:]).delete()
