"""Writing a batch of grouped postings, and choosing the posting that represents a story."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from apps.database.statements import execute, fetch, fetch_rows
from apps.stories.algorithms.features import Features
from apps.stories.algorithms.grouping import Assignment, Grouping, Settled
from apps.stories.algorithms.ranking import UNKNOWN, report_worth
from apps.stories.algorithms.rarity import Block
from apps.stories.algorithms.reports import RELATED_TERMS
from apps.stories.models import Centroid, Member, Redirect, Story, WordCount
from apps.stories.queries.packing import packed, packed_counts, packed_fingerprint, unpacked, unpacked_fingerprint
from apps.stories.queries.times import hours_of

_REPORTS = """
SELECT member.story_id, member.posting_id, member.copy_of IS NULL AS is_original, member.published_at,
    coalesce(authority.value, %s) AS authority, posting.image_url <> '' AS has_picture
FROM stories_member member
JOIN stories_story story ON story.id = member.story_id AND story.reports + story.copies > 1
JOIN postings_posting posting ON posting.id = member.posting_id
LEFT JOIN stories_authority authority ON authority.source_id = member.source_id
WHERE member.story_id = ANY(%s) ORDER BY member.published_at, member.posting_id
"""
_WRITE = """
UPDATE stories_story story SET lead_id = chosen.posting_id
FROM unnest(%s::bigint[], %s::bigint[]) chosen(story_id, posting_id)
WHERE story.id = chosen.story_id AND story.lead_id <> chosen.posting_id
"""
_ONLY_ONE = """
UPDATE stories_story story SET lead_id = member.posting_id FROM stories_member member
WHERE member.story_id = story.id AND story.reports + story.copies = 1 AND story.id = ANY(%s)
    AND story.lead_id <> member.posting_id
