"""Choosing the posting that represents a story."""

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime

from apps.database.statements import execute, fetch_rows
from apps.stories.algorithms.ranking import UNKNOWN, report_worth

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
