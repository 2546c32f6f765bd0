"""The list of stories, the page of a story, and a user's personal ranking."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import TypeVar

from django.contrib.auth.models import AnonymousUser
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.accounts.models import User
from apps.reading.pages.summaries_story import story_part
from apps.stories.algorithms.outline import outline_of
from apps.stories.models import Story
from apps.stories.queries import front as stories
from apps.stories.queries.for_you import explaining_words, own_order
from apps.stories.queries.tastes import is_learning, taste_of
from apps.web.algorithms.charts import timeline
from apps.web.pages import Context
from apps.web.pages.durations import day_and_time
from apps.web.pages.rows import PostingRow, rows_by_id
from apps.web.pages.stories import StoryRow, story_rows

LENGTH = 30  # stories or postings per page
TEASED = 6  # stories on the home page
MAX_POSTINGS = 300  # shown of a story
Listed = TypeVar("Listed")


def stories_page(user: User | AnonymousUser, number: int, now: datetime) -> Context:
    """At most ten queries."""
    shown, place = _part(stories.front(user, now), number)
    return {"rows": story_rows(user, shown)} | place


def _part(found: Sequence[Listed], number: int) -> tuple[Sequence[Listed], Context]:
    """A page of a list, from 1, with the number of the next one, 0 at the end."""
    end = number * LENGTH
    return found[end - LENGTH : end], {"number": number, "next": number + 1 if len(found) > end else 0}


def top_stories(user: User | AnonymousUser, now: datetime) -> tuple[StoryRow, ...]:
    """The first stories, for another page."""
    return story_rows(user, stories.front(user, now)[:TEASED])


def story_page(user: User | AnonymousUser, story: Story) -> Context | None:
    """The part of a story that the user may read; None if that is empty. Six queries."""
    members = list(stories.members_of(story.pk).values_list("posting_id", "copy_of")[: MAX_POSTINGS + 1])
    found = rows_by_id(user, [id for id, _ in members[:MAX_POSTINGS]])
    if not found:
        return None
    copies: defaultdict[int, list[PostingRow]] = defaultdict(list)
    originals = []
    for id, copy_of in members[:MAX_POSTINGS]:
        if id in found and copy_of is not None and copy_of in found:
            copies[copy_of].append(found[id])
        elif id in found:
            originals.append(id)
    lead = found.get(story.lead_id, found[originals[0]])
    ordered = [found[id] for id, _ in members[:MAX_POSTINGS] if id in found]
    times = [row.published_at for row in ordered]
    outline = outline_of([(found[id].title, found[id].excerpt) for id in originals], lead.language)
    neutral = found[originals[outline.neutral]]
    added = dict(zip(originals[1:], outline.added[1:], strict=True))
    return {
        "story": story,
        "lead": neutral,  # the report closest to all others
        "names": outline.names,
        "reports": [
            {"row": found[id], "copies": copies[id], "added": added.get(id, ())} for id in reversed(originals)
        ],  # the newest first
        "sources": _shares(ordered),  # in order of their first reports
        "first_at": times[0],
        "latest_at": times[-1],
        "picture": _timeline(times),
        "summary": story_part(user, [lead.id, *(id for id in originals if id != lead.id)][:12]),
        "is_cut": len(members) > MAX_POSTINGS,  # whether not all postings are shown
    }


def _timeline(times: Sequence[datetime]) -> SafeString:
    label = _("When the articles of this story were published")
    return mark_safe(timeline(times, label=label, format_time=day_and_time, title=_reports_title))


def _reports_title(day: str, count: int) -> str:
    return ngettext("{day}: {count} article", "{day}: {count} articles", count).format(day=day, count=count)


def _shares(ordered: Sequence[PostingRow]) -> tuple[Context, ...]:
    shown = {row.source_id: (row.source_title, row.icon) for row in ordered}
    counts = Counter(row.source_id for row in ordered)
    first = {row.source_id: row.published_at for row in reversed(ordered)}
    return tuple(
        {"source_id": id, "title": title, "icon": icon, "reports": counts[id], "first_at": first[id]}
        for id, (title, icon) in shown.items()
    )


def own_page(user: User, number: int, now: datetime) -> Context:
    """A page of the user's personal ranking. At most nine queries."""
    taste = taste_of(user)
    shown, place = _part(own_order(user, now), number)
    by_id = rows_by_id(user, [each.posting_id for each in shown])
    listed = []
    for each in shown:
        row = by_id.get(each.posting_id)
        if row is None:
            continue
        text = f"{row.title} {row.excerpt}"
        words = explaining_words(taste, text, row.language, liked=each.taste > 0) if taste and each.is_personal else []
        listed.append({"posting": row, "place": each, "words": words})
    return {
        "rows": tuple(listed),
        "is_on": is_learning(user),
        "learnt": taste is not None,  # whether a taste is known
    } | place
