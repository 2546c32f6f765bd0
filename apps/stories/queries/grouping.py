"""Loading the state of grouping."""

from uuid import UUID

from apps.stories.algorithms.clusters import Cluster
from apps.stories.algorithms.grouping import Grouping
from apps.stories.algorithms.rarity import Block
from apps.stories.algorithms.reports import Report
from apps.stories.models import Centroid, Head, Member, WordCount
from apps.stories.queries.packing import unpacked, unpacked_counts, unpacked_fingerprint
from apps.stories.queries.times import hours_of


def head() -> Head | None:
    return Head.objects.first()


def turn() -> UUID | None:
    """The id of the last batch; None before the first one."""
    return Head.objects.values_list("turn", flat=True).first()


def remembered() -> Grouping:
    """The whole state. Four queries; a few seconds and about 300 MB for 100,000 active postings."""
    grouping = Grouping()
    row = head()
    if row is None:
        return grouping
    grouping.next_story, grouping.merged_at, grouping.touched = row.next_story, row.merged_at, set(row.touched)
    grouping.advance(row.clock)
    for count in WordCount.objects.only("block", "documents", "terms", "counts"):
        grouping.rarity.merge(count.block, Block(count.documents, unpacked_counts(count.terms, count.counts)))
    for centroid in Centroid.objects.order_by("story_id").iterator():
        vector = unpacked(centroid.terms, centroid.weights)
        grouping.clusters.put(Cluster(centroid.story_id, vector, centroid.size, centroid.latest, centroid.centre))
    active = Member.objects.filter(story_id__in=Centroid.objects.values("story_id"))
    known = active.exclude(fingerprint=b"", terms=b"").order_by("posting_id")
    rows = known.values_list("posting_id", "story_id", "published_at", "fingerprint", "terms", "weights", named=True)
    for member in rows.iterator():
        hours, fingerprint = hours_of(member.published_at), unpacked_fingerprint(member.fingerprint)
        grouping.remember(member.posting_id, member.story_id, hours, fingerprint)
        if member.terms and member.story_id in grouping.clusters:
            report = Report(member.posting_id, unpacked(member.terms, member.weights), hours)
            grouping.clusters.reports.add(member.story_id, report)
    return grouping
