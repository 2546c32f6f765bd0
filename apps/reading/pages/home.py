"""What somebody sees who is not signed in."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import AnonymousUser

from apps.following import queries as following
from apps.postings import queries as postings
from apps.reading.pages.rows import PostingRow, rows
from apps.reading.pages.sections import FrontSections, front_sections
from apps.reading.pages.stories import StoryRow, top_stories
from apps.reading.pages.trending import Link, trending_strip

LENGTH = 30


@dataclass(frozen=True, slots=True)
class HomePage:
    trends: tuple[Link, ...]
    stories: tuple[StoryRow, ...]
    sections: FrontSections
    rows: tuple[PostingRow, ...]
    now: datetime


def home_page(now: datetime) -> HomePage:
    nobody = AnonymousUser()
    found = following.with_state(postings.newest(postings.visible_to(nobody)), nobody)
    return HomePage(
        trends=trending_strip(),
        stories=top_stories(nobody, now),
        sections=front_sections(nobody, now),
        rows=tuple(rows(found[:LENGTH], nobody)),
        now=now,
    )
