"""The front page for visitors."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from urllib.parse import urlencode

from django.contrib.auth.models import AnonymousUser
from django.urls import reverse

from apps.following import queries as following
from apps.postings import queries as postings
from apps.reading.pages.sections import front_sections
from apps.reading.pages.stories import top_stories
from apps.reading.pages.trending import trending_strip
from apps.web.pages import Context
from apps.web.pages.rows import PostingRow, rows_by_id

LENGTH = 30
CONSIDERED = 300  # newest postings, from which categories are chosen
SECTIONS = 4
IN_SECTION = 4  # postings
MIN_COUNT = 2  # of a section


def home_page(now: datetime) -> Context:
    """Two queries, plus those of trends and stories."""
    anonymous = AnonymousUser()
    sections = front_sections(anonymous, now)
    visible = following.folded(postings.visible_to(anonymous))
    newest = list(postings.newest(visible).values_list("pk", "source__category")[:CONSIDERED])
    by_category = _categories(newest) if not sections["parts"] else {}
    wanted = {id for id, _ in newest[:LENGTH]} | {id for ids in by_category.values() for id in ids}
    by_id = rows_by_id(anonymous, wanted)
    categories = (
        {
            "title": category,
            "address": f"{reverse('catalogue')}?{urlencode({'category': category})}",
            "rows": _known(by_id, posting_ids),
        }
        for category, posting_ids in by_category.items()
    )
    shown = _known(by_id, [id for id, _ in newest[:LENGTH]])
    return {
        "trends": trending_strip(),
        "stories": top_stories(anonymous, now),
        "sections": sections,  # by admins
        "categories": tuple(categories),  # instead of sections while there are none
        "rows": shown,  # the newest
    }


def _categories(newest: Sequence[tuple[int, str]]) -> dict[str, list[int]]:
    """The newest postings of the most frequent categories."""
    by_category: defaultdict[str, list[int]] = defaultdict(list)
    for posting_id, category in newest:
        if category:
            by_category[category].append(posting_id)
    busiest = sorted(by_category, key=lambda category: (-len(by_category[category]), category))
    chosen = [category for category in busiest if len(by_category[category]) >= MIN_COUNT][:SECTIONS]
    if len(chosen) < 2:  # a single one would repeat the newest
        return {}
    return {category: by_category[category][:IN_SECTION] for category in chosen}


def _known(by_id: dict[int, PostingRow], posting_ids: Sequence[int]) -> tuple[PostingRow, ...]:
    return tuple(by_id[posting_id] for posting_id in posting_ids if posting_id in by_id)