"""


class Batch:
    """Changes that are collected and written together; the caller holds the lock.

    A removal needs up-to-date rows, so it first writes what was collected.
    """

    def __init__(self, grouping: Grouping, posting_ids: Sequence[int]) -> None:
        self._grouping = grouping
        rows = Member.objects.filter(posting_id__in=posting_ids).only("posting_id", "source_id", "text_hash")
        self._known = {row.posting_id: row for row in rows}
        self._members: list[Member] = []
        self._languages: dict[int, str] = {}  # of stories
        self._united: list[tuple[int, int]] = []
        self._moved: dict[int, int] = {}  # new story of each posting
        self._ended: set[int] = set()  # stories that take no further postings
        self._changed: set[int] = set()  # stories
        self._counts: defaultdict[int, Block] = defaultdict(Block)

    def known(self, posting_id: int) -> Member | None:
        """The row of a posting that is already in a story."""
        return self._known.get(posting_id)

    def add(
        self,
        posting_id: int,
        source_id: int,
        published_at: datetime,
        text_hash: bytes,
        placed: Assignment,
        features: Features,
    ) -> None:
        terms, weights = packed(placed.vector) if placed.vector else (b"", b"")
        self._members.append(
            Member(
                posting_id=posting_id,
                story_id=placed.story,
                source_id=source_id,
                published_at=published_at,
                text_hash=text_hash,
                copy_of=placed.copy_of,
                fingerprint=packed_fingerprint(features.fingerprint) if placed.vector else b"",
                terms=terms,
                weights=weights,
            )
        )
        self._languages.setdefault(placed.story, features.language)  # of its first posting
        self._changed.add(placed.story)

    def count(self, block: int | None, features: Features) -> None:
        if block is not None:
            self._counts[block].add(features.language, features.terms)

    def settle(self, settled: Settled) -> None:
        """Note merged stories, and postings that were moved to other ones."""
        for younger, older in settled.united:
            self._united.append((younger, older))
            self._changed |= {younger, older}
        self._changed |= settled.touched
        if settled.moved:
            self._moved.update(settled.moved)
            self.write()

    def end(self, stories: Iterable[int]) -> None:
        self._ended.update(stories)

    def renew(self, known: Member, source_id: int, text_hash: bytes) -> None:
        """Keep a posting in its story, but update its source after a merge, or the hash of an old posting."""
        if (known.source_id, bytes(known.text_hash)) != (source_id, text_hash):
            member = Member.objects.filter(posting_id=known.posting_id)
            member.update(source_id=source_id, text_hash=text_hash)
            self._changed.update(member.values_list("story_id", flat=True))

    def remove(self, known: Member) -> None:
        """Remove a posting from its story; its oldest copy replaces it."""
        self.write()
        member = Member.objects.filter(posting_id=known.posting_id).first()
        if member is None:  # its story, of which it was the only report, has just ended
            return
        copy = Member.objects.filter(copy_of=member.posting_id).order_by("published_at", "posting_id").first()
        if copy is not None:
            self._put_in_place(copy, member)
        elif member.copy_of is None:
            vector = unpacked(member.terms, member.weights)
            self._grouping.take_out(member.posting_id, member.story_id, vector, hours_of(member.published_at))
        member.delete()
        self._changed.add(member.story_id)

    def _put_in_place(self, copy: Member, member: Member) -> None:
        Member.objects.filter(copy_of=member.posting_id).update(copy_of=copy.posting_id)
        Member.objects.filter(posting_id=copy.posting_id).update(
            copy_of=None, fingerprint=member.fingerprint, terms=member.terms, weights=member.weights
        )
        self._grouping.forget(member.posting_id)
        self._grouping.clusters.reports.rename(member.posting_id, copy.posting_id, hours_of(copy.published_at))
        if member.fingerprint:
            fingerprint = unpacked_fingerprint(member.fingerprint)
            self._grouping.remember(copy.posting_id, copy.story_id, hours_of(copy.published_at), fingerprint)

    def write(self) -> None:
        """Write all that was collected."""
        Member.objects.bulk_create(self._members, batch_size=500)
        self._write_moves()
        for younger, older in self._united:
            Member.objects.filter(story_id=younger).update(story_id=older)
            Redirect.objects.filter(story_id=younger).update(story_id=older)
            Redirect.objects.update_or_create(former_id=younger, defaults={"story_id": older})
        self._write_stories()
        self._write_centroids()
        self._end_stories()
        WordCount.objects.bulk_create(
            [_word_count(number, block) for number, block in sorted(self._counts.items())], batch_size=100
        )
        for collected in (self._members, self._united, self._moved, self._ended, self._changed, self._counts):
            collected.clear()

    def _write_moves(self) -> None:
        """Move postings with their copies to their new stories, before these may be merged."""
        rows = fetch_rows(_MOVE, [list(self._moved), list(self._moved.values())]) if self._moved else []
        for row in rows:
            self._changed |= {row.former, row.story_id}
            self._languages.setdefault(row.story_id, self._languages.get(row.former) or row.language)

    def _write_stories(self) -> None:
        """Recompute stories from their members, and delete empty ones."""
        changed = sorted(self._changed)
        execute(_UPSERT_STORIES, [list(self._languages), list(self._languages.values()), changed])
        empty = [id for (id,) in fetch(_DELETE_EMPTY, [changed])]
        Redirect.objects.filter(story_id__in=empty).delete()
        choose_leads(changed)

    def _write_centroids(self) -> None:
        clusters = self._grouping.clusters
        Centroid.objects.filter(story_id__in=[id for id in self._changed if id not in clusters]).delete()
        rows = []
        for id in sorted(id for id in self._changed if id in clusters):
            cluster = clusters.get(id)
            terms, weights = packed(cluster.vector)
            rows.append(
                Centroid(
                    story_id=id,
                    size=cluster.size,
                    latest=cluster.latest,
                    centre=cluster.centre,
                    terms=terms,
                    weights=weights,
                )
            )
        Centroid.objects.bulk_create(
            rows,
            batch_size=500,
            update_conflicts=True,
            unique_fields=["story_id"],
            update_fields=["size", "latest", "centre", "terms", "weights"],
        )

    def _end_stories(self) -> None:
        """Delete what only stories that take further postings need, and stories of one posting."""
        ended = sorted(self._ended)
        if not ended:
            return
        single = Story.objects.filter(pk__in=ended, reports=1, copies=0).values_list("pk", flat=True)
        forgotten = list(single)
        Centroid.objects.filter(story_id__in=ended).delete()
        Member.objects.filter(story_id__in=forgotten).delete()
        Redirect.objects.filter(story_id__in=forgotten).delete()
        Story.objects.filter(pk__in=forgotten).delete()
        execute(_SHORTEN, {"ended": ended, "terms": RELATED_TERMS})


_SHORTEN = """
UPDATE stories_member
SET fingerprint = '', terms = substr(terms, 1, 4 * %(terms)s), weights = substr(weights, 1, 4 * %(terms)s)
WHERE story_id = ANY(%(ended)s) AND (length(fingerprint) > 0 OR length(terms) > 4 * %(terms)s)
"""
_MOVE = """
WITH new AS (SELECT * FROM unnest(%s::bigint[], %s::bigint[]) new(posting_id, story_id)), moving AS (
    SELECT new.story_id, member.posting_id, member.story_id AS former
    FROM new JOIN stories_member member USING (posting_id)
    UNION ALL SELECT new.story_id, member.posting_id, member.story_id
    FROM new JOIN stories_member member ON member.copy_of = new.posting_id
)
UPDATE stories_member member SET story_id = moving.story_id FROM moving
WHERE member.posting_id = moving.posting_id AND moving.former <> moving.story_id
RETURNING moving.former, moving.story_id,
    coalesce((SELECT language FROM stories_story story WHERE story.id = moving.former), '') AS language
