"""Stories in lists."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser

from apps.accounts.models import User
from apps.stories.algorithms.ranking import StoryRank
from apps.stories.queries import front as stories
from apps.web.pages.rows import PostingRow, rows_by_id

OTHERS = 3  # other reports that are named below the lead


@dataclass(frozen=True, slots=True)
class StoryRow:
    """A story in a list, represented by its lead."""

    id: int
    lead: PostingRow
    others: tuple[PostingRow, ...]
    sources: int
    reports: int
    place: StoryRank
    is_personal: bool

    @property
    def more(self) -> int:
        return max(self.reports - 1 - len(self.others), 0)


def story_rows(user: User | AnonymousUser, shown: Sequence[stories.Front]) -> tuple[StoryRow, ...]:
    """The stories that the user may read. Two queries."""
    if not shown:
        return ()
    others = stories.other_reports([(front.story.pk, front.lead_id) for front in shown], OTHERS + 1)
    wanted = [front.lead_id for front in shown] + [id for ids in others.values() for id in ids]
    found = rows_by_id(user, wanted)
    return tuple(
        StoryRow(
            front.story.pk,
            found[front.lead_id],
            tuple(found[id] for id in others.get(front.story.pk, ()) if id in found)[:OTHERS],
            front.sources,
            front.reports,
            front.place,
            front.is_personal,
        )
        for front in shown
        if front.lead_id in found
    )
