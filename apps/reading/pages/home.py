"""What somebody sees who is not signed in."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import AnonymousUser

from apps.following import queries as following
from apps.postings import queries as postings
from apps.reading.pages.rows import PostingRow, rows
from apps.reading.pages.stories import StoryRow, top_stories
from apps.reading.pages.trending import Link, trending_strip

LENGTH = 30


@dataclass(frozen=True, slots=True)
class HomePage:
    trends: tuple[Link, ...]
    stories: tuple[StoryRow, ...]
    rows: tuple[PostingRow, ...]
    now: datetime


def home_page(now: datetime) -> HomePage:
    nobody = AnonymousUser()
    found = following.with_state(postings.newest(postings.visible_to(nobody)), nobody)
    return HomePage(trending_strip(), top_stories(nobody, now), tuple(rows(found[:LENGTH], nobody)), now)