"""
_UPSERT_STORIES = """
INSERT INTO stories_story (id, lead_id, language, reports, copies, sources, first_at, latest_at)
SELECT story_id, min(posting_id), coalesce(min(known.language), ''), count(*) FILTER (WHERE copy_of IS NULL),
    count(*) FILTER (WHERE copy_of IS NOT NULL), count(DISTINCT source_id), min(published_at), max(published_at)
FROM stories_member
LEFT JOIN unnest(%s::bigint[], %s::text[]) known(id, language) ON known.id = story_id
WHERE story_id = ANY(%s) GROUP BY story_id
ON CONFLICT (id) DO UPDATE SET reports = excluded.reports, copies = excluded.copies, sources = excluded.sources,
    first_at = excluded.first_at, latest_at = excluded.latest_at
"""
_DELETE_EMPTY = """
DELETE FROM stories_story story WHERE id = ANY(%s)
    AND NOT EXISTS (SELECT FROM stories_member member WHERE member.story_id = story.id) RETURNING id
"""


def _word_count(number: int, block: Block) -> WordCount:
    terms, counts = packed_counts(block)
    return WordCount(block=number, documents=block.documents, terms=terms, counts=counts)


def choose_leads(stories: Collection[int]) -> None:
    """Choose the best report of each story: by its source's authority, and whether it was first, is original, and has a
    picture; of equal ones the earliest.
    """
    found: defaultdict[int, list[tuple[float, datetime, int]]] = defaultdict(list)
    execute(_ONLY_ONE, [list(stories)])
    for row in fetch_rows(_REPORTS, [UNKNOWN, list(stories)]):
        reports = found[row.story_id]
        worth = report_worth(
            row.authority, is_first=not reports, is_original=row.is_original, has_picture=row.has_picture
        )
        reports.append((-worth, row.published_at, row.posting_id))
    leads = {story_id: min(reports)[2] for story_id, reports in found.items()}
    execute(_WRITE, [list(leads), list(leads.values())])
