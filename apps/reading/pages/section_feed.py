"""A section of the front page as RSS."""

from collections.abc import Callable
from datetime import datetime

from django.contrib.auth.models import AnonymousUser
from django.urls import reverse
from django.utils.feedgenerator import Rss201rev2Feed

from apps.reading.pages.sections import title_of
from apps.reading.pages.stories import rows_of
from apps.stories.models import Section
from apps.stories.queries.sections import contents

LENGTH = 30


def section_feed(section: Section, absolute: Callable[[str], str], now: datetime) -> str:
    """The first postings of a section, or those that stand for its first stories. One query, as `contents` costs.

    `absolute` makes an address of this site one for others.
    """
    content = contents([section], now)[section.pk]
    ids = content.posting_ids[:LENGTH] or tuple(story.lead_id for story in content.stories[:LENGTH])
    found = rows_of(AnonymousUser(), ids)
    feed = Rss201rev2Feed(
        title=printable(title_of(section)),
        link=absolute(reverse("section", args=[section.slug])),
        description=printable(section.query or section.category or section.language),
        feed_url=absolute(reverse("section_feed", args=[section.slug])),
    )
    for row in (found[id] for id in ids if id in found):
        address = absolute(reverse("posting", args=[row.id]))
        feed.add_item(
            title=printable(row.title or row.excerpt[:80]) or "Untitled",
            link=address,
            description=printable(row.excerpt),
            pubdate=row.published_at,
            unique_id=address,
            author_name=printable(row.source_title),
        )
    return feed.writeString("utf-8")


def printable(text: str) -> str:
    """Without the control characters that XML has no way to write.

    >>> printable("a\\x00b")
    'ab'
    """
    return "".join(character for character in text if character.isprintable() or character in "\n\t")
