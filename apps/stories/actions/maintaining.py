"""Periodic work: pruning, the authority of sources, and the stories behind trending terms."""

from collections import defaultdict
from datetime import datetime, timedelta

from django.db import transaction

from apps.database.advisory_locks import take
from apps.postings.models import Posting
from apps.stories.actions.consuming import GROUPING
from apps.stories.algorithms.authority import authorities
from apps.stories.algorithms.rarity import BLOCK, LAG, MEMORY, Block
from apps.stories.models import Authority, Reaction, WordCount
from apps.stories.queries.front import stories_of
from apps.stories.queries.grouping import head
from apps.stories.queries.packing import packed_counts, unpacked_counts
from apps.stories.queries.records import records
from apps.trending import actions as trending
from apps.trending.queries import listed_postings

REACTIONS_KEPT = timedelta(days=180)  # after which their weight is 1/64


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


@transaction.atomic
def weigh_sources(*, now: datetime) -> int:
    """Recompute the authority of all sources; returns how many have one."""
    found = records(now)
    rows = [
        Authority(source_id=source_id, reports=found[source_id].reports, computed_at=now, **authority._asdict())
        for source_id, authority in authorities(found).items()
    ]
    Authority.objects.exclude(source_id__in=found).delete()
    Authority.objects.bulk_create(
        rows,
        batch_size=1_000,
        update_conflicts=True,
        unique_fields=["source"],
        update_fields=[field.name for field in Authority._meta.fields if not field.primary_key],
    )
    return len(rows)


def label_trends() -> int:
    """Label listed terms with the headlines of their stories; returns the number of labelled terms.

    A headline of a feed that is not public labels nothing.
    """
    stories = stories_of(listed_postings())
    leads = Posting.objects.filter(pk__in={story.lead_id for story in stories.values()}, source__listed=True)
    titles = dict(leads.exclude(title="").values_list("pk", "title"))
    return trending.label(
        {
            posting_id: trending.StoryLabel(story.pk, titles[story.lead_id])
            for posting_id, story in stories.items()
            if story.lead_id in titles
        }
    )
